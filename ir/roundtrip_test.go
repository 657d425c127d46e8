// Size: init holds the table of generators, one a clause of test.every.

package ir

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// This package has no ops of its own; these rows exist in its tests only. The
// row test.every has a clause of every kind.
func init() {
	given := func(_ *Op, declared []Type) ([]Type, error) { return declared, nil }
	spec := func(k ClauseKind, kw string) ClauseSpec { return ClauseSpec{Kind: k, KW: kw, Optional: true} }
	Register(&OpDef{Name: "test.every", Infer: given, Clauses: []ClauseSpec{
		spec(KindAttr, ""), spec(KindOperands, ""), spec(KindAttr, "int"), spec(KindAttr, "text"), spec(KindFlag, "hot"),
		spec(KindRange, "over"), spec(KindAxes, "par"), spec(KindAxes, "red"), spec(KindConds, "if"), spec(KindReads, "in"),
		spec(KindCarry, "carry"), spec(KindOuts, "out"), spec(KindExists, "exists"), spec(KindDirectives, "directives"),
		{Kind: KindOperands, KW: "sizes", Optional: true, Exprs: true}, spec(KindBlock, ""), spec(KindBlock, "act"),
		spec(KindVariants, ""), spec(KindBy, "by")},
		Bind: func(op *Op, i int) error {
			if b, ok := op.Clauses[i].(*Block); ok {
				for _, q := range b.Params {
					if q.Val != nil {
						q.Val.Type = IndexType
					}
				}
			}
			return nil
		}})
	Register(&OpDef{Name: "yield", Traits: Terminator, Clauses: []ClauseSpec{{Kind: KindOperands}, spec(KindOperands, "stack")}})
	Register(&OpDef{Name: "return", Traits: Terminator, Clauses: []ClauseSpec{{Kind: KindOperands}}})
}

// gen makes random modules: any clauses with any contents, well scoped, but
// meaningless.
type gen struct {
	*rand.Rand
	values []*Value
	syms   []string
	ids    []string
	made   int
	dims   int
	mon    *Monoid
	enc    *Encoding
}

func (g *gen) chance(percent int) bool { return g.Intn(100) < percent }

func (g *gen) fresh(prefix string) string {
	g.made++
	return fmt.Sprint(prefix, g.made)
}

func (g *gen) sym() string {
	s := g.fresh([]string{"i", "N", "_k", "at", "x"}[g.Intn(5)])
	g.syms = append(g.syms, s)
	return s
}

func (g *gen) value(t Type) *Value {
	v := &Value{Name: g.fresh([]string{"a", "t", "0", "min", "B_"}[g.Intn(5)]), Type: t}
	g.values = append(g.values, v)
	return v
}

// find is a visible value that fits, nil if there is none.
func (g *gen) find(fits func(Type) bool) *Value {
	for range 8 {
		if v := g.values[g.Intn(len(g.values))]; fits(v.Type) {
			return v
		}
	}
	return nil
}

func isIndex(t Type) bool   { return SameType(t, IndexType) }
func isArray(t Type) bool   { _, ok := DimsOf(t); return ok }
func isPattern(t Type) bool { _, ok := t.(Pattern); return ok }

func (g *gen) expr(depth int) sym.Expr {
	switch n := g.Intn(10); {
	case n < 3 || depth > 3:
		return sym.Name(g.syms[g.Intn(len(g.syms))])
	case n < 4:
		return sym.Const(int64(g.Intn(40) - 10))
	case n < 5:
		if v := g.find(isIndex); v != nil {
			return sym.Val(v)
		}
		return sym.Const(1)
	}
	a, b := g.expr(depth+1), g.expr(depth+1)
	divisor := sym.Const(int64(1 + g.Intn(9)))
	if g.chance(30) {
		divisor = sym.Name(g.syms[0])
	}
	return []sym.Expr{sym.Add(a, b), sym.Sub(a, b), sym.Mul(a, b), sym.FloorDiv(a, divisor), sym.Mod(a, divisor),
		sym.Min(a, b), sym.Max(a, b)}[g.Intn(7)]
}

func (g *gen) exprs(n int) []sym.Expr {
	es := make([]sym.Expr, n)
	for i := range es {
		es[i] = g.expr(0)
	}
	return es
}

func (g *gen) conds(n int) []sym.Cond {
	cs := make([]sym.Cond, n)
	for i := range cs {
		cs[i] = sym.Cond{L: g.expr(0), R: g.expr(0), Rel: relations[g.Intn(6)]}
	}
	return cs
}

func (g *gen) elem() num.Elem { return num.Elems[g.Intn(len(num.Elems))] }

