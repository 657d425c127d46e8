package bench

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// blas is OpenBLAS. Its Fortran entries are called, whose arguments are all
// pointers: the C entries lead to the same kernels.
type blas struct {
	version, core string
	sgemm, dgemm  uintptr
	threads       uintptr // sets how many there are
}

// openBLAS finds the entries under the names of the builds there are: plain, and
// with the prefix of the packages for Python.
func openBLAS(handle uintptr, threads int) (peer, error) {
	for _, prefix := range []string{"", "scipy_"} {
		at := func(name string) uintptr {
			f, _ := purego.Dlsym(handle, prefix+name)
			return f
		}
		b := &blas{sgemm: at("sgemm_"), dgemm: at("dgemm_")}
		config, core, limit := at("openblas_get_config"), at("openblas_get_corename"), at("openblas_set_num_threads")
		if b.sgemm == 0 || b.dgemm == 0 || config == 0 || core == 0 || limit == 0 {
			continue
		}
		r, _, _ := purego.SyscallN(config)
		if words := strings.Fields(text(r)); len(words) > 1 {
			b.version = words[1]
		}
		r, _, _ = purego.SyscallN(core)
		b.core = text(r)
		b.threads = limit
		b.limit(threads)
		return b, nil
	}
	return nil, diag.Errorf(diag.Pos{}, "the library has no entries sgemm_ and dgemm_ with 32-bit sizes").WithFix("use a build of OpenBLAS with 32-bit integers")
}

func (b *blas) name() string { return "OpenBLAS " + b.version }
func (b *blas) isa() string  { return b.core }
func (b *blas) limit(n int)  { purego.SyscallN(b.threads, uintptr(n)) }
func (b *blas) release()     {}

// blasCall is the memory behind the arguments of one call.
type blasCall struct {
	m, n, k, lda, ldb, ldc int32
	ta, tb                 [4]byte
	alpha, beta            [8]byte
	args                   [15]uintptr
}

// prepare calls for the transposed product: what BLAS stores by columns is ours by
// rows.
func (b *blas) prepare(p *problem) ([]*way, error) {
	fn := b.sgemm
	if p.elem == num.F64 {
		fn = b.dgemm
	}
	if p.elem != num.F32 && p.elem != num.F64 || max(p.m, p.n, p.k) >= 1<<31 {
		return nil, fmt.Errorf("OpenBLAS has no product of %v", p.elem)
	}
	var calls []*blasCall
	for i := range p.c {
		calls = append(calls, gemmCall(p, i))
	}
	return []*way{{name: b.name(), note: b.core, run: func() bool {
		for _, c := range calls {
			purego.SyscallN(fn, c.args[:]...)
		}
		return true
	}}}, nil
}

func gemmCall(p *problem, i int) *blasCall {
	c := &blasCall{m: int32(p.n), n: int32(p.m), k: int32(p.k), ldc: int32(max(p.c[i].row, p.n, 1))}
	num.Encode(p.elem, num.FromFloat(1), c.alpha[:])
	if p.adds {
		num.Encode(p.elem, num.FromFloat(1), c.beta[:])
	}
	var ld int64
	c.ta[0], ld = layout(p.b[i], p.k, p.n)
	c.lda = int32(ld)
	c.tb[0], ld = layout(p.a[i], p.m, p.k)
	c.ldb = int32(ld)
	at := func(q unsafe.Pointer) uintptr { return uintptr(q) }
	c.args = [15]uintptr{at(unsafe.Pointer(&c.ta)), at(unsafe.Pointer(&c.tb)), at(unsafe.Pointer(&c.m)), at(unsafe.Pointer(&c.n)), at(unsafe.Pointer(&c.k)),
		at(unsafe.Pointer(&c.alpha)), at(p.b[i].data), at(unsafe.Pointer(&c.lda)), at(p.a[i].data), at(unsafe.Pointer(&c.ldb)),
		at(unsafe.Pointer(&c.beta)), at(p.c[i].data), at(unsafe.Pointer(&c.ldc)), 1, 1}
	return c
}

// layout says whether a matrix of so many rows and columns is, by columns, to be
// transposed, and its leading dimension.
func layout(x matrix, rows, cols int64) (trans byte, ld int64) {
	if x.col == 1 {
		return 'N', max(x.row, cols, 1)
	}
	return 'T', max(x.col, rows, 1)
}
