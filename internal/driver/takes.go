package driver

import (
	"fmt"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// taker takes the inputs of one parameter (of two, for a pattern and its
// values).
type taker interface {
	names() []string         // that --in may use
	missing(g *given) string // what is missing, "" if nothing
	describe() string
	load(c *Call, g *given) error
}

// takersOf makes a taker for each input of f, in order.
func takersOf(f *ir.Func) []taker {
	var ts []taker
	for i := 0; i < len(f.Params); i++ {
		p := f.Params[i]
		one := single{i, p}
		switch t := p.Value.Type.(type) {
		case ir.Scalar:
			ts = append(ts, &scalarTaker{one, t})
		case ir.Tensor:
			if t.Enc != nil {
				ts = append(ts, &encodedTaker{one, t})
			} else {
				ts = append(ts, &arrayTaker{one, t.Elem, t.Dims})
			}
		case ir.Buf:
			if p.Mode != ir.ModeOut {
				ts = append(ts, &bufTaker{arrayTaker{one, t.Elem, t.Dims}, t})
			}
		case ir.Pattern:
			s := &sparseTaker{single: one, pattern: t}
			if i+1 < len(f.Params) && s.isData(f.Params[i+1]) {
				i++
				s.data = f.Params[i]
			}
			ts = append(ts, s)
		default:
			diag.Bugf("parameter %s of %s has the type %s", p.Value.Name, f.Name, t)
		}
	}
	return ts
}

// single is a parameter that one --in fills.
type single struct {
	index int
	param *ir.Param
}

func (s *single) name() string    { return s.param.Value.Name }
func (s *single) names() []string { return []string{s.name()} }

func (s *single) missing(g *given) string {
	if g.has(s.name()) {
		return ""
	}
	return fmt.Sprintf("the input %s is missing", s.name())
}

type scalarTaker struct {
	single
	typ ir.Scalar
}

func (t *scalarTaker) describe() string { return t.name() + ": " + t.typ.String() }

func (t *scalarTaker) load(c *Call, g *given) error {
	a, err := g.values[t.name()].Load(weights.Want{Name: t.name(), Elem: t.typ.Elem, Rank: 0})
	if err != nil {
		return err
	}
	c.Args[t.index].Cell = a.At()
	return nil
}

type arrayTaker struct {
	single
	elem num.Elem
	dims []sym.Expr
}

func (t *arrayTaker) describe() string {
	return fmt.Sprintf("%s: %s[%s]", t.name(), t.elem, exprList(t.dims))
}

func (t *arrayTaker) load(c *Call, g *given) error {
	a, err := g.values[t.name()].Load(weights.Want{Name: t.name(), Elem: t.elem, Rank: len(t.dims)})
	if err != nil {
		return err
	}
	c.Args[t.index].Array = a
	c.addExtents(t.name(), t.dims, a.Shape)
	return nil
}

// bufTaker takes a buffer that a proc reads; the array is handed over in C
// order, which settles the strides.
type bufTaker struct {
	arrayTaker
	typ ir.Buf
}

func (t *bufTaker) describe() string {
	return fmt.Sprintf("%s: %s %s[%s]", t.name(), t.param.Mode, t.elem, exprList(t.dims))
}

func (t *bufTaker) load(c *Call, g *given) error {
	if err := t.arrayTaker.load(c, g); err != nil {
		return err
	}
	strides := ir.CStrides(c.Args[t.index].Array.Shape)
	for d, x := range t.typ.Strides {
		c.extents = append(c.extents, extent{fmt.Sprintf("stride %d of %s", d, t.name()), x, strides[d]})
	}
	return nil
}

func exprList(es []sym.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}
