package tensor

import (
	"tenon/ir"
)

// The clauses that several rows share.
var (
	args      = ir.ClauseSpec{Kind: ir.KindOperands}
	axisAttr  = ir.ClauseSpec{Kind: ir.KindAttr, KW: "axis"}
	item      = ir.ClauseSpec{Kind: ir.KindAttr} // a bare @name
	exists    = ir.ClauseSpec{Kind: ir.KindExists, KW: "exists"}
	mayExists = ir.ClauseSpec{Kind: ir.KindExists, KW: "exists", Optional: true}
	mayCheck  = ir.ClauseSpec{Kind: ir.KindConds, KW: "check", Optional: true}
)

func flag(kw string) ir.ClauseSpec {
	return ir.ClauseSpec{Kind: ir.KindFlag, KW: kw, Optional: true}
}

// traps is the effect of an op that may refuse its operands while running.
func traps(*ir.Op) []ir.Effect { return []ir.Effect{{Kind: ir.EffectTrap}} }

// The family's rows beside comp. Ops that bind dims say so by an exists clause;
// such an op may be removed only when its dims are unused too.
var (
	CallOp = ir.Register(&ir.OpDef{
		Name: "tensor.call",
		Doc: "the results of a func; its existential dims get names in order\n" +
			"%r = tensor.call @f(%x, %y) [exists(n: 0 <= n)] : f32[n]",
		Clauses: []ir.ClauseSpec{item, args, mayExists},
		Traits:  ir.Call,
		Infer:   declaredTypes,
		Verify:  verifyCall,
		Eval:    stageCall,
	})
	DataOp = ir.Register(&ir.OpDef{
		Name:    "tensor.data",
		Doc:     "the constant tensor of a data item\n%w = tensor.data @w : f32[4, 3]",
		Clauses: []ir.ClauseSpec{item},
		Traits:  ir.Pure,
		Infer:   declaredTypes,
		Verify:  verifyData,
		Eval:    stageData,
	})
	ReshapeOp = ir.Register(&ir.OpDef{
		Name: "tensor.reshape",
		Doc: "the same elements in C order under another shape; check lists what must hold for the sizes to agree\n" +
			"%y = tensor.reshape(%x) [check(M*N == P*Q)] : f32[P, Q]",
		Clauses: []ir.ClauseSpec{args, mayCheck},
		Traits:  ir.Pure,
		Infer:   inferReshape,
		Verify:  verifyReshape,
		Eval:    stageReshape,
	})
	ConcatOp = ir.Register(&ir.OpDef{
		Name:    "tensor.concat",
		Doc:     "the operands one after the other along an axis\n%y = tensor.concat(%a, %b) axis=1 : f32[M, K + N]",
		Clauses: []ir.ClauseSpec{args, axisAttr},
		Traits:  ir.Pure,
		Infer:   inferConcat,
		Eval:    stageConcat,
	})
	ScatterOp = ir.Register(&ir.OpDef{
		Name: "tensor.scatter",
		Doc: "a copy of the operand into which each point of par, in order, puts its value at out's subscripts: combined " +
			"with what is there (by), else replacing it. A subscript may use a read; out of range is an error\n" +
			"%y = tensor.scatter(%base) par(e < E, f < F) in(%g = %at[e], %v = %x[e, f]) out([%g, f]) { yield(%v) } " +
			"[by sum(f32)] : f32[N, F]",
		Clauses: []ir.ClauseSpec{args, {Kind: ir.KindAxes, KW: "par", Optional: true},
			{Kind: ir.KindReads, KW: "in", Optional: true}, {Kind: ir.KindOuts, KW: "out"}, {Kind: ir.KindBlock},
			{Kind: ir.KindBy, KW: "by", Optional: true}},
		Traits: ir.Reduces,
		Infer:  inferScatter,
		Verify: verifyScatter,
		Eval:   stageScatter,
	})
	SortOp = ir.Register(&ir.OpDef{
		Name: "tensor.sort",
		Doc: "sorted along an axis, and the index each element had; stable, a NaN counts as greater than any number\n" +
			"%y, %i = tensor.sort(%x) axis=0 [descending] : f32[N], i64[N]",
		Clauses: []ir.ClauseSpec{args, axisAttr, flag("descending")},
		Traits:  ir.Pure,
		Infer:   inferSort,
		Eval:    stageSort,
	})
	TopKOp = ir.Register(&ir.OpDef{
		Name: "tensor.topk",
		Doc: "the k greatest along an axis in falling order (smallest: the k least, rising), and their indices; ties by the " +
			"lower index\n%y, %i = tensor.topk(%x, k) axis=1 [smallest] : f32[M, k], i64[M, k]",
		Clauses: []ir.ClauseSpec{args, axisAttr, flag("smallest")},
		Infer:   inferTopK,
		Effects: traps,
		Eval:    stageTopK,
	})
	NonzeroOp = ir.Register(&ir.OpDef{
		Name: "tensor.nonzero",
		Doc: "the subscripts of the elements that are not 0 (a NaN is not 0), in C order, a column each\n" +
			"%i = tensor.nonzero(%x) exists(c: 0 <= c and c <= M*N) : i64[2, c]",
		Clauses: []ir.ClauseSpec{args, exists},
		Infer:   inferNonzero,
		Eval:    stageNonzero,
	})
	UniqueOp = ir.Register(&ir.OpDef{
		Name: "tensor.unique",
		Doc: "the distinct elements of a vector in rising order, each one's first place, each element's place among them, " +
			"their counts; NaNs are one value, the greatest\n" +
			"%u, %first, %inv, %n = tensor.unique(%x) exists(c: 0 <= c and c <= N) : i64[c], i64[c], i64[N], i64[c]",
		Clauses: []ir.ClauseSpec{args, exists},
		Infer:   inferUnique,
		Eval:    stageUnique,
	})
	PlanOp = ir.Register(&ir.OpDef{
		Name: "tensor.plan",
		Doc: "the shape program: computes dims from other dims and small integer tensors, and checks what is said of them\n" +
			"tensor.plan exists(P: 0 <= P) in(%s = %t[0]) { yield(%s) }",
		Clauses: []ir.ClauseSpec{exists, {Kind: ir.KindReads, KW: "in", Optional: true}, {Kind: ir.KindBlock}},
		Effects: traps,
		Verify:  verifyPlan,
		Eval:    stagePlan,
	})
	CheckOp = ir.Register(&ir.OpDef{
		Name:    "tensor.check",
		Doc:     "stops the program with a shape error unless the conditions hold\ntensor.check(M == N, K mod 8 == 0)",
		Clauses: []ir.ClauseSpec{{Kind: ir.KindConds}},
		Effects: traps,
		Eval:    stageCheck,
	})
	PartsOp = ir.Register(&ir.OpDef{
		Name:    "tensor.parts",
		Doc:     "the parts that store an encoded tensor\n%codes, %books = tensor.parts(%w) : u8[N, K//8, 2], f16[2, 256, 8]",
		Clauses: []ir.ClauseSpec{args},
		Traits:  ir.Pure,
		Infer:   declaredTypes,
		Verify:  verifyParts,
		Eval:    stageParts,
	})
	EncodedOp = ir.Register(&ir.OpDef{
		Name:    "tensor.encoded",
		Doc:     "the encoded tensor that the parts store\n%w = tensor.encoded(%codes, %books) : f32[N, K] enc @vq8x2",
		Clauses: []ir.ClauseSpec{args},
		Traits:  ir.Pure,
		Infer:   declaredTypes,
		Verify:  verifyEncoded,
		Eval:    stageEncoded,
	})
)

