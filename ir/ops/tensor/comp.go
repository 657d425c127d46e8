package tensor

import (
	"fmt"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

const compName = "tensor.comp"

// CompOp is the comprehension's row; ir-text's section 2 is its meaning.
var CompOp = ir.Register(&ir.OpDef{
	Name: compName,
	Doc: "for each point of par, the region's values, or their fold over red\n" +
		"tensor.comp [par(..)] [red(..)] [if(..)] [in(..)] [out(..)] { scalar region } [by ..] [: types]",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindAxes, KW: "par", Optional: true},
		{Kind: ir.KindAxes, KW: "red", Optional: true},
		{Kind: ir.KindConds, KW: "if", Optional: true},
		{Kind: ir.KindReads, KW: "in", Optional: true},
		{Kind: ir.KindOuts, KW: "out", Optional: true},
		{Kind: ir.KindBlock},
		{Kind: ir.KindBy, KW: "by", Optional: true},
	},
	Traits:  ir.Reduces,
	Infer:   inferComp,
	Verify:  verifyComp,
	Effects: compEffects,
	Eval:    stageComp,
})

// Comp is a view of a tensor.comp: its clauses, with absent ones empty. The
// slices are the op's own; to add or remove entries, set the clause.
type Comp struct {
	Op   *ir.Op
	Par  []ir.Axis
	Red  []ir.Axis
	If   []sym.Cond
	In   []ir.Read
	Out  *ir.Outs // nil: value form with all par axes
	Body *ir.Region
	By   *ir.By // nil: no reduction
}

// AsComp views op, which must be a tensor.comp; IsComp tells.
func AsComp(op *ir.Op) Comp {
	c := Comp{Op: op, Out: ir.GetClause[*ir.Outs](op, "out"), By: ir.GetClause[*ir.By](op, "by")}
	if x := ir.GetClause[*ir.Axes](op, "par"); x != nil {
		c.Par = x.List
	}
	if x := ir.GetClause[*ir.Axes](op, "red"); x != nil {
		c.Red = x.List
	}
	if x := ir.GetClause[*ir.Conds](op, "if"); x != nil {
		c.If = x.List
	}
	if x := ir.GetClause[*ir.Reads](op, "in"); x != nil {
		c.In = x.List
	}
	if b := ir.GetClause[*ir.Block](op, ""); b != nil {
		c.Body = b.Region
	}
	return c
}

// IsComp reports whether op is a tensor.comp.
func IsComp(op *ir.Op) bool { return op.Def.Name == compName }

// New makes a tensor.comp from a view; absent parts are left out. Its results
// come from Builder.Add or ir.Finish.
func New(loc ir.Loc, c Comp) *ir.Op {
	def := ir.MustOp(compName)
	op := &ir.Op{Def: def, Loc: loc, Clauses: make([]ir.Clause, len(def.Clauses))}
	if len(c.Par) > 0 {
		ir.SetClause(op, "par", &ir.Axes{List: c.Par})
	}
	if len(c.Red) > 0 {
		ir.SetClause(op, "red", &ir.Axes{List: c.Red})
	}
	if len(c.If) > 0 {
		ir.SetClause(op, "if", &ir.Conds{List: c.If})
	}
	if len(c.In) > 0 {
		ir.SetClause(op, "in", &ir.Reads{List: c.In})
	}
	if c.Out != nil {
		ir.SetClause(op, "out", c.Out)
	}
	ir.SetClause(op, "", &ir.Block{Region: c.Body})
	if c.By != nil {
		ir.SetClause(op, "by", c.By)
	}
	return op
}

// InBuffers reports whether the comp is in buffer form.
func (c Comp) InBuffers() bool {
	return c.Out != nil && len(c.Out.List) > 0 && c.Out.List[0].Buf != nil
}

// Yields are the values the region gives.
func (c Comp) Yields() []*ir.Value {
	if c.Body == nil {
		return nil
	}
	return c.Body.Yields()
}

// Axes are the par axes followed by the red ones: the domain, outermost first.
func (c Comp) Axes() []ir.Axis { return append(slices.Clone(c.Par), c.Red...) }

// Names are the names that an axis binds: i, or j and e.
func Names(a ir.Axis) []string {
	if a.Pattern != nil {
		return []string{a.Name, a.Entry}
	}
	return []string{a.Name}
}

// UsesAxes reports whether e mentions any of the axes.
func UsesAxes(e sym.Expr, axes []ir.Axis) bool {
	for _, a := range axes {
		for _, n := range Names(a) {
			if e.Uses(n) {
				return true
			}
		}
	}
	return false
}

// RedFree are the conditions that mention no red axis: they decide whether a
// point of par has any work (and, in buffer form, is written).
func (c Comp) RedFree() []sym.Cond {
	var out []sym.Cond
	for _, k := range c.If {
		if !UsesAxes(k.L, c.Red) && !UsesAxes(k.R, c.Red) {
			out = append(out, k)
		}
	}
	return out
}

