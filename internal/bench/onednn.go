package bench

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/runtime"
)

// dnnl is oneDNN 3. Primitives, memory objects and packed weights are made once.
type dnnl struct {
	version string
	isaBits uintptr
	fn      map[string]uintptr
	engine  uintptr
	stream  uintptr
	threads uintptr // sets how many the calling thread may use; 0: the library's own affair
	sycl    bool    // it runs in threads of its own
	made    []made
}

// made is an object of the library, and the name of what destroys it.
type made struct {
	kind string
	at   uintptr
}

// Numbers of oneDNN's C interface.
const (
	dnnlF32                           = 3
	dnnlAny                           = 1
	dnnlInference                     = 96
	dnnlQueryImplementation           = 8
	dnnlQueryWeights                  = 131
	dnnlSrc, dnnlDst, dnnlWeights     = 1, 17, 33
	dnnlCPU, dnnlInOrder, dnnlMaxDims = 1, 1, 12
)

var dnnlNames = []string{"version", "get_effective_cpu_isa", "engine_create", "stream_create", "stream_wait", "memory_desc_create_with_strides",
	"memory_desc_create_with_tag", "memory_desc_get_size", "memory_create", "primitive_create", "primitive_execute", "primitive_desc_query",
	"primitive_desc_query_md", "primitive_destroy", "primitive_desc_destroy", "memory_destroy", "memory_desc_destroy", "matmul_primitive_desc_create", "inner_product_forward_primitive_desc_create", "reorder_primitive_desc_create"}

func openOneDNN(handle uintptr, threads int) (peer, error) {
	d := &dnnl{fn: map[string]uintptr{}}
	for _, name := range dnnlNames {
		f, err := purego.Dlsym(handle, "dnnl_"+name)
		if err != nil {
			return nil, diag.Errorf(diag.Pos{}, "the library has no dnnl_%s", name).WithFix("use oneDNN 3")
		}
		d.fn[name] = f
	}
	d.threads, _ = purego.Dlsym(handle, "omp_set_num_threads")
	_, err := purego.Dlsym(handle, "dnnl_sycl_interop_engine_create")
	d.sycl = err == nil
	d.limit(threads)
	v, _, _ := purego.SyscallN(d.fn["version"])
	at := unsafe.Slice((*int32)(*(*unsafe.Pointer)(unsafe.Pointer(&v))), 3)
	d.version = fmt.Sprintf("%d.%d.%d", at[0], at[1], at[2])
	d.isaBits, _, _ = purego.SyscallN(d.fn["get_effective_cpu_isa"])
	if err := d.call("engine_create", out(&d.engine), dnnlCPU, 0); err != nil {
		return nil, err
	}
	return d, d.call("stream_create", out(&d.stream), d.engine, dnnlInOrder)
}

// out is the address of memory that C reads or writes.
func out[T any](p *T) uintptr {
	held = append(held, p)
	return uintptr(unsafe.Pointer(p))
}

// held is memory that the library knows until it is released: on the heap, where
// it stays in place.
var held []any

// limit sets the threads of the calling thread: OpenMP keeps the number for each
// thread by itself.
func (d *dnnl) limit(n int) {
	if d.threads != 0 {
		purego.SyscallN(d.threads, uintptr(n))
	}
}

// make calls what creates an object, which release destroys.
func (d *dnnl) make(kind, how string, at *uintptr, args ...uintptr) error {
	err := d.call(how, append([]uintptr{out(at)}, args...)...)
	if err == nil {
		d.made = append(d.made, made{kind + "_destroy", *at})
	}
	return err
}

func (d *dnnl) release() {
	for i := len(d.made) - 1; i >= 0; i-- {
		purego.SyscallN(d.fn[d.made[i].kind], d.made[i].at)
	}
	d.made, held = nil, nil
}

func (d *dnnl) call(name string, args ...uintptr) error {
	if status, _, _ := purego.SyscallN(d.fn[name], args...); int32(status) != 0 {
		return fmt.Errorf("dnnl_%s: status %d", name, int32(status))
	}
	return nil
}

func (d *dnnl) name() string {
	if d.sycl {
		return "oneDNN " + d.version + " (SYCL)"
	}
	return "oneDNN " + d.version
}

// isa names the widest set among the bits that the library says it uses.
func (d *dnnl) isa() string {
	bits := uint32(d.isaBits)
	for _, k := range []struct {
		bit  uint32
		name string
	}{{0x20, "avx512"}, {0x4, "avx2"}, {0x2, "avx"}, {0x1, "sse4.1"}} {
		if bits&k.bit != 0 {
			return fmt.Sprintf("%s, 0x%x", k.name, bits)
		}
	}
	return fmt.Sprintf("0x%x", bits)
}

// prepare gives matmul and, for constant weights, matmul and the inner product
// over weights that oneDNN packs as it likes.
func (d *dnnl) prepare(p *problem) (ways []*way, err error) {
	if p.elem != num.F32 {
		return nil, diag.Errorf(diag.Pos{}, "oneDNN has no product of %v on processors", p.elem).WithFix("compare with --against openblas")
	}
	kinds := []struct {
		name          string
		inner, packed bool
	}{{"matmul", false, false}, {"matmul, packed", false, true}, {"inner product, packed", true, true}}
	for _, k := range kinds {
		if k.packed && !p.constB {
			continue
		}
		var runs []func() bool
		note := ""
		for i := range p.c {
			run, impl, fault := d.product(p, i, k.inner, k.packed)
			if fault != nil {
				err = fault
				break
			}
			runs, note = append(runs, run), impl
		}
		if len(runs) < len(p.c) {
			continue
		}
		wait := d.fn["stream_wait"]
		ways = append(ways, &way{name: d.name() + " " + k.name, note: note, run: func() bool {
			for _, run := range runs {
				if !run() {
					return false
				}
			}
			status, _, _ := purego.SyscallN(wait, d.stream)
			return int32(status) == 0
		}})
	}
	if len(ways) > 0 {
		err = nil
	}
	return ways, err
}

