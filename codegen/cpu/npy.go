package cpu

import (
	"strconv"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// text is the address of a C string; equal ones are kept once.
func (s *support) text(t string) llvm.Value {
	v, ok := s.texts[t]
	if !ok {
		v = s.m.Data("tenon.text."+strconv.Itoa(len(s.texts)), append([]byte(t), 0))
		s.texts[t] = v
	}
	return v
}

// npy is npy(folder, name, descr, rank, element size, tensor, mapping) -> code:
// it maps a file of NumPy's format and fills in the tensor, whose shape has
// room for rank sizes. Anything but an array in C order with the given type and
// rank is TENON_FILE.
func (s *support) npy() *llvm.Func {
	params := []llvm.Param{{Name: "folder", Type: llvm.Ptr}, {Name: "name", Type: llvm.Ptr}, {Name: "descr", Type: llvm.Ptr},
		{Name: "rank", Type: index}, {Name: "size", Type: index}, {Name: "tensor", Type: llvm.Ptr}, {Name: "mapping", Type: llvm.Ptr}}
	return s.function("npy", i32, params, func(f *llvm.Func, a []llvm.Value) {
		folder, name, descr, rank, size, tensor, mapping := a[0], a[1], a[2], a[3], a[4], a[5], a[6]
		fault := func(bad llvm.Value) { f.When(bad, func() { f.Return(code(ir.TrapFile)) }) }
		got := f.Call(s.mapFile(), folder, name, mapping)
		f.When(f.Op("ne", got, code(ir.TrapOK)), func() { f.Return(got) })
		base, length := address(f, mapping, 0), word(f, mapping, 8)
		fault(f.Op("lt", length, llvm.Index(16)))
		fault(f.Op("ne", f.CallC("memcmp", i32, base, s.text("\x93NUMPY"), llvm.Index(6)), code(ir.TrapOK)))
		// Version 1 has the size of the header in two bytes, later ones in four.
		old := f.Op("eq", f.Cast(f.Load(llvm.TypeOf(num.U8), f.Offset(base, 6)), num.Index), llvm.Index(1))
		short := f.Op("and", f.Cast(f.Load(i32, f.Offset(base, 8)), num.Index), llvm.Index(0xffff))
		long := f.Op("and", f.Cast(f.Load(i32, f.Offset(base, 8)), num.Index), llvm.Index(0xffffffff))
		header := f.OffsetBy(base, f.Select(old, llvm.Index(10), llvm.Index(12)))
		data := f.Op("add", f.Select(old, llvm.Index(10), llvm.Index(12)), f.Select(old, short, long))
		fault(f.Op("gt", data, length))
		text := f.Malloc(f.Op("add", data, llvm.Index(1)))
		f.When(f.IsNull(text), func() { f.Return(code(ir.TrapMemory)) })
		n := f.Select(old, short, long)
		f.CallC("memcpy", llvm.Ptr, text, header, n)
		f.Store(llvm.Int(num.U8, 0), f.OffsetBy(text, n))
		bytes := f.Call(s.npyHeader(), text, descr, rank, size, address(f, tensor, fieldShape))
		f.Free(text)
		fault(f.Op("lt", bytes, llvm.Index(0)))
		fault(f.Op("gt", bytes, f.Op("sub", length, data)))
		f.Store(f.OffsetBy(base, data), f.Offset(tensor, fieldData))
		f.Return(code(ir.TrapOK))
	})
}

// mapFile is mapFile(folder, name, mapping) -> code: it maps a file and notes
// where, and its size.
func (s *support) mapFile() *llvm.Func {
	params := []llvm.Param{{Name: "folder", Type: llvm.Ptr}, {Name: "name", Type: llvm.Ptr}, {Name: "mapping", Type: llvm.Ptr}}
	return s.function("map", i32, params, func(f *llvm.Func, a []llvm.Value) {
		folder, name, mapping := a[0], a[1], a[2]
		before, after := f.CallC("strlen", index, folder), f.CallC("strlen", index, name)
		path := f.Malloc(f.Op("add", f.Op("add", before, after), llvm.Index(2)))
		f.When(f.IsNull(path), func() { f.Return(code(ir.TrapMemory)) })
		f.CallC("memcpy", llvm.Ptr, path, folder, before)
		f.Store(llvm.Int(num.U8, '/'), f.OffsetBy(path, before))
		rest := f.Offset(f.OffsetBy(path, before), 1)
		f.CallC("memcpy", llvm.Ptr, rest, name, f.Op("add", after, llvm.Index(1)))
		fd := f.CallC("open", i32, path, llvm.Int(num.I32, 0x80000)) // O_RDONLY | O_CLOEXEC
		f.Free(path)
		f.When(f.Op("lt", fd, llvm.Int(num.I32, 0)), func() { f.Return(code(ir.TrapFile)) })
		length := f.CallC("lseek", index, fd, llvm.Index(0), llvm.Int(num.I32, 2)) // SEEK_END
		some := f.Op("max", length, llvm.Index(1))
		at := f.CallC("mmap", llvm.Ptr, llvm.Null(), some, llvm.Int(num.I32, 1), llvm.Int(num.I32, 2), fd, llvm.Index(0)) // PROT_READ, MAP_PRIVATE
		f.CallC("close", i32, fd)
		f.When(f.Op("eq", f.PtrInt(at), llvm.Index(-1)), func() { f.Return(code(ir.TrapFile)) })
		f.Store(at, mapping)
		f.Store(some, f.Offset(mapping, 8))
		f.Return(code(ir.TrapOK))
	})
}

// npyHeader is npyHeader(text, descr, rank, element size, shape) -> bytes: it
// reads the dictionary of a file, as NumPy writes it, and gives the size of the
// elements; -1 if it says something else than asked for.
func (s *support) npyHeader() *llvm.Func {
	params := []llvm.Param{{Name: "text", Type: llvm.Ptr}, {Name: "descr", Type: llvm.Ptr}, {Name: "rank", Type: index},
		{Name: "size", Type: index}, {Name: "shape", Type: llvm.Ptr}}
	return s.function("npyheader", index, params, func(f *llvm.Func, a []llvm.Value) {
		text, descr, rank, size, shape := a[0], a[1], a[2], a[3], a[4]
		fault := func(bad llvm.Value) { f.When(bad, func() { f.Return(llvm.Index(-1)) }) }
		find := func(key string) llvm.Value {
			at := f.CallC("strstr", llvm.Ptr, text, s.text(key))
			fault(f.IsNull(at))
			return f.Offset(at, int64(len(key)))
		}
		fault(f.Op("ne", f.CallC("strncmp", i32, find("'descr': '"), descr, llvm.Index(4)), code(ir.TrapOK)))
		find("'fortran_order': False")
		end := f.Alloca(8)
		f.Store(find("'shape': ("), end)
		no := llvm.Int(num.Bool, 0)
		v := f.For(llvm.Index(0), rank, llvm.Index(1), []llvm.Value{size, no, no}, func(d llvm.Value, c []llvm.Value) []llvm.Value {
			from := address(f, end, 0)
			n := f.CallC("strtoll", index, from, end, llvm.Int(num.I32, 10))
			fault(f.Op("or", f.SamePtr(from, address(f, end, 0)), f.Op("lt", n, llvm.Index(0))))
			f.StoreElem(n, shape, d)
			to := address(f, end, 0) // a comma follows the first size, and all but the last
			comma := f.Op("eq", f.Load(llvm.TypeOf(num.U8), to), llvm.Int(num.U8, ','))
			f.Store(f.OffsetBy(to, f.Cast(comma, num.Index)), end)
			product, wraps := f.MulOverflow(c[0], n)
			return []llvm.Value{product, f.Op("or", c[1], wraps), f.Op("or", c[2], f.Op("eq", n, llvm.Index(0)))}
		})
		fault(f.Op("ne", f.Load(llvm.TypeOf(num.U8), address(f, end, 0)), llvm.Int(num.U8, ')')))
		fault(f.Op("and", v[1], f.Op("not", v[2])))
		f.Return(f.Select(v[2], llvm.Index(0), v[0]))
	})
}
