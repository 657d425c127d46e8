package driver

import (
	"fmt"
	"strings"

	"tenon/frontend/weights"
	"tenon/ir"
)

// encodedTaker takes a tensor in a storage encoding, w=FILE with the parts as
// members, or w.codes=.. w.codebooks=.. one by one.
type encodedTaker struct {
	single
	typ ir.Tensor
}

func (t *encodedTaker) part(i int) string { return t.name() + "." + t.typ.Enc.Parts[i].Value.Name }

func (t *encodedTaker) names() []string {
	names := []string{t.name()}
	for i := range t.typ.Enc.Parts {
		names = append(names, t.part(i))
	}
	return names
}

func (t *encodedTaker) missing(g *given) string {
	var lack []string
	for _, n := range t.names()[1:] {
		if !g.has(n) {
			lack = append(lack, n)
		}
	}
	whole, all := g.has(t.name()), len(lack) == len(t.typ.Enc.Parts)
	switch {
	case whole && !all:
		return fmt.Sprintf("%s is given whole and in parts; give one or the other", t.name())
	case whole || len(lack) == 0:
		return ""
	case all:
		return fmt.Sprintf("the input %s is missing", t.name())
	case len(lack) == 1:
		return fmt.Sprintf("the part %s is missing", lack[0])
	}
	return fmt.Sprintf("the parts %s are missing", strings.Join(lack, ", "))
}

// types are the types of the parts, in the dims of the parameter.
func (t *encodedTaker) types() []ir.Tensor {
	m := ir.EncodingDims(t.typ)
	var ts []ir.Tensor
	for _, p := range t.typ.Enc.Parts {
		ts = append(ts, m.Type(p.Value.Type).(ir.Tensor))
	}
	return ts
}

func (t *encodedTaker) describe() string {
	var parts []string
	for i, pt := range t.types() {
		parts = append(parts, t.part(i)+": "+pt.String())
	}
	return fmt.Sprintf("%s: quantised [%s], a file with its parts as members, or one by one: %s",
		t.name(), exprList(t.typ.Dims), strings.Join(parts, ", "))
}

func (t *encodedTaker) load(c *Call, g *given) error {
	whole, given := g.values[t.name()]
	for i, pt := range t.types() {
		v := g.values[t.part(i)]
		if given {
			v = whole
			v.Member += t.typ.Enc.Parts[i].Value.Name
		}
		a, err := v.Load(weights.Want{Name: t.part(i), Elem: pt.Elem, Rank: len(pt.Dims)})
		if err != nil {
			return err
		}
		c.Args[t.index].Parts = append(c.Args[t.index].Parts, a)
		c.addExtents(t.part(i), pt.Dims, a.Shape)
	}
	return nil
}
