package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir/sym"
)

// A proc that stands for a func whose results have existential dims says so in
// directives. `counts(c, d)` names its last out parameters, of rank 0: they get
// the values of those dims. `bounded(y[1] = c)` says that dim 1 of the parameter
// y has room for the most that c can be, and that the first c are written.

// Bound is a dim of an out parameter that is written in part.
type Bound struct {
	Param, Dim int
	Size       sym.Expr // over the names of the counts
}

// Counts are the numbers of the parameters of f that get the values of dims.
func Counts(f *Func) (params []int) {
	for _, d := range f.Directives {
		for _, name := range directiveArgs(d, "counts") {
			params = append(params, paramNamed(f, name))
		}
	}
	return params
}

// Bounds lists the dims of parameters of f that are written in part.
func Bounds(f *Func) (list []Bound) {
	for _, d := range f.Directives {
		for _, text := range directiveArgs(d, "bounded") {
			b, err := parseBound(f, text)
			if err != nil {
				diag.Bugf("@%s: directive %q: %v", f.Name, d, err)
			}
			list = append(list, b)
		}
	}
	return list
}

// Written lists what a call of proc f gives: its out and inout parameters, in
// order, each cut to the size that was found, without the counts. param gives the
// parameters; arrays that are written are *Array.
func Written(f *Func, param func(i int) any) (results []any, err error) {
	counts, bounds := Counts(f), Bounds(f)
	sizes := map[string]int64{}
	for _, p := range counts {
		a := param(p).(*Array)
		pos, _ := a.Cell(nil)
		sizes[f.Params[p].Value.Name] = num.Int(a.Mem.Cells[pos])
	}
	for i, p := range f.Params {
		if p.Mode == ModeIn || slices.Contains(counts, i) {
			continue
		}
		v := param(i)
		for _, b := range bounds {
			if b.Param != i {
				continue
			}
			if v, err = cut(v.(*Array), b, sizes); err != nil {
				return nil, fmt.Errorf("%%%s of @%s: %w", p.Value.Name, f.Name, err)
			}
		}
		results = append(results, v)
	}
	return results, nil
}

// cut is the part of a that b says is written.
func cut(a *Array, b Bound, sizes map[string]int64) (*Array, error) {
	n, err := b.Size.Eval(sym.Names(sizes))
	if err != nil {
		return nil, err
	}
	if n < 0 || n > a.Shape[b.Dim] {
		return nil, fmt.Errorf("%s is %d, but dim %d has %d", b.Size, n, b.Dim, a.Shape[b.Dim])
	}
	part := *a
	part.Shape = slices.Clone(a.Shape)
	part.Shape[b.Dim] = n
	return &part, nil
}

// CountsDirective and BoundDirective write the directives.
func CountsDirective(names []string) string { return "counts(" + strings.Join(names, ", ") + ")" }

func BoundDirective(param string, dim int, size sym.Expr) string {
	return fmt.Sprintf("bounded(%s[%d] = %s)", param, dim, size)
}

func directiveArgs(d, word string) []string {
	inside, begins := strings.CutPrefix(d, word+"(")
	inside, ends := strings.CutSuffix(inside, ")")
	if !begins || !ends {
		return nil
	}
	if word == "bounded" {
		return []string{inside}
	}
	return strings.Split(inside, ", ")
}

func paramNamed(f *Func, name string) int {
	return slices.IndexFunc(f.Params, func(p *Param) bool { return p.Value.Name == name })
}

func parseBound(f *Func, text string) (b Bound, err error) {
	place, size, ok := strings.Cut(text, " = ")
	name, rest, ok2 := strings.Cut(place, "[")
	dim, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if !ok || !ok2 || err != nil {
		return b, fmt.Errorf("expected bounded(NAME[DIM] = SIZE)")
	}
	b.Param, b.Dim = paramNamed(f, name), dim
	if b.Size, err = sym.ParseExpr(size, nil); err != nil {
		return b, err
	}
	if b.Param < 0 || f.Params[b.Param].Mode != ModeOut {
		return b, fmt.Errorf("there is no out parameter %s", name)
	}
	dims, _ := DimsOf(f.Params[b.Param].Value.Type)
	if dim < 0 || dim >= len(dims) {
		return b, fmt.Errorf("%s has no dim %d", name, dim)
	}
	for _, n := range b.Size.Names() {
		if p := paramNamed(f, n); p < 0 || !slices.Contains(Counts(f), p) {
			return b, fmt.Errorf("%s is no count", n)
		}
	}
	return b, nil
}

// checkBounds holds the directives of a proc against its parameters.
func (v *verifier) checkBounds(f *Func) {
	for _, p := range Counts(f) {
		if p < 0 || f.Params[p].Mode != ModeOut || len(typeDims(f.Params[p].Value.Type)) != 0 {
			v.itemError("@%s: counts(..) names no out parameter of rank 0", f.Name)
			return
		}
	}
	for _, d := range f.Directives {
		for _, text := range directiveArgs(d, "bounded") {
			if _, err := parseBound(f, text); err != nil {
				v.itemError("@%s: directive %q: %v", f.Name, d, err)
			}
		}
	}
}

func typeDims(t Type) []sym.Expr {
	dims, _ := DimsOf(t)
	return dims
}
