package driver

import (
	"fmt"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/sym"
)

// sparse is a pattern as it was given, and, once the sizes are known, as the
// interpreter takes it.
type sparse struct {
	name     string
	typ      ir.Pattern
	ptr, idx *weights.Array
	value    *ir.PatternValue
}

// sparseTaker takes a pattern, A=FILE or A.indptr=.. A.indices=.., and the
// values of its entries where the parameter has them.
type sparseTaker struct {
	single
	pattern ir.Pattern
	data    *ir.Param // the next parameter, or nil
}

// isData: the front end puts the values of A right behind it, as A_data.
func (t *sparseTaker) isData(p *ir.Param) bool {
	tt, ok := p.Value.Type.(ir.Tensor)
	if !ok || tt.Enc != nil || len(tt.Dims) == 0 || p.Value.Name != t.name()+"_data" {
		return false
	}
	id, ok := tt.Dims[0].IsNNZ()
	return ok && id == t.pattern.ID
}

// indexParts are the names of the two index arrays, as scipy has them.
func (t *sparseTaker) indexParts() [2]string {
	if t.pattern.Format.Kind == "coo" {
		return [2]string{"row", "col"}
	}
	return [2]string{"indptr", "indices"}
}

func (t *sparseTaker) parts() []string {
	ix := t.indexParts()
	parts := []string{ix[0], ix[1]}
	if t.data != nil {
		parts = append(parts, "data")
	}
	return parts
}

func (t *sparseTaker) names() []string {
	names := []string{t.name()}
	for _, p := range t.parts() {
		names = append(names, t.name()+"."+p)
	}
	return names
}

func (t *sparseTaker) missing(g *given) string {
	var lack []string
	for _, p := range t.parts() {
		if !g.has(t.name() + "." + p) {
			lack = append(lack, t.name()+"."+p)
		}
	}
	whole := g.has(t.name())
	switch {
	case whole && len(lack) < len(t.parts()):
		return fmt.Sprintf("%s is given whole and in parts; give one or the other", t.name())
	case whole || len(lack) == 0:
		return ""
	case len(lack) == len(t.parts()):
		return fmt.Sprintf("the input %s is missing", t.name())
	case len(lack) == 1 && t.data != nil && lack[0] == t.name()+".data":
		return fmt.Sprintf("the values %s are missing; give them, or declare %s without values: %s[%s, %s]",
			lack[0], t.name(), t.pattern.Format.Kind, t.pattern.Rows, t.pattern.Cols)
	}
	return fmt.Sprintf("the parts %s are missing", strings.Join(lack, ", "))
}

func (t *sparseTaker) describe() string {
	s := fmt.Sprintf("%s: %s[%s, %s]", t.name(), t.pattern.Format.Kind, t.pattern.Rows, t.pattern.Cols)
	if t.data != nil {
		s += " " + ir.ElemOf(t.data.Value.Type).String()
	}
	return s + fmt.Sprintf(", a file with the members %s, or %s=...", strings.Join(append(t.parts(), "shape"), ", "),
		strings.Join(t.names()[1:], "=... "))
}

func (t *sparseTaker) load(c *Call, g *given) error {
	m, err := t.matrix(g)
	if err != nil {
		return err
	}
	c.Args[t.index].Pattern = &sparse{name: t.name(), typ: t.pattern, ptr: m.Indptr, idx: m.Indices}
	t.extents(c, m)
	if t.data == nil {
		return nil
	}
	dims := t.data.Value.Type.(ir.Tensor).Dims
	if m.Data.Rank() != len(dims) {
		return diag.Errorf(diag.Pos{}, "input %s: the values have rank %d", t.name(), m.Data.Rank()).WithExpected("rank %d", len(dims))
	}
	c.Args[t.index+1].Array = m.Data
	c.addExtents(t.name()+".data", dims, m.Data.Shape)
	return nil
}