func (g *gen) typ() Type {
	switch g.Intn(7) {
	case 0:
		return IndexType
	case 1:
		return Scalar{g.elem()}
	case 2:
		return Vec{1 + g.Intn(16), g.elem()}
	case 3:
		return Mask{8}
	case 4:
		return g.buf()
	case 5:
		if g.chance(30) {
			return Tensor{Elem: g.enc.Elem, Dims: g.exprs(1), Enc: g.enc}
		}
	}
	t := Tensor{Elem: g.elem(), Dims: g.exprs(g.Intn(3))}
	if g.chance(20) && len(g.ids) > 0 {
		t.Dims = append([]sym.Expr{sym.NNZ(g.ids[g.Intn(len(g.ids))])}, t.Dims...)
	}
	return t
}

func (g *gen) buf() Type {
	b := Buf{Elem: g.elem(), Dims: g.exprs(g.Intn(3))}
	if g.chance(30) {
		b.Strides = g.exprs(len(b.Dims))
	}
	if g.chance(20) {
		b.Offset = g.expr(0)
	}
	if g.chance(20) {
		b.Space = "shared"
	}
	if g.chance(40) {
		b.Dist = &Dist{Grid: "g"}
		for range b.Dims {
			b.Dist.Dims = append(b.Dist.Dims, []DimDist{{Axis: -1}, {Axis: 0}, {Axis: 1, HaloLow: 1, HaloTop: 2},
				{Axis: 1, Cyclic: true, Block: g.expr(0)}}[g.Intn(4)])
		}
		if b.Dist.replicated() && g.chance(50) {
			b.Dist.Partial = "sum"
		}
	}
	return b
}

func (g *gen) pattern() Type {
	id := g.fresh("p")
	g.ids = append(g.ids, id)
	f := []Format{{Kind: "csr", Ptr: num.I64, Idx: num.I32}, {Kind: "csc", Ptr: num.I32, Idx: num.I32},
		{Kind: "coo", Idx: num.I64}, {Kind: "bsr", Ptr: num.I32, Idx: num.I64, BlockRows: 4, BlockCols: 2}}[g.Intn(4)]
	return Pattern{Rows: g.expr(0), Cols: g.expr(0), ID: id, Format: f}
}

func (g *gen) literal() Literal {
	e := []num.Elem{num.F32, num.F16, num.F64, num.I32, num.U8, num.Bool}[g.Intn(6)]
	l := Literal{Elem: e, Cell: num.FromBits(e, g.Uint64()>>(64-8*e.Bytes()))}
	if e == num.Bool {
		l.Cell = num.FromBool(g.chance(50))
	}
	return l
}

func (g *gen) args(exprs bool) *Operands {
	c := &Operands{}
	for range g.Intn(4) {
		switch v := g.values[g.Intn(len(g.values))]; {
		case exprs || g.chance(20):
			c.Args = append(c.Args, ExprArg(g.expr(0)))
		case g.chance(20):
			l := Literal{Elem: num.F64, Cell: num.FromFloat(g.NormFloat64())}
			c.Args = append(c.Args, LitArg(l))
		case isArray(v.Type) && g.chance(60):
			w := &View{}
			for range g.Intn(3) {
				w.Dims = append(w.Dims, ViewDim{g.expr(0), g.expr(0), g.chance(50)})
			}
			c.Args = append(c.Args, Arg{Value: v, View: w})
		default:
			c.Args = append(c.Args, ValueArg(v))
		}
	}
	return c
}

// The order of the row is the order of scopes: what a clause binds, later ones
// may use.
var clauseGens []func(g *gen, depth int) Clause

