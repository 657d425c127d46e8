package cpu

import (
	"strings"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// lowerings holds the ops that are not scalar operators, by name.
var lowerings map[string]func(*proc, *ir.Op)

func init() { // a composite literal would refer to itself through region
	lowerings = map[string]func(*proc, *ir.Op){
		"load": lowerLoad, "store": lowerStore,
		"loop.call": lowerCall, "loop.alloc": lowerAlloc, "loop.prepare": lowerPrepare, "loop.copy": lowerCopy,
		"loop.for": lowerFor, "loop.parallel": lowerParallel, "loop.if": lowerIf,
		"loop.inside": lowerInside, "loop.defined": lowerDefined, "loop.poison": lowerPoison,
		"loop.pick": lowerPick, "loop.ran": lowerRan,
		"tensor.check": lowerCheck, "tensor.plan": lowerPlan,
		"const": lowerConst, "cast": lowerCast, "bitcast": lowerBitcast, "idx": lowerIdx, "select": lowerSelect,
		"yield": func(*proc, *ir.Op) {}, "return": func(*proc, *ir.Op) {},
	}
}

// op emits one op, with its place in the source.
func (p *proc) op(op *ir.Op) {
	p.Source(op.Loc.First())
	if lower := lowerings[op.Def.Name]; lower != nil {
		lower(p, op)
		return
	}
	if name, isVec := strings.CutPrefix(op.Def.Name, "vec."); isVec && llvm.OpArgs(name) > 0 {
		lowerLanewise(p, op)
		return
	}
	if llvm.OpArgs(op.Def.Name) == 0 {
		refuse(op)
	}
	lowerScalar(p, op)
}

// lowerScalar emits an operator of the table in codegen/llvm.
func lowerScalar(p *proc, op *ir.Op) {
	e := num.Invalid
	for _, a := range op.Args("") {
		if a.Value != nil {
			e = ir.ElemOf(a.Value.Type)
		}
	}
	var args []llvm.Value
	for _, a := range op.Args("") {
		args = append(args, p.operand(a, e))
	}
	p.With(p.Flags|p.fold[op], func() { p.values[op.Results[0]] = p.Op(op.Def.Name, args...) })
}

// operand is the value of an operand of element type e.
func (p *proc) operand(a ir.Arg, e num.Elem) llvm.Value {
	switch {
	case a.Value != nil:
		return p.value(a.Value)
	case a.Lit != nil:
		return llvm.Const(a.Lit.Elem, a.Lit.Cell)
	}
	return p.Cast(p.expr(*a.Expr), e)
}

func lowerConst(p *proc, op *ir.Op) {
	lit := ir.GetClause[*ir.Literal](op, "")
	p.values[op.Results[0]] = llvm.Const(ir.ElemOf(op.Results[0].Type), lit.Cell)
}

func lowerCast(p *proc, op *ir.Op) {
	to := ir.ElemOf(op.Results[0].Type)
	p.values[op.Results[0]] = p.Cast(p.operand(op.Args("")[0], to), to)
}

func lowerBitcast(p *proc, op *ir.Op) {
	from, to := ir.ElemOf(op.Operand(0).Type), ir.ElemOf(op.Results[0].Type)
	p.values[op.Results[0]] = p.Bitcast(p.operand(op.Args("")[0], from), to)
}

func lowerIdx(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.operand(op.Args("")[0], ir.ElemOf(op.Results[0].Type))
}

func lowerSelect(p *proc, op *ir.Op) {
	args, e := op.Args(""), ir.ElemOf(op.Results[0].Type)
	p.values[op.Results[0]] = p.Select(p.operand(args[0], num.Bool), p.operand(args[1], e), p.operand(args[2], e))
}
