package bench

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// mkl is oneMKL through its single dynamic library. Its Fortran entries are
// called, and for constant weights of f32 those that pack beforehand.
type mkl struct {
	version               string
	sgemm, dgemm, threads uintptr
	size, pack, compute   uintptr // of packed operands
	packed                [][]byte
}

func openMKL(handle uintptr, threads int) (peer, error) {
	at := func(name string) uintptr {
		f, _ := purego.Dlsym(handle, name)
		return f
	}
	m := &mkl{sgemm: at("sgemm_"), dgemm: at("dgemm_"), threads: at("MKL_Set_Num_Threads"),
		size: at("sgemm_pack_get_size_"), pack: at("sgemm_pack_"), compute: at("sgemm_compute_")}
	version := at("MKL_Get_Version_String")
	if m.sgemm == 0 || m.dgemm == 0 || m.threads == 0 || version == 0 {
		return nil, diag.Errorf(diag.Pos{}, "the library has no entries sgemm_, dgemm_ and MKL_Get_Version_String").WithFix("use libmkl_rt.so")
	}
	var text [200]byte
	purego.SyscallN(version, uintptr(unsafe.Pointer(&text)), uintptr(len(text)))
	said := strings.Fields(string(text[:]))
	for i, w := range said {
		if w == "Version" && i+1 < len(said) {
			m.version = strings.TrimSuffix(said[i+1], "-Product")
		}
	}
	m.limit(threads)
	one := float32(1)
	p := &problem{elem: num.F32, m: 1, n: 1, k: 1, a: []matrix{{unsafe.Pointer(&one), 1, 1}}, b: []matrix{{unsafe.Pointer(&one), 1, 1}}, c: []matrix{{unsafe.Pointer(new(float32)), 1, 1}}}
	purego.SyscallN(m.sgemm, gemmCall(p, 0).args[:]...) // loads the kernels of this machine
	return m, nil
}

// kernels is the library of kernels that MKL has loaded for this machine, such as
// libmkl_avx2.so.3; on processors of other makers its version says nothing.
func (m *mkl) kernels() string {
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		name := strings.TrimSpace(line[strings.LastIndexByte(line, '/')+1:])
		for _, part := range []string{"avx", "def", "mc"} {
			if strings.HasPrefix(name, "libmkl_"+part) {
				return name
			}
		}
	}
	return "kernels unknown"
}

func (m *mkl) name() string { return "MKL " + m.version }
func (m *mkl) isa() string  { return m.kernels() }
func (m *mkl) limit(n int)  { purego.SyscallN(m.threads, uintptr(n)) }
func (m *mkl) release()     { m.packed = nil }

func (m *mkl) prepare(p *problem) ([]*way, error) {
	fn := m.sgemm
	if p.elem == num.F64 {
		fn = m.dgemm
	}
	if p.elem != num.F32 && p.elem != num.F64 || max(p.m, p.n, p.k) >= 1<<31 {
		return nil, fmt.Errorf("MKL has no product of %v", p.elem)
	}
	var calls []*blasCall
	for i := range p.c {
		calls = append(calls, gemmCall(p, i))
	}
	plain := &way{name: m.name() + " gemm", note: m.kernels(), run: func() bool {
		for _, c := range calls {
			purego.SyscallN(fn, c.args[:]...)
		}
		return true
	}}
	if !p.constB || p.elem != num.F32 || p.adds || m.size == 0 || m.pack == 0 || m.compute == 0 {
		return []*way{plain}, nil
	}
	packed := make([]*blasCall, len(calls))
	for i := range calls {
		packed[i] = m.packB(gemmCall(p, i))
	}
	return []*way{plain, {name: m.name() + " gemm, packed", note: m.kernels(), run: func() bool {
		for _, c := range packed {
			// transa, transb, m, n, k, a, lda, b, ldb, beta, c, ldc
			a := &c.args
			purego.SyscallN(m.compute, a[0], a[1], a[2], a[3], a[4], a[6], a[7], a[8], a[9], a[10], a[11], a[12])
		}
		return true
	}}}, nil
}

// packB packs what is our B and, as BLAS stores by columns, its first operand.
func (m *mkl) packB(c *blasCall) *blasCall {
	which := [4]byte{'A'}
	id := uintptr(unsafe.Pointer(&which))
	bytes, _, _ := purego.SyscallN(m.size, id, c.args[2], c.args[3], c.args[4])
	room := make([]byte, int(int32(bytes))+64)
	m.packed = append(m.packed, room)
	skip := -uintptr(unsafe.Pointer(&room[0])) % 64
	to := uintptr(unsafe.Pointer(&room[skip]))
	// identifier, trans, m, n, k, alpha, src, ld, dest
	purego.SyscallN(m.pack, id, c.args[0], c.args[2], c.args[3], c.args[4], c.args[5], c.args[6], c.args[7], to)
	c.ta[0], c.args[6] = 'P', to
	return c
}
