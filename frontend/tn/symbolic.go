package tn

import (
	"strconv"

	"tenon/frontend/tn/syntax"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// symbolic reads e as an index expression: indices, dims, index scalars and
// integers under + - * floordiv mod min max. `/` and `%`, which truncate, count
// where both sides are known not to be negative, since there they floor. A
// product of indices or scalars is no index expression: it is computed.
func (s *site) symbolic(e syntax.Expr) (sym.Expr, bool) {
	x, ok := s.symbolicParts(e)
	if ok && x.Overflowed() {
		s.f.p.failWith(e.Errorf("this overflows 64 bits").WithExpected("an index expression whose constants fit an i64"))
	}
	return x, ok && !s.f.multiplies(x)
}

// multiplies reports that e multiplies indices or scalars with each other,
// which index expressions of the IR do not.
func (f *fnState) multiplies(e sym.Expr) bool {
	for _, t := range e.Terms() {
		moving := 0
		for _, a := range t.Factors {
			x := a.Expr()
			if f.runtimeNames(x) || len(x.Refs()) > 0 {
				moving++
			}
		}
		if moving > 1 {
			return true
		}
	}
	return false
}

func (s *site) symbolicParts(e syntax.Expr) (sym.Expr, bool) {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Lit:
		n, err := strconv.ParseInt(e.Text, 0, 64)
		return sym.Const(n), e.Kind == syntax.IntLit && err == nil
	case *syntax.Name:
		return s.symbolicName(e)
	case *syntax.Unary:
		x, ok := s.symbolic(e.X)
		return sym.Neg(x), ok && e.Op == "-"
	case *syntax.Binary:
		x, okX := s.symbolic(e.X)
		if !okX {
			return sym.Expr{}, false
		}
		y, okY := s.symbolic(e.Y)
		if !okY {
			return sym.Expr{}, false
		}
		return s.symbolicBinary(e.Op, x, y)
	case *syntax.Call:
		return s.symbolicCall(e)
	}
	return sym.Expr{}, false
}

func (s *site) symbolicName(n *syntax.Name) (sym.Expr, bool) {
	b := s.scope.find(n.Name)
	switch {
	case b == nil:
		return sym.Expr{}, false
	case b.kind == bindIndex:
		return b.index.value, true
	case b.kind == bindDim:
		return s.f.canon(b.expr), true
	case b.kind == bindScalar && b.scalar.elem == num.Index && b.scalar.v != nil:
		return sym.Val(b.scalar.v), true
	}
	return sym.Expr{}, false
}

func (s *site) symbolicBinary(op string, x, y sym.Expr) (sym.Expr, bool) {
	switch op {
	case "+":
		return sym.Add(x, y), true
	case "-":
		return sym.Sub(x, y), true
	case "*":
		return sym.Mul(x, y), true
	case "/", "%":
		if !s.positive(y) || !s.nonNegative(x) {
			return sym.Expr{}, false
		}
		if op == "/" {
			return sym.FloorDiv(x, y), true
		}
		return sym.Mod(x, y), true
	}
	return sym.Expr{}, false
}

// explain says in bad which division or product of e keeps it from being an
// index expression, if one does.
func (s *site) explain(e syntax.Expr, bad *diag.Error) {
	syntax.Walk(e, func(n syntax.Node) bool {
		b, ok := n.(*syntax.Binary)
		if !ok || b.Op != "/" && b.Op != "%" && b.Op != "*" {
			return true
		}
		x, okX := s.symbolic(b.X)
		y, okY := s.symbolic(b.Y)
		switch {
		case !okX || !okY:
		case b.Op == "*":
			if s.f.multiplies(sym.Mul(x, y)) {
				bad.WithFix("%s and %s are both indices or scalars: at most one factor of a product may be", exprText(b.X), exprText(b.Y))
			}
		case !s.positive(y) && isLiteral(b.Y):
			bad.WithFix("divide by an integer of 1 or more")
		case !s.positive(y):
			bad.WithFix("add the fact %s >= 1: a divisor must be known to be positive", exprText(b.Y))
		case !s.nonNegative(x):
			bad.WithFix("`%s` truncates: write %s(%s, %s), or add the fact %s >= 0", b.Op,
				map[string]string{"/": "floordiv", "%": "mod"}[b.Op], exprText(b.X), exprText(b.Y), exprText(b.X))
		}
		return true
	})
}

func (s *site) symbolicCall(c *syntax.Call) (sym.Expr, bool) {
	if c.Fn.Name == "index" && len(c.Args) == 1 {
		return s.symbolic(c.Args[0].X)
	}
	if len(c.Args) != 2 || c.Args[0].Name != nil || c.Args[1].Name != nil {
		return sym.Expr{}, false
	}
	x, okX := s.symbolic(c.Args[0].X)
	y, okY := s.symbolic(c.Args[1].X)
	if !okX || !okY {
		return sym.Expr{}, false
	}
	switch c.Fn.Name {
	case "min":
		return sym.Min(x, y), true
	case "max":
		return sym.Max(x, y), true
	case "floordiv":
		return sym.FloorDiv(x, y), s.positive(y)
	case "mod":
		return sym.Mod(x, y), s.positive(y)
	}
	return sym.Expr{}, false
}

