package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// An input may be donated: the caller gives the same array, to the stride, as an
// output. The module says for which pairs the body is right with one array
// (ir.InPlace); for any other one the entry makes a copy of the input first.
// Arrays that meet in any other way are refused.

// overlap is overlap(records, n) -> argument: the first one that shares memory
// with an earlier one where either is written; -1 if there is none. An input and
// an output that are one array may: it is noted in the input's record.
func (s *support) overlap() *llvm.Func {
	params := []llvm.Param{{Name: "records", Type: llvm.Ptr}, {Name: "n", Type: index}}
	return s.function("overlap", index, params, func(f *llvm.Func, a []llvm.Value) {
		record := func(i llvm.Value) llvm.Value { return f.OffsetBy(a[0], f.Op("mul", i, llvm.Index(recordBytes))) }
		f.For(llvm.Index(0), a[1], llvm.Index(1), nil, func(i llvm.Value, _ []llvm.Value) []llvm.Value {
			f.For(llvm.Index(0), i, llvm.Index(1), nil, func(j llvm.Value, _ []llvm.Value) []llvm.Value {
				x, y := record(j), record(i)
				written := f.Op("or", word(f, x, recWritten), word(f, y, recWritten))
				meet := f.Op("and", f.Op("lt", word(f, x, recLow), word(f, y, recHigh)), f.Op("lt", word(f, y, recLow), word(f, x, recHigh)))
				some := f.Op("and", f.Op("gt", word(f, x, recBytes), llvm.Index(0)), f.Op("gt", word(f, y, recBytes), llvm.Index(0)))
				f.When(f.Op("and", f.Op("and", meet, some), f.Op("ne", written, llvm.Index(0))), func() { s.donated(f, x, y) })
				return nil
			})
			return nil
		})
		f.Return(llvm.Index(-1))
	})
}

// donated notes that of two records one is of an input and the other of an
// output that is the same array; where that is not so the function returns the
// second's argument.
func (s *support) donated(f *llvm.Func, x, y llvm.Value) {
	in, out := word(f, x, recWritten), word(f, y, recWritten)
	forward := f.Op("and", f.Op("eq", in, llvm.Index(reads)), f.Op("eq", out, llvm.Index(writes)))
	back := f.Op("and", f.Op("eq", in, llvm.Index(writes)), f.Op("eq", out, llvm.Index(reads)))
	same := f.Op("ne", f.Call(s.identical(), x, y), llvm.Index(0))
	f.When(f.Op("not", f.Op("and", f.Op("or", forward, back), same)), func() { f.Return(word(f, y, recArg)) })
	f.When(forward, func() { f.Store(f.Op("add", word(f, y, recArg), llvm.Index(1)), f.Offset(x, recShares)) })
	f.When(back, func() { f.Store(f.Op("add", word(f, x, recArg), llvm.Index(1)), f.Offset(y, recShares)) })
}

// identical is identical(record, record) -> 1 where two tensors have the same
// elements of one type at the same places, 0 elsewhere.
func (s *support) identical() *llvm.Func {
	params := []llvm.Param{{Name: "x", Type: llvm.Ptr}, {Name: "y", Type: llvm.Ptr}}
	return s.function("identical", index, params, func(f *llvm.Func, a []llvm.Value) {
		no := func(differ llvm.Value) { f.When(differ, func() { f.Return(llvm.Index(0)) }) }
		for _, at := range []int64{recElem, recRank} {
			no(f.Op("ne", word(f, a[0], at), word(f, a[1], at)))
		}
		x, y := address(f, a[0], recField), address(f, a[1], recField)
		no(f.Op("not", f.SamePtr(address(f, x, fieldData), address(f, y, fieldData))))
		strict := f.Op("and", word(f, a[0], recStrict), word(f, a[1], recStrict))
		xs, ys := address(f, x, fieldStrides), address(f, y, fieldStrides)
		no(f.Op("and", f.Op("eq", strict, llvm.Index(0)), f.Op("or", f.IsNull(xs), f.IsNull(ys))))
		xn, yn := address(f, x, fieldShape), address(f, y, fieldShape)
		f.For(llvm.Index(0), word(f, a[0], recRank), llvm.Index(1), nil, func(d llvm.Value, _ []llvm.Value) []llvm.Value {
			n := f.LoadElem(num.Index, xn, d)
			no(f.Op("ne", n, f.LoadElem(num.Index, yn, d)))
			f.When(f.Op("and", f.Op("eq", strict, llvm.Index(0)), f.Op("gt", n, llvm.Index(1))), func() {
				no(f.Op("ne", f.LoadElem(num.Index, xs, d), f.LoadElem(num.Index, ys, d)))
			})
			return nil
		})
		f.Return(llvm.Index(1))
	})
}

// private is private(record) -> code: it gives the body a copy of a tensor whose
// memory it will write before it is through with it, unless it has one already.
func (s *support) private() *llvm.Func {
	params := []llvm.Param{{Name: "record", Type: llvm.Ptr}}
	return s.function("private", i32, params, func(f *llvm.Func, a []llvm.Value) {
		rec := a[0]
		f.When(f.Op("not", f.IsNull(address(f, rec, recCopy))), func() { f.Return(code(ir.TrapOK)) })
		room := f.Malloc(word(f, rec, recBytes))
		f.When(f.IsNull(room), func() { f.Return(code(ir.TrapMemory)) })
		f.CallC("memcpy", llvm.Ptr, room, address(f, rec, recDense), word(f, rec, recBytes))
		f.Store(room, f.Offset(rec, recDense))
		f.Store(room, f.Offset(rec, recCopy))
		f.Return(code(ir.TrapOK))
	})
}

// keepInput makes a copy of an input that is also an output in whose memory the
// body cannot work.
func (e *entry) keepInput(t *tensorArg) {
	if t.field.Param.Mode != ir.ModeIn || len(donors(e.fields, t.field)) == 0 {
		return
	}
	shares := word(e.Func, t.record, recShares)
	lost := e.Op("ne", shares, llvm.Index(0))
	for _, p := range ir.InPlace(e.src) {
		if p[0] == t.arg {
			lost = e.Op("and", lost, e.Op("ne", shares, llvm.Index(int64(p[1]+1))))
		}
	}
	e.When(lost, func() {
		code := e.Call(e.shared.private(), t.record)
		e.failIf(code, t.arg, func() llvm.Value { return llvm.Int(num.I32, -1) })
	})
}

// donors are the outputs that can be the array x.
func donors(fields []Field, x Field) (outs []Field) {
	for _, y := range fields {
		if y.Tensor && y.Param.Mode == ir.ModeOut && y.Elem == x.Elem && y.Rank == x.Rank {
			outs = append(outs, y)
		}
	}
	return outs
}

// sharedParams are the parameters that may be the array of another one.
func sharedParams(f *ir.Func) map[int]bool {
	shared := map[int]bool{}
	for _, p := range ir.InPlace(f) {
		shared[p[0]], shared[p[1]] = true, true
	}
	return shared
}

// unlessDonated emits a loop; one that copies an argument to a result is left out
// where they are the same array.
func (p *proc) unlessDonated(op *ir.Op, emit func()) {
	d := ir.GetClause[*ir.Directives](op, "directives")
	if d == nil {
		emit()
		return
	}
	from, to := ir.Copies(p.src, d.List)
	if from == nil || len(op.Results) > 0 {
		emit()
		return
	}
	same := p.SamePtr(p.buffer(from).data, p.buffer(to).data)
	p.When(p.Op("not", same), func() { p.under(nil, nil, emit) })
}