func init() {
	clauseGens = []func(g *gen, depth int) Clause{
		func(g *gen, _ int) Clause { return &Attr{Value: AttrItem, Str: "m"} },
		func(g *gen, _ int) Clause { return g.args(false) },
		func(g *gen, _ int) Clause {
			return []Clause{&Attr{Value: AttrInt, Int: int64(g.Intn(100)) - 50}, &Attr{Value: AttrFloat, Float: g.NormFloat64()}}[g.Intn(2)]
		},
		func(g *gen, _ int) Clause {
			return []Clause{&Attr{Value: AttrString, Str: "a\"\\\n\t\x01é日"}, &Attr{Value: AttrName, Str: "name"}, &Attr{Value: AttrItem, Str: "g"}}[g.Intn(3)]
		},
		func(g *gen, _ int) Clause { return &Flag{} },
		func(g *gen, _ int) Clause {
			r := &Range{Lo: g.expr(0), Hi: g.expr(0), Step: sym.Const(1)}
			if g.chance(50) {
				r.Step = g.expr(0)
			}
			r.Name = g.sym()
			if g.chance(50) {
				r.Size = g.sym()
			}
			return r
		},
		(*gen).axes, (*gen).axes,
		func(g *gen, _ int) Clause { return &Conds{g.conds(1 + g.Intn(3))} },
		(*gen).reads,
		func(g *gen, _ int) Clause {
			c := &Carry{}
			for range 1 + g.Intn(2) {
				c.Inits = append(c.Inits, g.values[g.Intn(len(g.values))])
			}
			for _, v := range c.Inits {
				c.Params = append(c.Params, g.value(v.Type))
			}
			return c
		},
		func(g *gen, _ int) Clause {
			c := &Outs{}
			for range 1 + g.Intn(3) {
				c.List = append(c.List, Out{g.find(isArray), g.exprs(g.Intn(3))})
			}
			return c
		},
		nil, // exists: see op
		func(g *gen, _ int) Clause { return &Directives{[]string{"tile(i: 32)", "a\"b"}} },
		func(g *gen, _ int) Clause { return g.args(true) },
		func(g *gen, depth int) Clause { return &Block{Region: g.region(depth + 1)} },
		func(g *gen, depth int) Clause {
			b := &Block{}
			g.scoped(func() {
				for range g.Intn(3) {
					if g.chance(50) {
						b.Params = append(b.Params, BlockParam{Sym: g.sym()})
					} else {
						b.Params = append(b.Params, BlockParam{Val: g.value(IndexType)})
					}
				}
				b.Region = g.region(depth + 1)
			})
			return b
		},
		func(g *gen, depth int) Clause {
			c := &Variants{}
			for i := range 1 + g.Intn(2) {
				v := Variant{Name: fmt.Sprint("v", i), Region: g.region(depth + 1)}
				for _, k := range g.conds(g.Intn(2)) {
					v.Where = append(v.Where, Fact{Guarded, k})
				}
				c.List = append(c.List, v)
			}
			c.Pick = g.region(depth + 1)
			return c
		},
		func(g *gen, _ int) Clause {
			b := &By{Monoid: g.mon, Ordered: g.chance(30), FromOut: g.chance(30), EmptyError: g.chance(20)}
			if !b.EmptyError && g.chance(40) {
				b.Empty = []Literal{{Elem: num.F32, Cell: num.FromFloat(0.5)}, {Elem: num.I64, Cell: num.FromInt(-3)}}
			}
			return b
		},
	}
}

func (g *gen) axes(int) Clause {
	c := &Axes{}
	for range 1 + g.Intn(3) {
		if p := g.find(isPattern); p != nil && g.chance(40) {
			c.List = append(c.List, Axis{Pattern: p, Row: g.expr(0), Name: g.sym(), Entry: g.sym()})
		} else {
			c.List = append(c.List, Axis{Extent: g.expr(0), Name: g.sym()})
		}
	}
	return c
}

func (g *gen) reads(int) Clause {
	c := &Reads{}
	for range 1 + g.Intn(3) {
		if src := g.find(isArray); src != nil {
			r := Read{Src: src, Subs: g.exprs(g.Intn(3)), Policy: Policy(g.Intn(3))}
			r.Res = g.value(Scalar{ElemOf(src.Type)})
			c.List = append(c.List, r)
		}
	}
	return c
}

// scoped forgets what f brings into scope; its names may then be used again.
func (g *gen) scoped(f func()) {
	v, s, made := len(g.values), len(g.syms), g.made
	f()
	g.values, g.syms = g.values[:v], g.syms[:s]
	if g.chance(50) {
		g.made = made
	}
}

func (g *gen) region(depth int) *Region {
	r := &Region{}
	g.scoped(func() {
		for range g.Intn(4) {
			r.Ops = append(r.Ops, g.op(depth))
		}
		if g.chance(70) {
			op := &Op{Def: LookupOp("yield"), Clauses: []Clause{g.args(false), nil}}
			if g.chance(40) {
				op.Clauses[1] = g.args(false)
			}
			r.Ops = append(r.Ops, op)
		}
	})
	return r
}

func (g *gen) op(depth int) *Op {
	op := &Op{Def: LookupOp("test.every"), Clauses: make([]Clause, len(clauseGens)), Loc: g.loc(0)}
	var ex *Exists
	g.scoped(func() {
		for i, clause := range clauseGens {
			block := i >= 15 && i <= 17
			if clause != nil && g.chance(35) && !(block && depth > 2) {
				op.Clauses[i] = clause(g, depth)
			}
		}
	})
	if g.chance(30) { // dims that later ops see
		ex = &Exists{}
		for range 1 + g.Intn(2) {
			g.dims++ // visible in the op's own regions too: never used twice
			d := ExDim{Name: fmt.Sprint("c", g.dims)}
			g.syms = append(g.syms, d.Name)
			d.Conds = g.conds(g.Intn(3))
			ex.Dims = append(ex.Dims, d)
		}
		op.Clauses[12] = ex
	}
	var types []Type
	for range g.Intn(4) {
		t := g.typ()
		if g.chance(15) {
			t = g.pattern()
		}
		types = append(types, t)
	}
	for _, t := range types {
		v := g.value(t)
		v.Def = op
		op.Results = append(op.Results, v)
	}
	return op
}