// nonNegative and positive are proved from the function's facts and the ranges
// of the indices in scope.
func (s *site) nonNegative(e sym.Expr) bool { return s.prove(sym.Ge(e, sym.Const(0))) }
func (s *site) positive(e sym.Expr) bool    { return s.prove(sym.Ge(e, sym.Const(1))) }

func (s *site) prove(c sym.Cond) bool {
	fs := s.f.facts().Clone()
	for sc := s.scope; sc != nil; sc = sc.up {
		for _, name := range sortedKeys(sc.names) {
			b := sc.names[name]
			if b.kind == bindIndex && b.index.axis.Name != "" { // a loop's index is in facts()
				axis := sym.Name(b.index.axis.Name)
				fs.Add(sym.Ge(axis, sym.Const(0)))
				fs.Add(sym.Lt(axis, b.index.ext))
			}
		}
	}
	return fs.Prove(c)
}

var relations = map[string]sym.Rel{"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

// condition reads a comparison of index expressions.
func (s *site) condition(e syntax.Expr) (sym.Cond, bool) {
	b, ok := syntax.Unparen(e).(*syntax.Binary)
	if !ok || relations[b.Op] == "" {
		return sym.Cond{}, false
	}
	x, okX := s.symbolic(b.X)
	y, okY := s.symbolic(b.Y)
	return sym.Cond{L: x, Rel: relations[b.Op], R: y}, okX && okY
}

// subscript reads a subscript: an index expression, or one plus a single
// integer element with coefficient 1 (a gather, done as a read before this
// one). Anything else is computed in the region, and ok is false.
func (s *site) subscript(e syntax.Expr) (sym.Expr, bool) {
	if x, ok := s.symbolic(e); ok {
		return x, true
	}
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Index:
		if s.isIntRead(e) && !s.buffers {
			return s.gathered(e)
		}
	case *syntax.Call: // index(g[m]), i64(g[m]): the value is the same
		if el := castElem(e.Fn.Name); (el == num.Index || el == num.I64) && len(e.Args) == 1 {
			return s.subscript(e.Args[0].X)
		}
	case *syntax.Name:
		if b := s.scope.find(e.Name); b != nil && b.kind == bindTensor && len(b.tensor.axes) == 0 && b.tensor.elem.IsInt() && !s.buffers {
			return sym.Val(s.read(e, b.tensor, nil, ir.PolicyError)), true
		}
		if b := s.scope.find(e.Name); b != nil && b.kind == bindScalar && b.scalar.elem.IsInt() && s.reads != nil && s.outside(b.scalar.v) {
			return sym.Val(b.scalar.v), true
		}
	case *syntax.Binary:
		return s.gatherSum(e)
	}
	return sym.Expr{}, false
}

// gathered reads an integer element among the site's reads; ok is false where
// its own subscripts must be computed, since then so must this one.
func (s *site) gathered(e *syntax.Index) (sym.Expr, bool) {
	t := s.tensorOf(e.X)
	if t.scalar != nil {
		s.align(e, t)
		return sym.Val(t.scalar.v), s.outside(t.scalar.v)
	}
	subs := s.subscripts(e, t)
	if subs == nil {
		return sym.Expr{}, false
	}
	if e.Policy == "" {
		s.inRange(e.Subs, t, subs, outside)
	}
	return sym.Val(s.read(e, t, subs, policies[e.Policy])), true
}

// gatherSum reads `affine + g[..]`, `g[..] + affine` and `g[..] - affine`.
func (s *site) gatherSum(e *syntax.Binary) (sym.Expr, bool) {
	if e.Op != "+" && e.Op != "-" {
		return sym.Expr{}, false
	}
	if y, ok := s.symbolic(e.Y); ok {
		x, ok := s.subscript(e.X)
		if e.Op == "-" {
			y = sym.Neg(y)
		}
		return sym.Add(x, y), ok
	}
	if x, ok := s.symbolic(e.X); ok && e.Op == "+" {
		y, ok := s.subscript(e.Y)
		return sym.Add(x, y), ok
	}
	return sym.Expr{}, false
}

// isIntRead reports that e reads an integer element of a tensor.
func (s *site) isIntRead(e *syntax.Index) bool {
	n, ok := syntax.Unparen(e.X).(*syntax.Name)
	if !ok {
		return false
	}
	b := s.scope.find(n.Name)
	return b != nil && b.kind == bindTensor && b.tensor.elem.IsInt()
}

// outside reports that v was defined before this site's comp, so that its reads
// may use it in a subscript.
func (s *site) outside(v *ir.Value) bool {
	for _, op := range s.region.Ops {
		for _, r := range op.Results {
			if r == v {
				return false
			}
		}
	}
	return true
}
