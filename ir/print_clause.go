package ir

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/internal/num"
)

// The clause kinds. Each writes what stands behind the clause's word.

func (w *printer) literal(c Clause) { w.more(c.(*Literal).String()) }

func (w *printer) operands(c Clause) { w.more("(" + joined(c.(*Operands).Args, w.arg) + ")") }

func (w *printer) arg(a Arg) string {
	switch {
	case a.Lit != nil:
		return a.Lit.String()
	case a.Expr != nil:
		return w.expr(*a.Expr)
	case a.View == nil:
		return w.use(a.Value)
	}
	return w.use(a.Value) + "[" + joined(a.View.Dims, w.viewDim) + "]"
}

func (w *printer) viewDim(d ViewDim) string {
	if d.HasSize {
		return w.expr(d.Start) + ":" + w.expr(d.Size)
	}
	return w.expr(d.Start)
}

func (w *printer) attr(c Clause) {
	a := c.(*Attr)
	texts := map[AttrKind]func() string{
		AttrInt:    func() string { return strconv.FormatInt(a.Int, 10) },
		AttrFloat:  func() string { return num.FormatFloat(num.F64, num.FromFloat(a.Float)) },
		AttrString: func() string { return Quote(a.Str) },
		AttrItem:   func() string { return "@" + a.Str },
		AttrName:   func() string { return a.Str },
	}
	if w.tight { // no word, so no sign
		w.more(texts[a.Value]())
		return
	}
	w.more("=" + texts[a.Value]())
}

func (w *printer) flag(Clause) {}

func (w *printer) axes(c Clause) { w.more("(" + joined(c.(*Axes).List, w.axis) + ")") }

func (w *printer) axis(a Axis) string {
	if a.Pattern == nil {
		return a.Name + " < " + w.expr(a.Extent)
	}
	return fmt.Sprintf("%s:%s in %s[%s]", a.Name, a.Entry, w.use(a.Pattern), w.expr(a.Row))
}

func (w *printer) conds(c Clause) { w.more("(" + joined(c.(*Conds).List, w.cond) + ")") }

func (w *printer) reads(c Clause) { w.more("(" + joined(c.(*Reads).List, w.read) + ")") }

func (w *printer) read(r Read) string {
	s := fmt.Sprintf("%s[%s]", w.use(r.Src), w.exprs(r.Subs))
	if r.Policy != PolicyError {
		s += " " + r.Policy.String()
	}
	return w.bind(r.Res) + " = " + s
}

func (w *printer) outs(c Clause) {
	w.more("(" + joined(c.(*Outs).List, func(o Out) string {
		s := "[" + w.exprs(o.Subs) + "]"
		if o.Buf != nil {
			s = w.use(o.Buf) + s
		}
		return s
	}) + ")")
}

func (w *printer) carry(c Clause) {
	k := c.(*Carry)
	inits := make([]string, len(k.Inits))
	for i, v := range k.Inits {
		inits[i] = w.use(v)
	}
	for i, v := range k.Params {
		inits[i] = w.bind(v) + " = " + inits[i]
	}
	w.more("(" + strings.Join(inits, ", ") + ")")
}

func (w *printer) by(c Clause) {
	b := c.(*By)
	w.more(" " + monoidText(b.Monoid))
	if b.Ordered {
		w.more(" ordered")
	}
	if b.EmptyError {
		w.more(" empty(error)")
	} else if b.Empty != nil {
		w.more(" empty(" + joined(b.Empty, Literal.String) + ")")
	}
	if b.FromOut {
		w.more(" from(out)")
	}
}

func monoidText(m *Monoid) string {
	if m.Builtin {
		return m.Name + "(" + joined(m.Elems(), num.Elem.String) + ")"
	}
	return "@" + m.Name
}

func (w *printer) rangeClause(c Clause) {
	r := c.(*Range)
	s := r.Name
	if r.Size != "" {
		s += ":" + r.Size
	}
	s += " = " + w.expr(r.Lo) + " to " + w.expr(r.Hi)
	if n, ok := r.Step.IsConst(); !ok || n != 1 {
		s += " step " + w.expr(r.Step)
	}
	w.more(s)
}

func (w *printer) exists(c Clause) {
	w.more("(" + joined(c.(*Exists).Dims, func(d ExDim) string {
		s := d.Name
		for i, c := range d.Conds {
			s += []string{": ", " and "}[min(i, 1)] + w.cond(c)
		}
		return s
	}) + ")")
}

func (w *printer) block(c Clause) {
	b := c.(*Block)
	w.inScope(func() {
		if len(b.Params) > 0 {
			w.more("(" + joined(b.Params, w.blockParam) + ")")
		}
		w.region(b.Region)
	})
}

func (w *printer) blockParam(q BlockParam) string {
	if q.Val != nil {
		return w.bind(q.Val)
	}
	return q.Sym
}

func (w *printer) variants(c Clause) {
	v := c.(*Variants)
	for i, x := range v.List {
		if i > 0 {
			w.piece("variant")
		}
		w.more(" " + x.Name)
		if len(x.Where) > 0 {
			w.piece(w.where(x.Where))
		}
		w.region(x.Region)
	}
	w.piece("pick")
	w.region(v.Pick)
}

func (w *printer) where(fs []Fact) string {
	return "where(" + joined(fs, func(f Fact) string { return string(f.Provenance) + " " + w.cond(f.Cond) }) + ")"
}

func (w *printer) directives(c Clause) { w.more(directivesText(c.(*Directives).List)) }

func directivesText(ds []string) string { return "(" + joined(ds, Quote) + ")" }