// strided describes an array of two dims.
func (d *dnnl) strided(md *uintptr, rows, cols, row, col int64) error {
	dims, strides := [dnnlMaxDims]int64{rows, cols}, [dnnlMaxDims]int64{row, col}
	return d.make("memory_desc", "memory_desc_create_with_strides", md, 2, out(&dims), dnnlF32, out(&strides))
}

// product makes one primitive and its arguments. The weights of an inner product
// are n by k.
func (d *dnnl) product(p *problem, i int, inner, packed bool) (run func() bool, note string, err error) {
	a, b, c := p.a[i], p.b[i], p.c[i]
	rows, cols, row, col := p.k, p.n, b.row, b.col
	if inner {
		rows, cols, row, col = p.n, p.k, b.col, b.row
	}
	var src, plain, wants, dst, pd, prim uintptr
	err = first(
		func() error { return d.strided(&src, p.m, p.k, a.row, a.col) },
		func() error { return d.strided(&plain, rows, cols, row, col) },
		func() error { return d.strided(&dst, p.m, p.n, c.row, c.col) },
		func() error {
			wants = plain
			if !packed {
				return nil
			}
			dims := [dnnlMaxDims]int64{rows, cols}
			return d.make("memory_desc", "memory_desc_create_with_tag", &wants, 2, out(&dims), dnnlF32, dnnlAny)
		},
		func() error {
			if inner {
				return d.make("primitive_desc", "inner_product_forward_primitive_desc_create", &pd, d.engine, dnnlInference, src, wants, 0, dst, 0)
			}
			return d.make("primitive_desc", "matmul_primitive_desc_create", &pd, d.engine, src, wants, 0, dst, 0)
		},
		func() error { return d.make("primitive", "primitive_create", &prim, pd) })
	if err != nil {
		return nil, "", err
	}
	var impl uintptr
	if d.call("primitive_desc_query", pd, dnnlQueryImplementation, 0, out(&impl)) == nil {
		note = text(impl)
	}
	args, err := d.bind(p, pd, [3]uintptr{src, plain, dst}, [3]unsafe.Pointer{a.data, b.data, c.data}, packed)
	if err != nil {
		return nil, "", err
	}
	execute, at := d.fn["primitive_execute"], out(&args[0])
	return func() bool {
		status, _, _ := purego.SyscallN(execute, prim, d.stream, 3, at)
		return int32(status) == 0
	}, note, nil
}

func first(steps ...func() error) error {
	for _, s := range steps {
		if err := s(); err != nil {
			return err
		}
	}
	return nil
}

// bind makes the arguments of a product: source, weights (packed first), result.
func (d *dnnl) bind(p *problem, pd uintptr, mds [3]uintptr, data [3]unsafe.Pointer, packed bool) ([]uint64, error) {
	var mem [3]uintptr
	for i := range mem {
		if err := d.make("memory", "memory_create", &mem[i], mds[i], d.engine, uintptr(data[i])); err != nil {
			return nil, err
		}
	}
	if packed {
		packedMem, err := d.pack(pd, mds[1], mem[1])
		if err != nil {
			return nil, err
		}
		mem[1] = packedMem
	}
	return execArgs(dnnlSrc, mem[0], dnnlWeights, mem[1], dnnlDst, mem[2]), nil
}

// execArgs is an array of dnnl_exec_arg_t: a number and a memory each.
func execArgs(pairs ...uintptr) (list []uint64) {
	for i := 0; i < len(pairs); i += 2 {
		var word [8]byte
		binary.NativeEndian.PutUint32(word[:], uint32(pairs[i]))
		list = append(list, binary.NativeEndian.Uint64(word[:]), uint64(pairs[i+1]))
	}
	return list
}

// pack reorders weights into the form that a primitive asks for.
func (d *dnnl) pack(pd, plain, from uintptr) (uintptr, error) {
	md, _, _ := purego.SyscallN(d.fn["primitive_desc_query_md"], pd, dnnlQueryWeights, 0)
	size, _, _ := purego.SyscallN(d.fn["memory_desc_get_size"], md)
	room, err := runtime.Alloc(num.U8, []int64{int64(size) + 64})
	if err != nil {
		return 0, err
	}
	var mem, rpd, reorder uintptr
	err = first(
		func() error {
			return d.make("memory", "memory_create", &mem, md, d.engine, out(&room.Data[0]))
		},
		func() error {
			return d.make("primitive_desc", "reorder_primitive_desc_create", &rpd, plain, d.engine, md, d.engine, 0)
		},
		func() error { return d.make("primitive", "primitive_create", &reorder, rpd) },
		func() error {
			args := execArgs(dnnlSrc, from, dnnlDst, mem)
			return d.call("primitive_execute", reorder, d.stream, 2, out(&args[0]))
		},
		func() error { return d.call("stream_wait", d.stream) })
	return mem, err
}
