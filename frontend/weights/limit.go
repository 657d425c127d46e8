package weights

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// maxRank is NumPy's own limit on the number of axes.
const maxRank = 64

// memoryLimit is what may be allocated at once: the memory that the machine
// has free, or the control group's limit where that is lower. A variable so
// that tests can lower it.
var memoryLimit = func() int64 {
	limit := int64(math.MaxInt64 / 2)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 2 || f[0] != "MemAvailable:" {
				continue
			}
			if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				limit = kb * 1024
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			limit = min(limit, n)
		}
	}
	return limit
}

// byteSize is the number of bytes of an array. It fails for a negative dim and
// where the product of the non-zero dims overflows: then strides would too,
// even if the array is empty.
func byteSize(shape []int64, elemBytes int64) (int64, error) {
	if len(shape) > maxRank {
		return 0, fmt.Errorf("rank %d is above %d", len(shape), maxRank)
	}
	size, empty := elemBytes, false
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("dim %d is negative", d)
		}
		if d == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(uint64(size), uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, fmt.Errorf("the size of shape %s overflows 64 bits", shapeString(shape))
		}
		size = int64(lo)
	}
	if empty {
		size = 0
	}
	return size, nil
}

// ByteSize is the number of bytes that an array of this shape and element type
// needs. It is an error for a negative dim, for a product that overflows, and
// for more than the machine's free memory, so that callers can refuse before
// they allocate.
func ByteSize(elem num.Elem, shape []int64) (int64, error) {
	n, err := byteSize(shape, int64(elem.Bytes()))
	if err != nil {
		return 0, diag.Errorf(diag.Pos{}, "%s", err)
	}
	if err := fitsMemory(shape, elem.String(), n); err != nil {
		return 0, diag.Errorf(diag.Pos{}, "%s", err)
	}
	return n, nil
}

// alwaysFits is allocated without a look at the machine's memory, which costs
// a file read.
const alwaysFits = 1 << 20

func fitsMemory(shape []int64, elem string, n int64) error {
	if n <= alwaysFits {
		return nil
	}
	if limit := memoryLimit(); n > limit {
		return fmt.Errorf("shape %s of %s needs %s, more than the %s of memory that are free",
			shapeString(shape), elem, bytesString(n), bytesString(limit))
	}
	return nil
}

func shapeString(shape []int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range shape {
		if i == 8 && len(shape) > 9 {
			fmt.Fprintf(&b, ", ... (%d dims)", len(shape))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(d, 10))
	}
	b.WriteByte(']')
	return b.String()
}

func bytesString(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}
