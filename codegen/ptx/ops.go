package ptx

import (
	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// lowerings holds the ops that are not scalar operators, by name.
var lowerings map[string]func(*kernel, *ir.Op)

func init() { // a composite literal would refer to itself through region
	lowerings = map[string]func(*kernel, *ir.Op){
		"load": lowerLoad, "store": lowerStore, "loop.for": lowerFor, "loop.if": lowerIf,
		"gpu.shared": lowerShared, "gpu.barrier": func(k *kernel, _ *ir.Op) { k.Barrier() },
		"const": lowerConst, "cast": lowerCast, "bitcast": lowerBitcast, "idx": lowerIdx, "select": lowerSelect,
		"yield": func(*kernel, *ir.Op) {}, "return": func(*kernel, *ir.Op) {},
	}
}

func (k *kernel) region(r *ir.Region) {
	for _, op := range r.Ops {
		k.op(op)
	}
}

func (k *kernel) op(op *ir.Op) {
	if lower := lowerings[op.Def.Name]; lower != nil {
		lower(k, op)
		return
	}
	if llvm.OpArgs(op.Def.Name) == 0 {
		refuse(op.Loc, "op %s has no form on a GPU yet", op.Def.Name)
	}
	e := num.Invalid
	for _, a := range op.Args("") {
		if a.Value != nil {
			e = ir.ElemOf(a.Value.Type)
		}
	}
	var args []llvm.Value
	for _, a := range op.Args("") {
		args = append(args, k.operand(a, e))
	}
	k.values[op.Results[0]] = k.Op(op.Def.Name, args...)
}

// operand is the value of an operand of element type e.
func (k *kernel) operand(a ir.Arg, e num.Elem) llvm.Value {
	switch {
	case a.Value != nil:
		return k.value(a.Value)
	case a.Lit != nil:
		return llvm.Const(a.Lit.Elem, a.Lit.Cell)
	}
	return k.Cast(k.expr(*a.Expr), e)
}

func lowerConst(k *kernel, op *ir.Op) {
	k.values[op.Results[0]] = llvm.Const(ir.ElemOf(op.Results[0].Type), ir.GetClause[*ir.Literal](op, "").Cell)
}

func lowerCast(k *kernel, op *ir.Op) {
	to := ir.ElemOf(op.Results[0].Type)
	k.values[op.Results[0]] = k.Cast(k.operand(op.Args("")[0], to), to)
}

func lowerBitcast(k *kernel, op *ir.Op) {
	from, to := ir.ElemOf(op.Operand(0).Type), ir.ElemOf(op.Results[0].Type)
	k.values[op.Results[0]] = k.Bitcast(k.operand(op.Args("")[0], from), to)
}

func lowerIdx(k *kernel, op *ir.Op) {
	k.values[op.Results[0]] = k.operand(op.Args("")[0], ir.ElemOf(op.Results[0].Type))
}

func lowerSelect(k *kernel, op *ir.Op) {
	args, e := op.Args(""), ir.ElemOf(op.Results[0].Type)
	k.values[op.Results[0]] = k.Select(k.operand(args[0], num.Bool), k.operand(args[1], e), k.operand(args[2], e))
}

func body(op *ir.Op) *ir.Region { return ir.GetClause[*ir.Block](op, "").Region }

// yields emits a region and gives what it yields.
func (k *kernel) yields(r *ir.Region) (out []llvm.Value) {
	k.region(r)
	for _, v := range r.Yields() {
		out = append(out, k.value(v))
	}
	return out
}

func lowerFor(k *kernel, op *ir.Op) {
	r := ir.GetClause[*ir.Range](op, "")
	carry := ir.GetClause[*ir.Carry](op, "carry")
	if carry == nil {
		carry = &ir.Carry{}
	}
	if len(op.Results) != len(carry.Inits) {
		refuse(op.Loc, "a loop that stacks values has no form on a GPU")
	}
	if !k.facts.Prove(sym.Lt(sym.Const(0), r.Step)) {
		refuse(op.Loc, "a loop whose step %s may not be positive has no form on a GPU", r.Step)
	}
	var inits []llvm.Value
	for _, v := range carry.Inits {
		inits = append(inits, k.value(v))
	}
	i := sym.Name(r.Name)
	facts := []sym.Cond{sym.Le(r.Lo, i), sym.Lt(i, r.Hi)}
	hi, step := k.expr(r.Hi), k.expr(r.Step)
	results := k.For(k.expr(r.Lo), hi, step, inits, func(iv llvm.Value, carried []llvm.Value) (next []llvm.Value) {
		k.names[r.Name] = iv
		if r.Size != "" {
			n := sym.Name(r.Size)
			k.names[r.Size] = k.Op("min", step, k.Op("sub", hi, iv))
			facts = append(facts, sym.Le(sym.Const(1), n), sym.Le(n, r.Step), sym.Le(sym.Add(i, n), r.Hi))
		}
		for j, v := range carry.Params {
			k.values[v] = carried[j]
		}
		k.under(facts, func() { next = k.yields(body(op)) })
		return next
	})
	for j, v := range op.Results {
		k.values[v] = results[j]
	}
}

func lowerIf(k *kernel, op *ir.Op) {
	conds := ir.GetClause[*ir.Conds](op, "").List
	otherwise := ir.GetClause[*ir.Block](op, "else")
	arm := func(r *ir.Region, facts []sym.Cond) func() []llvm.Value {
		return func() (out []llvm.Value) {
			k.under(facts, func() { out = k.yields(r) })
			return out
		}
	}
	if otherwise == nil {
		k.If(k.all(conds), arm(body(op), conds), nil)
		return
	}
	var not []sym.Cond
	if len(conds) == 1 {
		not = []sym.Cond{conds[0].Not()}
	}
	results := k.If(k.all(conds), arm(body(op), conds), arm(otherwise.Region, not))
	for i, r := range op.Results {
		k.values[r] = results[i]
	}
}