// nnzOf is the edge dim of the pattern that v is.
func nnzOf(v *ir.Value) (sym.Expr, error) {
	p, ok := v.Type.(ir.Pattern)
	if !ok {
		return sym.Expr{}, fmt.Errorf("%%%s is %s, not a pattern", v.Name, v.Type)
	}
	return sym.NNZ(p.ID), nil
}

// resultAxes are the par axes that value-form result r covers.
func (c Comp) resultAxes(r int) ([]ir.Axis, error) {
	if c.Out == nil {
		return c.Par, nil
	}
	var axes []ir.Axis
	for _, e := range c.Out.List[r].Subs {
		n, ok := e.IsName()
		at := -1
		if ok {
			at = slices.IndexFunc(c.Par, func(a ir.Axis) bool { return slices.Contains(Names(a), n) })
		}
		switch {
		case at < 0:
			return nil, fmt.Errorf("out lists par axes in value form; %s is none", e)
		case c.Par[at].Pattern != nil && n == c.Par[at].Name:
			return nil, fmt.Errorf("out lists the entry %s, not the column %s", c.Par[at].Entry, n)
		case slices.ContainsFunc(axes, func(a ir.Axis) bool { return a.Name == c.Par[at].Name }):
			return nil, fmt.Errorf("out lists axis %s twice", e)
		}
		axes = append(axes, c.Par[at])
	}
	return axes, nil
}

// shape is the shape over axes: a row axis and the entry axis just behind it
// make one dim, nnz#p.
func shape(axes []ir.Axis) ([]sym.Expr, error) {
	var dims []sym.Expr
	for i, a := range axes {
		if a.Pattern == nil {
			dims = append(dims, a.Extent)
			continue
		}
		nnz, err := nnzOf(a.Pattern)
		if err != nil {
			return nil, err
		}
		row, isName := a.Row.IsName()
		if i > 0 && axes[i-1].Pattern == nil && isName && row == axes[i-1].Name {
			dims = dims[:len(dims)-1]
		}
		if len(dims) > 0 {
			return nil, fmt.Errorf("the entries %s:%s make a dim nnz, which must come first", a.Name, a.Entry)
		}
		dims = append(dims, nnz)
	}
	return dims, nil
}

// components are the result element types: the monoid's, or the yields'.
func (c Comp) components() []num.Elem {
	if c.By != nil {
		return c.By.Monoid.Elems()
	}
	var es []num.Elem
	for _, v := range c.Yields() {
		es = append(es, ir.ElemOf(v.Type))
	}
	return es
}

func inferComp(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	c := AsComp(op)
	if c.Body == nil || c.Body.Last() == nil {
		return nil, fmt.Errorf("the region of a comp ends in a yield")
	}
	elems := c.components()
	if err := resolveEmpty(c.By, elems); err != nil {
		return nil, err
	}
	if c.InBuffers() {
		return nil, nil
	}
	if c.Out != nil && len(c.Out.List) != len(elems) {
		return nil, fmt.Errorf("out has %d lists for %d results", len(c.Out.List), len(elems))
	}
	types := make([]ir.Type, len(elems))
	for r, e := range elems {
		axes, err := c.resultAxes(r)
		if err != nil {
			return nil, err
		}
		dims, err := shape(axes)
		if err != nil {
			return nil, err
		}
		types[r] = ir.Tensor{Elem: e, Dims: dims}
		if len(c.Par) == 0 && c.Out == nil && wantsScalar(declared, r) {
			types[r] = ir.Scalar{Elem: e}
		}
	}
	return types, nil
}

// wantsScalar tells a nested comp, which yields scalars, from one that gives
// tensors of rank 0: by the written type, and without one it is nested.
func wantsScalar(declared []ir.Type, r int) bool {
	if r >= len(declared) {
		return true
	}
	_, isTensor := declared[r].(ir.Tensor)
	return !isTensor
}

func resolveEmpty(by *ir.By, elems []num.Elem) error {
	if by == nil || by.Empty == nil {
		return nil
	}
	if len(by.Empty) != len(elems) {
		return fmt.Errorf("empty gives %d values for a monoid of %d components", len(by.Empty), len(elems))
	}
	for i := range by.Empty {
		if err := by.Empty[i].Resolve(elems[i]); err != nil {
			return err
		}
	}
	return nil
}

func compEffects(op *ir.Op) []ir.Effect {
	c := AsComp(op)
	var fx []ir.Effect
	for _, r := range c.In {
		if _, ok := r.Src.Type.(ir.Buf); ok {
			fx = append(fx, ir.Effect{Kind: ir.EffectRead, Value: r.Src})
		}
	}
	if !c.InBuffers() {
		return fx
	}
	for _, o := range c.Out.List {
		fx = append(fx, ir.Effect{Kind: ir.EffectWrite, Value: o.Buf})
		if c.By != nil && c.By.FromOut {
			fx = append(fx, ir.Effect{Kind: ir.EffectRead, Value: o.Buf})
		}
	}
	return fx
}
