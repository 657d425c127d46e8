package interp

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// dimPlan is an ir.EntryPlan made ready to run: it binds the names in parameter
// types to the extents of arguments, and checks what they leave open.
type dimPlan struct {
	what     string // "@f", for messages
	plan     *ir.EntryPlan
	params   []*ir.Param
	sources  []int // slots of the sources
	bindings []boundDim
	checks   []func(*ir.Frame) bool
	late     []bool // checks of sizes that the shape program finds
	s        *stager
}

type boundDim struct {
	slot  int
	value func(*ir.Frame) int64
}

// planDims stages the entry plan of f.
func (s *stager) planDims(f *ir.Func) *dimPlan {
	plan, err := ir.Entry(f)
	if err != nil {
		raise(s.op, ir.TrapShape, "%v", err)
	}
	p := &dimPlan{what: "@" + f.Name, plan: plan, params: f.Params, s: s}
	for _, src := range plan.Sources {
		p.sources = append(p.sources, s.Symbol(src.Name))
	}
	for _, b := range plan.Bindings {
		p.bindings = append(p.bindings, boundDim{s.Symbol(b.Dim), s.Expr(b.Value)})
	}
	for _, c := range plan.Checks {
		p.checks = append(p.checks, s.Cond(c.Cond))
		p.late = append(p.late, usesAny([]sym.Expr{c.Cond.L, c.Cond.R}, f.ExDims))
	}
	return p
}

// extent is the size that src means. ok is false for an argument that is still
// to be made.
func extentOf(src ir.EntrySource, args []any) (n int64, ok bool) {
	switch a := args[src.Param].(type) {
	case nil:
		return 0, false
	case *ir.PatternValue:
		return [...]int64{a.Rows, a.Cols, a.NNZ()}[src.Dim], true
	case *ir.Encoded:
		return a.Parts[src.Part].Shape[src.Dim], true
	case *ir.Array:
		if src.Stride {
			return a.Strides[src.Dim], true
		}
		return a.Shape[src.Dim], true
	}
	diag.Bugf("%T has no extents", args[src.Param])
	return 0, false
}

// bind binds the dims and makes the checks.
func (p *dimPlan) bind(f *ir.Frame, args []any) *diag.Error {
	missing := map[int]bool{}
	for i, src := range p.plan.Sources {
		n, ok := extentOf(src, args)
		missing[i] = !ok
		f.S[p.sources[i]] = num.FromInt(n)
	}
	for i, b := range p.bindings {
		at := p.plan.Bindings[i]
		if missing[at.Source] {
			return &diag.Error{Msg: fmt.Sprintf("%s follows from %%%s of %s alone, which is not given",
				at.Dim, p.params[p.plan.Sources[at.Source].Param].Value.Name, p.what)}
		}
		f.S[b.slot] = num.FromInt(b.value(f))
		exact(f, b.slot)
	}
	for i, holds := range p.checks {
		c := p.plan.Checks[i]
		if !(c.Source >= 0 && (missing[c.Source] || p.late[i] || unusedStride(p.plan.Sources[c.Source], args))) && !holds(f) {
			return p.broken(c, f)
		}
	}
	return nil
}

// unusedStride: the stride of a dim of at most one element is never used.
func unusedStride(src ir.EntrySource, args []any) bool {
	a, ok := args[src.Param].(*ir.Array)
	return ok && src.Stride && (a.Shape[src.Dim] <= 1 || a.Size() == 0)
}

// broken words a check that failed.
func (p *dimPlan) broken(c ir.EntryCheck, f *ir.Frame) *diag.Error {
	if c.Source < 0 {
		err := &diag.Error{Msg: fmt.Sprintf("%s needs %s, which these arguments break%s", p.what, c.Cond, p.sizes(f, c))}
		return err.WithFix("pass arguments of sizes for which %s", c.Cond)
	}
	src := p.plan.Sources[c.Source]
	err := &diag.Error{Msg: fmt.Sprintf("%s of %%%s of %s is %d", extentName(src, p.params), p.params[src.Param].Value.Name, p.what,
		num.Int(f.S[p.sources[c.Source]]))}
	err.Expected = src.Extent.String()
	if _, isConst := src.Extent.IsConst(); !isConst {
		err.Expected += fmt.Sprintf(" = %d%s", p.s.Expr(src.Extent)(f), p.sizes(f, c))
	}
	return err
}

// extentName names the extent: "dim 1", "stride 0", "the number of rows".
func extentName(src ir.EntrySource, params []*ir.Param) string {
	_, isPattern := params[src.Param].Value.Type.(ir.Pattern)
	switch {
	case isPattern:
		return "the number of " + [...]string{"rows", "columns", "entries"}[src.Dim]
	case src.Stride:
		return fmt.Sprintf("stride %d", src.Dim)
	case src.Part >= 0:
		return fmt.Sprintf("dim %d of part %d", src.Dim, src.Part)
	}
	return fmt.Sprintf("dim %d", src.Dim)
}

// sizes lists the dims in a check and where they come from.
func (p *dimPlan) sizes(f *ir.Frame, c ir.EntryCheck) string {
	text := ""
	for i, b := range p.plan.Bindings {
		if !c.Cond.L.Uses(b.Dim) && !c.Cond.R.Uses(b.Dim) {
			continue
		}
		src := p.plan.Sources[b.Source]
		text += fmt.Sprintf("; %s = %d from %s of %%%s", b.Dim, num.Int(f.S[p.bindings[i].slot]), extentName(src, p.params),
			p.params[src.Param].Value.Name)
	}
	if text == "" {
		return ""
	}
	return " (" + text[2:] + ")"
}