// The rows on patterns. Each new pattern comes with the map between its entries
// and the old ones, as an edge tensor, so that values follow by a comp.
var (
	SamePatternOp = ir.Register(&ir.OpDef{
		Name: "tensor.same_pattern",
		Doc: "stops with a shape error unless #q has the entries of #p in the same order; gives edge tensors of #q as such of " +
			"#p\n%f = tensor.same_pattern(%p, %q, %e) : f32[nnz#p]",
		Clauses: []ir.ClauseSpec{args},
		Infer:   inferSamePattern,
		Effects: traps,
		Eval:    stageSamePattern,
	})
	PatternTransposeOp = ir.Register(&ir.OpDef{
		Name: "tensor.pattern_transpose",
		Doc: "the transposed pattern, and for each of its entries the entry of #p it comes from\n" +
			"%t, %at = tensor.pattern_transpose(%p) : pattern<M, N, nnz#t, csr(i64, i32)>, i64[nnz#t]",
		Clauses: []ir.ClauseSpec{args},
		Infer:   declaredTypes,
		Verify:  verifyPatternOp,
		Eval:    stagePatternTranspose,
	})
	PatternConvertOp = ir.Register(&ir.OpDef{
		Name: "tensor.pattern_convert",
		Doc: "the same entries in another layout, and for each new entry the entry of #p it comes from\n" +
			"%q, %at = tensor.pattern_convert(%p) : pattern<N, M, nnz#q, csc(i64, i32)>, i64[nnz#q]",
		Clauses: []ir.ClauseSpec{args},
		Infer:   declaredTypes,
		Verify:  verifyPatternOp,
		Eval:    stagePatternConvert,
	})
	CoalesceOp = ir.Register(&ir.OpDef{
		Name: "tensor.coalesce",
		Doc: "the pattern with each stored place once, columns rising, and for each entry of #p the entry it became\n" +
			"%q, %at = tensor.coalesce(%p) : pattern<N, M, nnz#q, csr(i64, i32)>, i64[nnz#p]",
		Clauses: []ir.ClauseSpec{args},
		Infer:   declaredTypes,
		Verify:  verifyPatternOp,
		Eval:    stageCoalesce,
	})
)
