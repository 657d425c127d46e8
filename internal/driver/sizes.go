package driver

import (
	"errors"
	"fmt"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// extent is a size that an argument has and what the parameter's type says it
// is. label is as in "dim 1 of x".
type extent struct {
	label string
	expr  sym.Expr
	size  int64
}

func (c *Call) addExtents(name string, dims []sym.Expr, shape []int64) {
	for d, x := range dims {
		c.extents = append(c.extents, extent{fmt.Sprintf("dim %d of %s", d, name), x, shape[d]})
	}
}

// bindSizes gives every dim its value, from --in N=.. first, then from the
// arrays; checks what they say twice, and the declared facts; and makes what
// needed the sizes: out buffers, patterns.
func (c *Call) bindSizes(g *given) error {
	from := map[string]string{} // where a size was found, for messages
	for _, d := range c.Func.Dims {
		v, ok := g.values[d]
		if !ok || c.isParam(d) {
			continue
		}
		a, err := v.Load(weights.Want{Name: d, Elem: num.Index, Rank: 0})
		if err != nil {
			return err
		}
		n := num.Int(a.At())
		if n < 0 {
			return diag.Errorf(diag.Pos{}, "input %s: the size is %d", d, n).WithExpected("0 or more")
		}
		c.Sizes[d], from[d] = n, "--in "+d
	}
	c.solve(from)
	if err := c.compare(from); err != nil {
		return err
	}
	if err := c.facts(); err != nil {
		return err
	}
	if err := c.makePatterns(); err != nil {
		return err
	}
	return c.makeOuts()
}

func (c *Call) isParam(name string) bool {
	for _, p := range c.Func.Params {
		if p.Value.Name == name {
			return true
		}
	}
	return false
}

// solve binds names that stand alone first, in order, then whatever has one
// unknown left, until nothing more can be bound.
func (c *Call) solve(from map[string]string) {
	bind := func(name string, n int64, label string) {
		c.Sizes[name], from[name] = n, label
	}
	for _, x := range c.extents {
		if n, ok := x.expr.IsName(); ok && !c.known(n) {
			bind(n, x.size, x.label)
		}
	}
	for again := true; again; {
		again = false
		for _, x := range c.extents {
			if name := c.onlyUnknown(x.expr); name != "" {
				if n, ok := c.unknownIn(x, name); ok {
					bind(name, n, x.label)
					again = true
				}
			}
		}
	}
}

// env gives sizes and integer arguments their values.
func (c *Call) env() sym.Env {
	return sym.Env{
		Name: func(n string) (int64, bool) { v, ok := c.Sizes[n]; return v, ok },
		Val: func(r sym.Ref) (int64, bool) {
			for i, p := range c.Func.Params {
				if t, ok := p.Value.Type.(ir.Scalar); ok && p.Value.Name == r.RefName() && t.Elem.IsInt() {
					return num.Int(c.Args[i].Cell), true
				}
			}
			return 0, false
		},
	}
}

// written is a size or a fact as the program writes it: the IR marks scalars
// with %, and has its own words for quotient and remainder.
func written(x fmt.Stringer) string {
	return strings.NewReplacer("%", "", "//", "/", " mod ", " % ").Replace(x.String())
}

// scalarsIn lists the arguments that x mentions, with their values.
func (c *Call) scalarsIn(xs ...sym.Expr) []string {
	var out []string
	for _, x := range xs {
		for _, r := range x.Refs() {
			if n, ok := c.env().Val(r); ok {
				out = append(out, fmt.Sprintf("%s = %d", r.RefName(), n))
			}
		}
	}
	return out
}

func (c *Call) known(name string) bool { _, ok := c.Sizes[name]; return ok }

func (c *Call) onlyUnknown(x sym.Expr) string {
	only := ""
	for _, n := range x.Names() {
		if c.known(n) {
			continue
		}
		if only != "" {
			return ""
		}
		only = n
	}
	return only
}

// unknownIn solves x.expr == x.size for name where it is linear in it, or an
// exact quotient of such a term (codes of 8 values each). Whether the quotient
// is exact is for the comparison that follows, and the declared facts.
func (c *Call) unknownIn(x extent, name string) (int64, bool) {
	left, right := x.expr, x.size
	if a, ok := left.IsAtom(); ok && a.Kind == sym.AtomFloorDiv {
		d, isConst := a.Args[1].IsConst()
		if !isConst || right > (1<<62)/d {
			return 0, false
		}
		left, right = a.Args[0], right*d
	}
	coef, rest, ok := left.Linear(name)
	k, isConst := coef.IsConst()
	r, err := rest.Eval(c.env())
	if !ok || !isConst || k == 0 || err != nil {
		return 0, false
	}
	return (right - r) / k, true
}

// compare holds every extent against the sizes.
func (c *Call) compare(from map[string]string) error {
	var errs diag.List
	for _, x := range c.extents {
		want, err := x.expr.Eval(c.env())
		if errors.Is(err, sym.ErrOverflow) {
			errs = append(errs, diag.Errorf(diag.Pos{}, "%s: %s overflows 64 bits", x.label, written(x.expr)).WithFix("use smaller sizes"))
		}
		if err != nil || want == x.size {
			continue
		}
		e := diag.Errorf(diag.Pos{}, "%s is %d", x.label, x.size)
		e.Expected = fmt.Sprint(want)
		if _, isConst := x.expr.IsConst(); !isConst {
			e.Expected = fmt.Sprintf("%s = %d, %s", written(x.expr), want, c.why(x.expr, from))
		}
		errs = append(errs, e.WithFix("pass arrays whose sizes agree; --in takes a part with a slice, as in x.npy[:100]"))
	}
	return errs.Err()
}

// why says where the sizes in x come from.
func (c *Call) why(x sym.Expr, from map[string]string) string {
	if n, ok := x.IsName(); ok {
		return "by " + from[n]
	}
	if v, ok := x.IsVal(); ok {
		return "by --in " + v.RefName()
	}
	var parts []string
	for _, s := range c.scalarsIn(x) {
		parts = append(parts, "with "+s)
	}
	for _, n := range x.Names() {
		parts = append(parts, fmt.Sprintf("with %s = %d by %s", n, c.Sizes[n], from[n]))
	}
	return strings.Join(parts, ", ")
}

// facts checks what the function declares of its sizes, and what the storage
// of its parameters needs.
func (c *Call) facts() error {
	var errs diag.List
	for _, w := range c.declared() {
		holds, err := w.Cond.Eval(c.env())
		if err != nil || holds {
			continue // a size that is not known yet is checked where it is found
		}
		sizes := c.scalarsIn(w.Cond.L, w.Cond.R)
		for _, n := range append(w.Cond.L.Names(), w.Cond.R.Names()...) {
			sizes = append(sizes, fmt.Sprintf("%s = %d", n, c.Sizes[n]))
		}
		fix := "pass arrays of other sizes"
		if len(w.Cond.L.Names())+len(w.Cond.R.Names()) == 0 {
			fix = "give another value"
		}
		errs = append(errs, diag.Errorf(diag.Pos{}, "%s needs %s, and %s", c.Func.Name, written(w.Cond), strings.Join(sizes, ", ")).WithFix("%s", fix))
	}
	return errs.Err()
}

func (c *Call) declared() []ir.Fact {
	var fs []ir.Fact
	for _, w := range c.Func.Where {
		if w.Provenance == ir.Declared {
			fs = append(fs, w)
		}
	}
	for _, p := range c.Func.Params {
		t, ok := p.Value.Type.(ir.Tensor)
		if !ok || t.Enc == nil {
			continue
		}
		m := ir.EncodingDims(t)
		for _, w := range t.Enc.Where {
			w.Cond = m.Cond(w.Cond)
			fs = append(fs, w)
		}
	}
	return fs
}

// shape evaluates dims; what they need and nothing gives is named.
func (c *Call) shape(what string, dims []sym.Expr) ([]int64, error) {
	out := make([]int64, len(dims))
	for i, x := range dims {
		for _, n := range x.Names() {
			if !c.known(n) {
				return nil, diag.Usagef("the size %s of %s does not follow from the inputs; give it with --in %s=...", n, what, n)
			}
		}
		n, err := x.Eval(c.env())
		if err == nil && n < 0 {
			err = fmt.Errorf("it is %d", n)
		}
		if err != nil {
			return nil, diag.Errorf(diag.Pos{}, "dim %d of %s, %s: %v", i, what, written(x), err).WithFix("use other sizes")
		}
		out[i] = n
	}
	return out, nil
}

// makeOuts makes the buffers that a proc writes.
func (c *Call) makeOuts() error {
	for i, p := range c.Func.Params {
		b, ok := p.Value.Type.(ir.Buf)
		if !ok || p.Mode != ir.ModeOut {
			continue
		}
		shape, err := c.shape(p.Value.Name, b.Dims)
		if err != nil {
			return err
		}
		if c.Args[i].Array, err = weights.New(b.Elem, shape); err != nil {
			return diag.Errorf(diag.Pos{}, "output %s: %v", p.Value.Name, err).WithFix("use smaller sizes")
		}
	}
	return nil
}
