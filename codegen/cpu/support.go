package cpu

import (
	"fmt"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// support holds the functions that the entries of a module share: what is done
// to every tensor argument, of any rank, is emitted once. Unshared it was nine
// tenths of a small module.
type support struct {
	m       *llvm.Module
	openmp  bool
	fns     map[string]*llvm.Func // looked up by name only
	texts   map[string]llvm.Value // likewise
	kernels map[string]*kernel    // bodies of micro-kernels, likewise
	watched map[string]*watching  // tables of the choices of procs, likewise
}

func newSupport(m *llvm.Module, openmp bool) *support {
	return &support{m, openmp, map[string]*llvm.Func{}, map[string]llvm.Value{}, map[string]*kernel{}, map[string]*watching{}}
}

// A record is what is known of a tensor argument while the entry runs; it lies
// on the stack. Its fields are words.
const (
	recDense   = 8 * iota // address of the elements in C order: the caller's, or a copy
	recCopy               // the copy, which the exit frees; null if there is none
	recBytes              // size of the elements
	recLow                // the addresses that the caller's strides reach,
	recHigh               // recHigh exclusive
	recStrict             // 1 where the caller's strides are those of C order
	recDim                // the dim at fault
	recWritten            // how the function uses the tensor: reads, writes, updates
	recArg                // the number of the argument
	recField              // address of its tenon_tensor
	recRank               // and its rank
	recElem               // its type of elements, as a number
	recShares             // 1 + the number of the output that is the same array; 0 if there is none
	recordBytes
)

// The values of recWritten.
const (
	reads = iota
	writes
	updates
)

// The fields of a tenon_tensor.
const (
	fieldData, fieldShape, fieldStrides = 0, 8, 16
)

func word(f *llvm.Func, base llvm.Value, at int64) llvm.Value {
	return f.Load(index, f.Offset(base, at))
}
func address(f *llvm.Func, base llvm.Value, at int64) llvm.Value {
	return f.Load(llvm.Ptr, f.Offset(base, at))
}

func (s *support) function(name string, result llvm.Type, params []llvm.Param, emit func(f *llvm.Func, a []llvm.Value)) *llvm.Func {
	if fn := s.fns[name]; fn != nil {
		return fn
	}
	fn := s.m.NewInternal("tenon."+name, result, params...)
	fn.NoInline()
	s.fns[name] = fn
	a := make([]llvm.Value, len(params))
	for i := range params {
		a[i] = fn.Param(i)
	}
	emit(fn, a)
	return fn
}

func code(c ir.TrapCode) llvm.Value { return llvm.Int(num.I32, int64(c)) }

// examine is examine(field, rank, element size, record) -> code: it reads a
// tenon_tensor into a record. A missing shape, or a missing array that has
// elements, is TENON_NULL; one that begins between two elements, TENON_ALIGN.
func (s *support) examine() *llvm.Func {
	params := []llvm.Param{{Name: "field", Type: llvm.Ptr}, {Name: "rank", Type: index}, {Name: "size", Type: index}, {Name: "record", Type: llvm.Ptr}}
	return s.function("examine", i32, params, func(f *llvm.Func, a []llvm.Value) {
		field, rank, size, rec := a[0], a[1], a[2], a[3]
		data, shape, strides := address(f, field, fieldData), address(f, field, fieldShape), address(f, field, fieldStrides)
		f.Store(llvm.Index(-1), f.Offset(rec, recDim))
		f.When(f.Op("and", f.IsNull(shape), f.Op("gt", rank, llvm.Index(0))), func() { f.Return(code(ir.TrapNull)) })
		bytes := s.bytes(f, shape, rank, size, rec)
		f.When(f.Op("and", f.IsNull(data), f.Op("gt", bytes, llvm.Index(0))), func() { f.Return(code(ir.TrapNull)) })
		f.Store(bytes, f.Offset(rec, recBytes))
		low := f.PtrInt(data)
		odd := f.Op("ne", f.Op("and", low, f.Op("sub", size, llvm.Index(1))), llvm.Index(0)) // sizes are powers of 2
		f.When(f.Op("and", odd, f.Op("gt", bytes, llvm.Index(0))), func() { f.Return(code(ir.TrapAlign)) })
		reach := f.If(f.IsNull(strides),
			func() []llvm.Value { return []llvm.Value{low, f.Op("add", low, bytes), llvm.Index(1)} },
			func() []llvm.Value { return reach(f, shape, strides, rank, size, low) })
		f.Store(reach[0], f.Offset(rec, recLow))
		f.Store(reach[1], f.Offset(rec, recHigh))
		none := f.Cast(f.Op("eq", bytes, llvm.Index(0)), num.Index)
		f.Store(f.Op("or", reach[2], none), f.Offset(rec, recStrict))
		f.Return(code(ir.TrapOK))
	})
}

// bytes is the size of the elements, in a function that ends with a code where
// there is none. As in the interpreter a dim of 0 makes it 0 even where the
// other dims overflow.
func (s *support) bytes(f *llvm.Func, shape, rank, size, rec llvm.Value) llvm.Value {
	no := llvm.Int(num.Bool, 0)
	v := f.For(llvm.Index(0), rank, llvm.Index(1), []llvm.Value{size, no, no}, func(d llvm.Value, c []llvm.Value) []llvm.Value {
		n := f.LoadElem(num.Index, shape, d)
		f.When(f.Op("lt", n, llvm.Index(0)), func() {
			f.Store(d, f.Offset(rec, recDim))
			f.Return(code(ir.TrapShape))
		})
		product, wraps := f.MulOverflow(c[0], n)
		return []llvm.Value{product, f.Op("or", c[1], wraps), f.Op("or", c[2], f.Op("eq", n, llvm.Index(0)))}
	})
	f.When(f.Op("and", v[1], f.Op("not", v[2])), func() { f.Return(code(ir.TrapOverflow)) })
	return f.Select(v[2], llvm.Index(0), v[0])
}

// reach finds which addresses the strides reach, negative ones included, and
// whether they are those of C order (those of dims below 2 do not matter).
func reach(f *llvm.Func, shape, strides, rank, size, low llvm.Value) []llvm.Value {
	one := llvm.Index(1)
	inits := []llvm.Value{low, f.Op("add", low, size), one, one}
	v := f.For(llvm.Index(0), rank, one, inits, func(k llvm.Value, c []llvm.Value) []llvm.Value {
		d := f.Op("sub", f.Op("sub", rank, one), k)
		n, stride, dense := f.LoadElem(num.Index, shape, d), f.LoadElem(num.Index, strides, d), c[3]
		same := f.Op("or", f.Op("eq", stride, dense), f.Op("lt", n, llvm.Index(2)))
		span := f.Op("mul", f.Op("mul", f.Op("sub", n, one), stride), size)
		return []llvm.Value{
			f.Op("add", c[0], f.Op("min", span, llvm.Index(0))), f.Op("add", c[1], f.Op("max", span, llvm.Index(0))),
			f.Op("and", c[2], f.Cast(same, num.Index)), f.Op("mul", dense, n),
		}
	})
	return v[:3]
}

// densify is densify(field, rank, fill, record) -> code: it puts the address of
// the elements in C order into the record, those of a copy where strides ask
// for one. The copy is filled in if fill is not 0.
func (s *support) densify(bytes int64) *llvm.Func {
	params := []llvm.Param{{Name: "field", Type: llvm.Ptr}, {Name: "rank", Type: index}, {Name: "fill", Type: index}, {Name: "record", Type: llvm.Ptr}}
	return s.function(fmt.Sprintf("densify%d", bytes), i32, params, func(f *llvm.Func, a []llvm.Value) {
		field, rank, fill, rec := a[0], a[1], a[2], a[3]
		data := address(f, field, fieldData)
		f.Store(data, f.Offset(rec, recDense))
		f.When(f.Op("ne", word(f, rec, recStrict), llvm.Index(0)), func() { f.Return(code(ir.TrapOK)) })
		room := f.Malloc(word(f, rec, recBytes))
		f.When(f.IsNull(room), func() { f.Return(code(ir.TrapMemory)) })
		f.Store(room, f.Offset(rec, recDense))
		f.Store(room, f.Offset(rec, recCopy))
		f.When(f.Op("ne", fill, llvm.Index(0)), func() {
			f.Call(s.walk("pack", bytes), rank, address(f, field, fieldShape), address(f, field, fieldStrides), data, room)
		})
		f.Return(code(ir.TrapOK))
	})
}

// restore is restore(field, rank, record): it moves the elements of a copy to
// where the caller has them.
func (s *support) restore(bytes int64) *llvm.Func {
	params := []llvm.Param{{Name: "field", Type: llvm.Ptr}, {Name: "rank", Type: index}, {Name: "record", Type: llvm.Ptr}}
	return s.function(fmt.Sprintf("restore%d", bytes), llvm.Void, params, func(f *llvm.Func, a []llvm.Value) {
		field, rec := a[0], a[2]
		from := address(f, rec, recCopy)
		f.When(f.Op("not", f.IsNull(from)), func() {
			f.Call(s.walk("unpack", bytes), a[1], address(f, field, fieldShape), address(f, field, fieldStrides), address(f, field, fieldData), from)
		})
		f.Return(llvm.Value{})
	})
}

// words are the types that elements of a size are moved as.
var words = map[int64]num.Elem{1: num.U8, 2: num.I16, 4: num.I32, 8: num.I64}

// walk is pack or unpack(rank, shape, strides, at, dense) -> dense: it moves the
// elements of a strided array to or from a dense one, and gives the end of that.
func (s *support) walk(name string, bytes int64) *llvm.Func {
	params := []llvm.Param{{Name: "rank", Type: index}, {Name: "shape", Type: llvm.Ptr}, {Name: "strides", Type: llvm.Ptr}, {Name: "at", Type: llvm.Ptr}, {Name: "dense", Type: llvm.Ptr}}
	e, size := words[bytes], llvm.Index(bytes)
	return s.function(fmt.Sprint(name, bytes), llvm.Ptr, params, func(f *llvm.Func, a []llvm.Value) {
		rank, shape, strides, at, dense := a[0], a[1], a[2], a[3], a[4]
		n, stride := word(f, shape, 0), word(f, strides, 0)
		f.When(f.Op("le", rank, llvm.Index(1)), func() {
			f.For(llvm.Index(0), n, llvm.Index(1), nil, func(i llvm.Value, _ []llvm.Value) []llvm.Value {
				far, near := f.OffsetBy(at, f.Op("mul", f.Op("mul", i, stride), size)), f.At(dense, e, i)
				if name == "pack" {
					far, near = near, far
				}
				f.Store(f.Load(llvm.TypeOf(e), near), far)
				return nil
			})
			f.Return(f.At(dense, e, n))
		})
		end := f.For(llvm.Index(0), n, llvm.Index(1), []llvm.Value{dense}, func(i llvm.Value, c []llvm.Value) []llvm.Value {
			row := f.OffsetBy(at, f.Op("mul", f.Op("mul", i, stride), size))
			return []llvm.Value{f.Call(s.fns[fmt.Sprint(name, bytes)], f.Op("sub", rank, llvm.Index(1)), f.Offset(shape, 8), f.Offset(strides, 8), row, c[0])}
		})
		f.Return(end[0])
	})
}

// release is release(records, n): it frees the copies.
func (s *support) release() *llvm.Func {
	params := []llvm.Param{{Name: "records", Type: llvm.Ptr}, {Name: "n", Type: index}}
	return s.function("release", llvm.Void, params, func(f *llvm.Func, a []llvm.Value) {
		f.For(llvm.Index(0), a[1], llvm.Index(1), nil, func(i llvm.Value, _ []llvm.Value) []llvm.Value {
			f.Free(address(f, f.OffsetBy(a[0], f.Op("mul", i, llvm.Index(recordBytes))), recCopy))
			return nil
		})
		f.Return(llvm.Value{})
	})
}
