package tn

import (
	"fmt"
	"strings"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// quantParam declares a parameter whose elements are stored in a quantised
// encoding; reading one decodes it, to f32.
func (f *fnState) quantParam(p *syntax.Param, isConst, proc bool) {
	t := p.Type
	if proc {
		f.p.failWith(p.Errorf("a proc takes dense buffers").WithFix("write a fn"))
	}
	if t.Elem == nil || t.Elem.Dims == nil || len(t.Elem.Dims.List) != 2 {
		f.p.failWith(t.Errorf("a quantised tensor has two dims").WithFix("write %s(...) f16[N, K]", t.Name.Name))
	}
	stored := f.elem(t.Elem.Name)
	if !stored.IsFloat() {
		f.p.failWith(t.Elem.Errorf("the codebook or scales of %s are floats", t.Name.Name).WithFix("write f16, bf16 or f32"))
	}
	q := f.quantOptions(t)
	q.stored = stored
	dims := f.dims(t.Elem.Dims.List, true)
	enc := f.p.encoding(q)
	for _, w := range enc.Where {
		c := w.Cond.Subst(map[string]sym.Expr{"N": dims[0], "K": dims[1]})
		if f.facts().Prove(c.Not()) {
			f.p.failWith(t.Elem.Dims.List[1].Errorf("%s needs %s, and N is %s, K is %s", t.Name.Name, shownCond(w.Cond), shown(dims[0]), shown(dims[1])).
				WithFix("pad the rows, or take other options"))
		}
		f.declare(c)
	}
	v := &ir.Value{Name: f.names.val(p.Name.Name), Type: ir.Tensor{Elem: enc.Elem, Dims: dims, Enc: enc}}
	f.addParam(ir.ModeIn, isConst, v)
	f.scope.names[p.Name.Name] = &binding{kind: bindTensor, at: p, tensor: &tensor{val: v, elem: enc.Elem, axes: denseDims(f, dims)}}
}

// quantType is a quantised storage with its options.
type quantType struct {
	kind    string // vq, int8, int4
	ints    map[string]int64
	scale   string // none, row, tensor, group
	stored  num.Elem
	options string // canonical text, the key
}

// quantDefaults are the options of each storage and their defaults; 0 must be
// given.
var quantDefaults = map[string]map[string]int64{
	"vq":   {"vec": 0, "entries": 0, "books": 1},
	"int8": {"group": -1},
	"int4": {"group": -1},
}

func (f *fnState) quantOptions(t *syntax.Type) quantType {
	q := quantType{kind: t.Name.Name, ints: map[string]int64{}, scale: "none"}
	if q.kind != "vq" {
		q.scale = "row"
	}
	for k, v := range quantDefaults[q.kind] {
		q.ints[k] = v
	}
	for _, o := range t.Opts {
		f.quantOption(t, &q, o)
	}
	for _, k := range sortedKeys(q.ints) {
		if q.ints[k] == 0 {
			f.p.failWith(t.Errorf("%s needs %s", q.kind, k).WithFix("write for example %s(%s=8, ...)", q.kind, k))
		}
		if q.ints[k] > 0 {
			q.options += fmt.Sprintf("_%s%d", k, q.ints[k])
		}
	}
	if q.ints["group"] > 0 {
		q.scale = "group"
	}
	q.options += "_" + q.scale
	return q
}

func (f *fnState) quantOption(t *syntax.Type, q *quantType, o *syntax.Arg) {
	if o.Name == nil {
		f.p.failWith(o.Errorf("the options of %s have names", q.kind).WithFix("write for example %s=8", sortedKeys(q.ints)[0]))
	}
	name := o.Name.Name
	if name == "scale" {
		n, ok := syntax.Unparen(o.X).(*syntax.Name)
		if !ok || q.kind != "vq" || n.Name != "row" && n.Name != "none" && n.Name != "tensor" {
			f.p.failWith(o.Errorf("scale is one of row, tensor, none"))
		}
		q.scale = n.Name
		return
	}
	if _, ok := q.ints[name]; !ok {
		f.p.failWith(o.Errorf("%s has no option %s", q.kind, name).WithExpected("%s", strings.Join(sortedKeys(q.ints), ", ")))
	}
	n, ok := literalInt(o.X)
	if !ok || n < 1 || n > 1<<24 {
		f.p.failWith(o.Errorf("%s is a positive integer", name))
	}
	q.ints[name] = int64(n)
}

// encoding makes the module's encoding of a quantised storage, once.
func (p *program) encoding(q quantType) *ir.Encoding {
	name := q.kind + q.options + "_" + q.stored.String()
	if e := p.encodings[name]; e != nil {
		return e
	}
	e := &ir.Encoding{Name: name, Dims: []string{"N", "K"}, Elem: num.F32, Subs: []string{"n", "k"}}
	d := &decoder{enc: e, q: q, n: sym.Name("N"), k: sym.Name("K"), region: &ir.Region{}}
	if q.kind == "vq" {
		d.vq()
	} else {
		d.ints()
	}
	e.Decode = d.region
	p.encodings[name] = e
	return e
}

// decoder builds the decode region of an encoding.
type decoder struct {
	enc    *ir.Encoding
	q      quantType
	n, k   sym.Expr
	region *ir.Region
	count  int
}

func (d *decoder) part(name string, e num.Elem, dims ...sym.Expr) *ir.Value {
	v := &ir.Value{Name: name, Type: ir.Tensor{Elem: e, Dims: dims}}
	d.enc.Parts = append(d.enc.Parts, &ir.Param{Mode: ir.ModeIn, Value: v})
	return v
}

func (d *decoder) multiple(of int64) {
	if of > 1 {
		c := sym.Eq(sym.Mod(d.k, sym.Const(of)), sym.Const(0))
		d.enc.Where = append(d.enc.Where, ir.Fact{Provenance: ir.Declared, Cond: c})
	}
}

// codeElem is the smallest type that stores n codes as unsigned numbers.
func codeElem(n int64) num.Elem {
	switch {
	case n <= 256:
		return num.U8
	case n <= 1<<15:
		return num.I16
	}
	return num.I32
}

// vq decodes w[n, k] = scale * sum over books of codebook[c, code, k mod vec].
func (d *decoder) vq() {
	vec, entries, books := d.q.ints["vec"], d.q.ints["entries"], d.q.ints["books"]
	d.multiple(vec)
	v := sym.Const(vec)
	codes := d.part("codes", codeElem(entries), d.n, sym.FloorDiv(d.k, v), sym.Const(books))
	table := d.part("codebooks", d.q.stored, sym.Const(books), sym.Const(entries), v)
	var scales *ir.Value
	switch d.q.scale {
	case "row":
		scales = d.part("scales", d.q.stored, d.n)
	case "tensor":
		scales = d.part("scales", d.q.stored)
	}
	n, k := sym.Name("n"), sym.Name("k")
	q := &ir.Value{Name: "q", Type: ir.Scalar{Elem: codeElem(entries)}}
	b := &ir.Value{Name: "b", Type: ir.Scalar{Elem: d.q.stored}}
	reads := &ir.Reads{List: []ir.Read{
		{Res: q, Src: codes, Subs: []sym.Expr{n, sym.FloorDiv(k, v), sym.Name("c")}},
		{Res: b, Src: table, Subs: []sym.Expr{sym.Name("c"), sym.Val(q), sym.Mod(k, v)}}}}
	inner := &ir.Region{}
	terminate(inner, cast(inner, b, num.F32, "f"))
	m, _ := ir.BuiltinMonoid("sum", num.F32)
	op := ir.NewOp("tensor.comp", ir.Loc{})
	ir.SetClause(op, "red", &ir.Axes{List: []ir.Axis{{Name: "c", Extent: sym.Const(books)}}})
	ir.SetClause(op, "in", reads)
	ir.SetClause(op, "", &ir.Block{Region: inner})
	ir.SetClause(op, "by", &ir.By{Monoid: m})
	w := d.add(op, "w")
	if scales != nil {
		w = d.scaled(w, scales)
	}
	terminate(d.region, w)
}

func (d *decoder) scaled(w, scales *ir.Value) *ir.Value {
	subs := []sym.Expr{}
	if d.q.scale == "row" {
		subs = append(subs, sym.Name("n"))
	}
	if d.q.scale == "group" {
		subs = append(subs, sym.Name("n"), sym.FloorDiv(sym.Name("k"), sym.Const(d.q.ints["group"])))
	}
	s := d.point(scales, subs, "s")
	return d.add(ir.NewOp("mul", ir.Loc{}, &ir.Operands{Args: []ir.Arg{ir.ValueArg(w), ir.ValueArg(s)}}), "y")
}

// point reads one element of a part, as f32.
func (d *decoder) point(part *ir.Value, subs []sym.Expr, name string) *ir.Value {
	e := ir.ElemOf(part.Type)
	r := &ir.Value{Name: name + "_e", Type: ir.Scalar{Elem: e}}
	inner := &ir.Region{}
	to := num.F32
	if e.IsInt() {
		to = num.I32
	}
	terminate(inner, cast(inner, r, to, name+"_f"))
	op := ir.NewOp("tensor.comp", ir.Loc{})
	ir.SetClause(op, "in", &ir.Reads{List: []ir.Read{{Res: r, Src: part, Subs: subs}}})
	ir.SetClause(op, "", &ir.Block{Region: inner})
	return d.add(op, name)
}

// ints decodes int8 and int4: code times scale. Two int4 codes share a byte, the
// first in the low half, each stored with 8 added.
func (d *decoder) ints() {
	n, k := sym.Name("n"), sym.Name("k")
	group := d.q.ints["group"]
	var codes *ir.Value
	sub := k
	if d.q.kind == "int4" {
		d.multiple(2)
		codes = d.part("codes", num.U8, d.n, sym.FloorDiv(d.k, sym.Const(2)))
		sub = sym.FloorDiv(k, sym.Const(2))
	} else {
		codes = d.part("codes", num.I8, d.n, d.k)
	}
	scales := (*ir.Value)(nil)
	if d.q.scale == "group" {
		d.multiple(group)
		scales = d.part("scales", d.q.stored, d.n, sym.FloorDiv(d.k, sym.Const(group)))
	} else {
		scales = d.part("scales", d.q.stored, d.n)
	}
	c := d.point(codes, []sym.Expr{n, sub}, "c")
	if d.q.kind == "int4" {
		shift := d.add2("idx", num.I32, ir.ExprArg(sym.Mul(sym.Const(4), sym.Mod(k, sym.Const(2)))), "h")
		c = d.binary("shr", c, shift)
		c = d.binary("and", c, d.constant(15))
		c = d.binary("sub", c, d.constant(8))
	}
	terminate(d.region, d.scaled(cast(d.region, c, num.F32, "w"), scales))
}

func (d *decoder) constant(n int64) *ir.Value {
	d.count++
	op := ir.NewOp("const", ir.Loc{}, &ir.Literal{Elem: num.I32, Cell: num.FromInt(n)})
	return finish(d.region, op, []ir.Type{ir.Scalar{Elem: num.I32}}, fmt.Sprintf("i%d", d.count))
}

func (d *decoder) binary(name string, a, b *ir.Value) *ir.Value {
	d.count++
	op := ir.NewOp(name, ir.Loc{}, &ir.Operands{Args: []ir.Arg{ir.ValueArg(a), ir.ValueArg(b)}})
	return finish(d.region, op, nil, fmt.Sprintf("t%d", d.count))
}

func (d *decoder) add2(name string, e num.Elem, a ir.Arg, result string) *ir.Value {
	return finish(d.region, ir.NewOp(name, ir.Loc{}, &ir.Operands{Args: []ir.Arg{a}}), []ir.Type{ir.Scalar{Elem: e}}, result)
}

func (d *decoder) add(op *ir.Op, name string) *ir.Value { return finish(d.region, op, nil, name) }

func finish(r *ir.Region, op *ir.Op, declared []ir.Type, name string) *ir.Value {
	b := ir.NewBuilder(r)
	return b.Add(op, declared, name).Results[0]
}

func cast(r *ir.Region, v *ir.Value, e num.Elem, name string) *ir.Value {
	if ir.ElemOf(v.Type) == e {
		return v
	}
	op := ir.NewOp("cast", ir.Loc{}, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}})
	return finish(r, op, []ir.Type{ir.Scalar{Elem: e}}, name)
}

func terminate(r *ir.Region, v *ir.Value) {
	r.Ops = append(r.Ops, ir.NewOp("yield", ir.Loc{}, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}}))
}
