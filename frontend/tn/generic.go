package tn

import (
	"slices"
	"strings"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// checkGeneric elaborates a generic function of the file on stand-ins for its
// arguments, so that its faults are found though nothing calls it: an element
// type of the class, one dim for a pack. What comes out is thrown away.
func (p *program) checkGeneric(d *decl) {
	n := d.node.(*syntax.Fn)
	p.enterCall(n.Name, d)
	fn := &ir.Func{Level: ir.LevelTensor, Name: n.Name.Name, Loc: loc(n.Name), Body: &ir.Region{}}
	f := newFnState(p, fn)
	for i, tp := range n.TypeParams {
		f.scope.names[tp.Name.Name] = &binding{kind: bindElem, at: tp, elem: p.standIn(tp, i)}
		if !slices.ContainsFunc(n.Params, func(prm *syntax.Param) bool { return prm.Type.Name.Name == tp.Name.Name }) {
			p.try(func() {
				p.failWith(tp.Errorf("nothing says what the type %s is at a call", tp.Name.Name).
					WithExpected("a parameter of this type, such as x: %s[..P]", tp.Name.Name).WithFix("use it in a parameter, or remove it"))
			})
		}
	}
	for _, prm := range n.Params {
		if !p.try(func() { f.genericParam(prm) }) {
			f.scope.names[prm.Name.Name] = &binding{kind: bindBroken, at: prm}
		}
	}
	p.try(func() { f.where(n.Where) })
	if rs, returned := f.body(n, nil); returned {
		p.try(func() { f.holdResults(n, rs) })
	}
	p.stack = p.stack[:len(p.stack)-1]
}

// standIn is an element type of a type parameter's class, another one for each
// of two parameters.
func (p *program) standIn(tp *syntax.TypeParam, i int) num.Elem {
	ok := elemClass(tp.Class.Name)
	if ok == nil {
		p.failWith(tp.Class.Errorf("no class of types %s", tp.Class.Name).WithExpected("float, int, number or any"))
	}
	if ok(num.F32) {
		return []num.Elem{num.F32, num.F64}[i%2]
	}
	return []num.Elem{num.I32, num.I64}[i%2]
}

// genericParam declares a parameter whose packs are one dim.
func (f *fnState) genericParam(p *syntax.Param) {
	if patternKinds[p.Type.Name.Name] || quantKinds[p.Type.Name.Name] || p.Type.Dims == nil {
		f.param(p, false)
		return
	}
	e := stored(f.elem(p.Type.Name))
	f.edgeFirst(p.Type.Dims.List)
	var dims []sym.Expr
	packs := 0
	for _, s := range p.Type.Dims.List {
		if s.Pack != "" {
			if packs++; packs > 1 {
				f.p.failWith(s.Errorf("a parameter has one pack at most").WithFix("one pack stands for any number of dims"))
			}
			name := "dim_" + strings.ToLower(s.Pack)
			f.scope.names["dims.."+s.Pack] = &binding{kind: bindPack, at: s, dims: []dim{{ext: sym.Name(name), row: -1}}}
			s = &syntax.Sub{Span: s.Span, X: &syntax.Name{Span: s.Span, Name: name}}
		}
		dims = append(dims, f.dimExpr(s, true))
	}
	v := &ir.Value{Name: f.names.val(p.Name.Name), Type: ir.Tensor{Elem: e, Dims: dims}}
	f.addParam(ir.ModeIn, p.Const, v)
	f.scope.names[p.Name.Name] = &binding{kind: bindTensor, at: p, tensor: &tensor{val: v, elem: e, axes: denseDims(f, dims)}}
}

// checkMonoid elaborates a monoid of the file that nothing may use.
func (p *program) checkMonoid(m *syntax.Monoid) {
	e := num.F32
	if len(m.TypeParams) > 0 {
		e = p.standIn(m.TypeParams[0], 0)
	}
	f := newFnState(p, &ir.Func{Level: ir.LevelTensor, Body: &ir.Region{}})
	mon := p.monoid(f, m, e, m)
	s := &site{f: f, region: &ir.Region{}, names: f.names, cache: map[string]*ir.Value{}}
	inner := s.monoidScope(m, e)
	if m.Inject != nil && m.Inject.Body.Values != nil && len(m.Inject.Body.Values.List) != len(mon.Params) {
		p.failWith(m.Inject.Errorf("inject gives %s, and %s has %s", count(len(m.Inject.Body.Values.List), "value"), m.Name.Name, count(len(mon.Params), "component")))
	}
	if elems := injectElems(m, mon.Elems()); elems != nil {
		s.scope = inner
		s.bindParams(m.Inject.Params, elems)
		s.within(inner).monoidBody(m.Inject.Body, mon.Elems())
	}
	if m.Result != nil {
		var comps []val
		for _, prm := range mon.Params {
			comps = append(comps, val{prm, ir.ElemOf(prm.Type)})
		}
		s.monoidResult(nil, m, comps, e, e)
	}
}

// injectElems guesses the types of what m's inject takes, which only a use says:
// a name has the type of the component whose value it stands in. nil: there is
// no inject, or it must wait for a use.
func injectElems(m *syntax.Monoid, comps []num.Elem) []num.Elem {
	if m.Inject == nil || m.Inject.Body.Values == nil || len(m.Inject.Body.Values.List) != len(comps) {
		return nil
	}
	found := map[string]num.Elem{}
	for i, v := range m.Inject.Body.Values.List {
		syntax.Walk(v, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Call); ok && (castElem(c.Fn.Name) != num.Invalid || c.Fn.Name == "select") {
				return false
			}
			if x, ok := n.(*syntax.Name); ok && found[x.Name] == num.Invalid {
				found[x.Name] = comps[i]
			}
			return true
		})
	}
	var out []num.Elem
	for _, p := range m.Inject.Params {
		if found[p.Name] == num.Invalid {
			return nil
		}
		out = append(out, found[p.Name])
	}
	return out
}
