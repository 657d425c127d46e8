package runtime

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Tensor is an array in memory. Strides are in elements; nil is C order. Data
// begins at the element whose subscripts are all 0.
type Tensor struct {
	Elem    num.Elem
	Shape   []int64
	Strides []int64
	Data    []byte
}

// lineBytes is the alignment of allocated tensors: a cache line, and a vector
// of any machine.
const lineBytes = 64

// Alloc makes a tensor of zeros in C order. Sizes whose product overflows or
// exceeds the machine's memory are refused before anything is allocated.
func Alloc(e num.Elem, shape []int64) (*Tensor, error) {
	n, err := byteSize(e, shape)
	if err != nil {
		return nil, err
	}
	if limit := memoryLimit(); n > limit {
		return nil, diag.Errorf(diag.Pos{}, "%s needs %d bytes, more than the %d of this machine", shapeText(e, shape), n, limit).WithFix("use smaller sizes")
	}
	room := make([]byte, n+lineBytes)
	skip := -uintptr(unsafe.Pointer(&room[0])) % lineBytes
	return &Tensor{Elem: e, Shape: append([]int64{}, shape...), Data: room[skip : int64(skip)+n : int64(skip)+n]}, nil
}

// byteSize multiplies with care: a dim of 0 makes the product 0 even where the
// others overflow.
func byteSize(e num.Elem, shape []int64) (int64, error) {
	total, over, none := uint64(e.Bytes()), false, false
	for _, d := range shape {
		if d < 0 {
			return 0, diag.Errorf(diag.Pos{}, "size %d of %s is negative", d, shapeText(e, shape))
		}
		none = none || d == 0
	}
	if none {
		return 0, nil
	}
	for _, d := range shape {
		hi, lo := bits.Mul64(total, uint64(d))
		over = over || hi != 0 || lo > 1<<62
		total = lo
	}
	if over {
		return 0, diag.Errorf(diag.Pos{}, "the size of %s overflows 64 bits", shapeText(e, shape)).WithFix("use smaller sizes")
	}
	return int64(total), nil
}

func shapeText(e num.Elem, shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return fmt.Sprintf("%v[%s]", e, strings.Join(parts, ", "))
}

// memoryLimit is the memory of the machine, or of the control group that holds
// us if that is less.
func memoryLimit() int64 {
	limit := int64(1) << 62
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		for _, line := range strings.Split(string(data), "\n") {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
				if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					limit = kb << 10
				}
			}
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(path)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && bad == nil && n > 0 {
			limit = min(limit, n)
		}
	}
	return limit
}

// Count is the number of elements.
func (t *Tensor) Count() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// CStrides are the strides of C order for a shape.
func CStrides(shape []int64) []int64 {
	out := make([]int64, len(shape))
	step := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = step
		step *= max(shape[i], 1)
	}
	return out
}