func (g *gen) loc(depth int) Loc {
	switch g.Intn(4) {
	case 0:
		return Loc{Node: "Relu \"3\"\n"}
	case 1:
		if depth < 2 {
			return Loc{Fused: []Loc{g.loc(depth + 1), g.loc(depth + 1)}}
		}
	}
	l := Loc{}
	l.Pos.File, l.Pos.Line, l.Pos.Col = "a b.tn", 1+g.Intn(50), g.Intn(50)
	return l
}

func randomModule(seed int64) *Module {
	g := &gen{Rand: rand.New(rand.NewSource(seed))}
	f32, i64 := Scalar{num.F32}, Scalar{num.I64}
	a, b := &Value{Name: "a", Type: f32}, &Value{Name: "b", Type: i64}
	yield := func(vs ...*Value) *Region {
		c := &Operands{}
		for _, v := range vs {
			c.Args = append(c.Args, ValueArg(v))
		}
		return &Region{Ops: []*Op{{Def: LookupOp("yield"), Clauses: []Clause{c, nil}}}}
	}
	g.enc = &Encoding{Name: "e", Dims: []string{"N"}, Elem: num.F32, Subs: []string{"n"}, Decode: yield(),
		Parts: []*Param{{Value: &Value{Name: "c", Type: Tensor{Elem: num.U8, Dims: []sym.Expr{sym.Name("N")}}}}}}
	x, y := &Value{Name: "x", Type: f32}, &Value{Name: "y", Type: i64}
	g.mon = &Monoid{Name: "m", Params: []*Value{a, b}, Comm: true, Identity: yield(),
		CombineParams: []*Value{x, y, {Name: "z", Type: f32}, {Name: "w", Type: i64}}, Combine: yield(x, y)}
	f := &Func{IsProc: g.chance(50), Level: LevelTensor, Name: "f", Dims: []string{"M", "N"}, Loc: g.loc(0)}
	g.syms = []string{"M", "N"}
	f.Params = []*Param{{Mode: ModeIn, Value: g.value(IndexType)}, {Mode: ModeIn, Value: g.value(g.pattern())}}
	for range g.Intn(4) {
		f.Params = append(f.Params, &Param{Mode: ModeIn, Const: g.chance(20), Value: g.value(g.typ())})
	}
	if g.chance(30) {
		f.Directives = []string{"parallel(i)"}
	}
	for _, k := range g.conds(g.Intn(3)) {
		f.Where = append(f.Where, Fact{Declared, k})
	}
	for i := 0; !f.IsProc && i < g.Intn(4); i++ {
		f.Results = append(f.Results, Result{Name: []string{"", "r"}[g.Intn(2)], Type: g.typ()})
	}
	f.Body = g.region(0)
	items := []Item{&Grid{"g", []string{"P", "Q"}}, f, g.mon, g.enc, &Extern{Name: "t", What: "cost"}}
	data := &Data{Name: "d", Type: Tensor{Elem: num.F32}}
	for range 3 {
		data.List = append(data.List, Literal{Elem: num.F32, Cell: num.FromBits(num.F32, uint64(g.Uint32()))})
	}
	return &Module{Items: append(items, data)}
}

// Parse(Print(m)) == m, with and without locations, for random modules over all
// kinds of clauses; a copy prints the same; no line is cut in a wrong place.
func TestRandomRoundTrip(t *testing.T) {
	for seed := range int64(120) {
		m := randomModule(seed)
		for _, opts := range [][]PrintOption{nil, {WithLocations()}} {
			text := Print(m, opts...)
			again, err := Parse("r.tnir", text)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if !Equal(m, again) {
				t.Fatalf("seed %d: Parse(Print(m)) is not m\n%s\n--- is\n%s", seed, text, Print(again, opts...))
			}
			if opts == nil && Print(again) != text {
				t.Fatalf("seed %d: printing is no fixed point\n%s\n--- then\n%s", seed, text, Print(again))
			}
			if Print(Clone(m), opts...) != text {
				t.Fatalf("seed %d: the clone prints otherwise\n%s", seed, Print(Clone(m), opts...))
			}
		}
	}
}

// Equal sees a change of any expression: modules of different seeds differ.
func TestRandomModulesDiffer(t *testing.T) {
	seen := map[string]int64{}
	for seed := range int64(40) {
		text := canonical(randomModule(seed))
		if old, ok := seen[text]; ok && strings.Count(text, "\n") > 30 {
			t.Errorf("seeds %d and %d give equal modules", old, seed)
		}
		seen[text] = seed
	}
}
