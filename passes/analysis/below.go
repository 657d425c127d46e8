package analysis

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// NotPositive finds differences of f that are at most 0, or NaN: of an element
// and a maximum that a loop just before folded over all such elements,
//
//	%m = loop.for j = 0 to N carry(%a = ..) { yield(max(%a, load(%x[i, j]))) }
//	loop.for j = 0 to N { .. sub(load(%x[i, j]), %m) .. }
//
// in which the first loop may also have stored the elements that it folded.
func NotPositive(f *ir.Func) map[*ir.Value]bool {
	b := &below{found: map[*ir.Value]bool{}}
	b.region(f, f.Body)
	return b.found
}

type below struct {
	accesses *Accesses // made when first needed
	found    map[*ir.Value]bool
}

func (b *below) region(f *ir.Func, r *ir.Region) {
	before := map[*ir.Op]bool{}
	for _, op := range r.Ops {
		for _, in := range op.Regions() {
			b.region(f, in)
		}
		before[op] = true
		if rangeOf(op) == nil {
			continue
		}
		for _, d := range op.Regions()[0].Ops {
			if d.Def.Name != "sub" || d.Operand(0) == nil || d.Operand(1) == nil {
				continue
			}
			fold := d.Operand(1).Def
			if fold == nil || fold.Def.Name != "loop.for" || !before[fold] {
				continue
			}
			if b.accesses == nil {
				b.accesses = FindAccesses(f)
			}
			b.found[d.Results[0]] = b.foldedIn(d.Operand(0), op, fold, d.Operand(1))
		}
	}
}

// foldedIn reports that the result m of fold is a maximum that takes in x, which
// is loaded in the loop in.
func (b *below) foldedIn(x *ir.Value, in, fold *ir.Op, m *ir.Value) bool {
	terms := maximised(fold, slices.Index(fold.Results, m))
	if len(terms) == 0 || x.Def == nil || x.Def.Def.Name != "load" || !slices.Contains(in.Regions()[0].Ops, x.Def) {
		return false
	}
	a, was := rangeOf(in), rangeOf(fold)
	if a.Size != "" || was.Size != "" || !a.Lo.Equal(was.Lo) || !a.Hi.Equal(was.Hi) || !a.Step.Equal(was.Step) {
		return false
	}
	buf := x.Def.Args("")[0].Value
	read := b.accessBy(buf, x.Def)
	if read == nil || b.accesses.Aliased[buf] || read.Subs == nil {
		return false
	}
	folded, loop := false, b.accesses.Place[fold]
	for _, w := range b.accesses.Of[buf] {
		inFold := loop.First <= w.At && w.At <= loop.Last
		same := w.Subs != nil && slices.EqualFunc(read.Subs, w.Subs, func(p, q sym.Expr) bool {
			return p.Equal(q.Subst(map[string]sym.Expr{was.Name: sym.Name(a.Name)}))
		})
		switch {
		case inFold && w.Op.Def.Name == "load":
			folded = folded || same && slices.Contains(terms, w.Op.Results[0])
		case inFold && w.Write:
			if w.Op.Def.Name != "store" || !same || !slices.Contains(terms, w.Op.Operand(0)) {
				return false
			}
			folded = true
		case w.Write && loop.Last < w.At && w.At <= b.accesses.Place[in].Last && !overwrites(read, w, a.Name):
			return false
		}
	}
	return folded
}

// overwrites reports that w writes the element that read has read before in the
// same iteration of the loop over index, and no other iteration reads it.
func overwrites(read, w *Access, index string) bool {
	return w.At > read.At && len(w.Path) == len(read.Path) && !w.Read && slices.EqualFunc(read.Subs, w.Subs, sym.Expr.Equal) &&
		slices.ContainsFunc(read.Subs, func(e sym.Expr) bool { return e.Equal(sym.Name(index)) })
}

// accessBy is what op does to buf.
func (b *below) accessBy(buf *ir.Value, op *ir.Op) *Access {
	for _, a := range b.accesses.Of[buf] {
		if a.Op == op {
			return a
		}
	}
	return nil
}

// maximised are the values, made directly in the body of fold, that its i-th
// carried value takes the maximum of in every iteration.
func maximised(fold *ir.Op, i int) (terms []*ir.Value) {
	body := fold.Regions()[0]
	at := slices.IndexFunc(fold.Clauses, func(c ir.Clause) bool { _, ok := c.(*ir.Carry); return ok })
	if i < 0 || at < 0 || len(body.Yields()) != len(fold.Results) {
		return nil
	}
	p, y := fold.Clauses[at].(*ir.Carry).Params[i], body.Yields()[i]
	if y.Def == nil || y.Def.Def.Name != "max" || !slices.Contains(body.Ops, y.Def) {
		return nil
	}
	args := y.Def.OperandValues("")
	if len(args) != 2 || !slices.Contains(args, p) || !ir.ElemOf(p.Type).IsFloat() {
		return nil
	}
	for _, v := range args {
		if v != p && v.Def != nil && slices.Contains(body.Ops, v.Def) {
			terms = append(terms, v)
		}
	}
	return terms
}