// matrix loads the arrays, from one file or one by one.
func (t *sparseTaker) matrix(g *given) (*weights.CSR, error) {
	elem := num.Invalid
	if t.data != nil {
		elem = ir.ElemOf(t.data.Value.Type)
	}
	whole, given := g.values[t.name()]
	if given && t.pattern.Format.Kind == "csr" {
		return whole.LoadCSR(weights.CSRWant{Name: t.name(), Elem: elem, Pattern: t.data == nil})
	}
	m := &weights.CSR{Source: t.name()}
	ix := t.indexParts()
	parts := []sparsePart{{ix[0], &m.Indptr, num.Invalid}, {ix[1], &m.Indices, num.Invalid}}
	if t.data != nil {
		parts = append(parts, sparsePart{"data", &m.Data, elem})
	}
	if given {
		if err := t.shape(m, whole); err != nil {
			return nil, err
		}
	}
	for _, p := range parts {
		v := g.values[t.name()+"."+p.name]
		if given {
			v = whole
			v.Member += p.name
		}
		a, err := v.Load(weights.Want{Name: t.name() + "." + p.name, Elem: p.elem, Rank: -1})
		if err != nil {
			return nil, err
		}
		*p.to = a
	}
	for i, a := range []*weights.Array{m.Indptr, m.Indices} {
		if a.Rank() != 1 || a.Elem != num.I32 && a.Elem != num.I64 {
			return nil, diag.Errorf(diag.Pos{}, "input %s.%s is %s of rank %d", t.name(), ix[i], a.Elem, a.Rank()).WithExpected("i32 or i64 of rank 1")
		}
	}
	t.flattenBlocks(m)
	if t.pattern.Format.Kind == "csr" {
		return m, m.Check()
	}
	return m, nil
}

// sparsePart is one array of a matrix.
type sparsePart struct {
	name string
	to   **weights.Array
	elem num.Elem
}

// shape reads the member shape of a file that holds the whole matrix, where it
// has one, and refuses a file of another format.
func (t *sparseTaker) shape(m *weights.CSR, whole weights.Value) error {
	f, err := weights.Open(whole.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.CheckFormat(whole.Member, t.pattern.Format.Kind); err != nil {
		return err
	}
	if !f.Has(whole.Member + "shape") {
		return nil
	}
	a, err := f.Get(whole.Member + "shape")
	if err != nil {
		return err
	}
	if !a.Elem.IsInt() || a.Rank() != 1 || a.Len() != 2 {
		return diag.Errorf(diag.Pos{File: whole.File}, "the member shape is %s of rank %d", a.Elem, a.Rank()).WithExpected("two integers, rows and columns")
	}
	m.Shape = []int64{num.Int(a.At(0)), num.Int(a.At(1))}
	return nil
}

// flattenBlocks makes the values of a bsr, which scipy keeps as blocks, a
// vector: block by block, each in C order.
func (t *sparseTaker) flattenBlocks(m *weights.CSR) {
	f := t.pattern.Format
	if f.Kind != "bsr" || m.Data == nil || m.Data.Rank() != 3 || m.Data.Shape[1] != f.BlockRows || m.Data.Shape[2] != f.BlockCols {
		return
	}
	flat := weights.FromBytes(m.Data.Elem, []int64{m.Data.Len()}, m.Data.Contiguous())
	flat.Source = m.Data.Source
	m.Data = flat
}

// extents says what the arrays tell of rows, columns and entries.
func (t *sparseTaker) extents(c *Call, m *weights.CSR) {
	add := func(label string, x sym.Expr, n int64) {
		c.extents = append(c.extents, extent{label + " of " + t.name(), x, n})
	}
	nnz := m.Indices.Len()
	f := t.pattern.Format
	switch f.Kind {
	case "csr":
		add("the number of rows", t.pattern.Rows, m.Indptr.Len()-1)
	case "csc":
		add("the number of columns", t.pattern.Cols, m.Indptr.Len()-1)
	case "bsr":
		add("the number of rows", t.pattern.Rows, (m.Indptr.Len()-1)*f.BlockRows)
		nnz *= f.BlockRows * f.BlockCols
	}
	if m.Shape != nil {
		add("the number of rows", t.pattern.Rows, m.Shape[0])
		add("the number of columns", t.pattern.Cols, m.Shape[1])
	}
	add("the number of entries", sym.NNZ(t.pattern.ID), nnz)
}

// makePatterns puts the arrays of patterns together, now that the number of
// columns is known, and checks that the indices are in range.
func (c *Call) makePatterns() error {
	for i := range c.Args {
		s := c.Args[i].Pattern
		if s == nil {
			continue
		}
		size, err := c.shape(s.name, []sym.Expr{s.typ.Rows, s.typ.Cols})
		if err != nil {
			return err
		}
		s.value, err = interp.NewPattern(s.typ.Format, size[0], size[1], toArray(s.ptr), toArray(s.idx))
		if err != nil {
			return diag.Errorf(diag.Pos{File: s.ptr.Source}, "input %s is no %d x %d %s matrix: %v", s.name, size[0], size[1], s.typ.Format.Kind, err)
		}
	}
	return nil
}
