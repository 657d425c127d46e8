package ir

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// Type is the type of a Value. The concrete types are Scalar, Tensor, Pattern,
// Buf, Vec and Mask; all are immutable, and two equal types print equally.
type Type interface {
	String() string
	isType()
}

// Scalar is one element: f32, i64, index, ...
type Scalar struct{ Elem num.Elem }

// Tensor is a value of static rank whose dims are expressions. A dim nnz#p may
// only come first: such a tensor is an edge tensor of the pattern #p. Enc, when
// not nil, says how the elements are stored; reading one means decoding it.
type Tensor struct {
	Elem num.Elem
	Dims []sym.Expr
	Enc  *Encoding
}

// Pattern is the structure of a sparse tensor: which entries of a Rows x Cols
// matrix are stored. ID is the unique symbol p of its edge dim nnz#p.
type Pattern struct {
	Rows, Cols sym.Expr
	ID         string
	Format     Format
}

// Format is the layout of a pattern's index arrays. Ptr and Idx are I32 or I64
// (coo has no Ptr); BlockRows and BlockCols are set for bsr only.
type Format struct {
	Kind                 string // csr, csc, coo, bsr
	Ptr, Idx             num.Elem
	BlockRows, BlockCols int64
}

// Buf is memory: a shape and, where they are not the defaults, strides and
// offset (in elements), a memory space and a distribution over a grid.
type Buf struct {
	Elem    num.Elem
	Dims    []sym.Expr
	Strides []sym.Expr // nil: C order
	Offset  sym.Expr   // in elements
	Space   string     // "": ordinary memory
	Dist    *Dist      // nil: not distributed
}

// Dist is the distribution of a buffer over the ranks of a grid. A buffer of
// which no dim is mapped is replicated, or partial where Partial names the
// monoid that combines the ranks' copies.
type Dist struct {
	Grid    string
	Dims    []DimDist // one per dim
	Partial string
}

// DimDist distributes one dim over grid axis Axis; Axis < 0 means not at all.
type DimDist struct {
	Axis             int
	Cyclic           bool     // block when false
	Block            sym.Expr // block size of cyclic
	HaloLow, HaloTop int64
}

// Vec is a vector register's worth of elements, Mask one bool a lane.
type Vec struct {
	Lanes int
	Elem  num.Elem
}

// Mask selects lanes.
type Mask struct{ Lanes int }

func (Scalar) isType()  {}
func (Tensor) isType()  {}
func (Pattern) isType() {}
func (Buf) isType()     {}
func (Vec) isType()     {}
func (Mask) isType()    {}

// Frequently used scalar types.
var (
	IndexType = Scalar{num.Index}
	BoolType  = Scalar{num.Bool}
)

func (t Scalar) String() string { return t.Elem.String() }

func (t Tensor) String() string {
	s := t.Elem.String() + "[" + exprs(t.Dims) + "]"
	if t.Enc != nil {
		s += " enc @" + t.Enc.Name
	}
	return s
}

func (t Pattern) String() string {
	return fmt.Sprintf("pattern<%s, %s, nnz#%s, %s>", t.Rows, t.Cols, t.ID, t.Format)
}

func (f Format) String() string {
	switch f.Kind {
	case "coo":
		return fmt.Sprintf("coo(%s)", f.Idx)
	case "bsr":
		return fmt.Sprintf("bsr(%d, %d, %s, %s)", f.BlockRows, f.BlockCols, f.Ptr, f.Idx)
	}
	return fmt.Sprintf("%s(%s, %s)", f.Kind, f.Ptr, f.Idx)
}

func (t Buf) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "buf<%s[%s]", t.Elem, exprs(t.Dims))
	if t.Strides != nil {
		fmt.Fprintf(&b, ", strides(%s)", exprs(t.Strides))
	}
	if c, ok := t.Offset.IsConst(); !ok || c != 0 {
		fmt.Fprintf(&b, ", offset(%s)", t.Offset)
	}
	if t.Space != "" {
		fmt.Fprintf(&b, ", space(%s)", t.Space)
	}
	if t.Dist != nil {
		b.WriteString(", " + t.Dist.String())
	}
	b.WriteString(">")
	return b.String()
}

func (d *Dist) String() string {
	parts := []string{"@" + d.Grid}
	for _, m := range d.Dims {
		if d.replicated() {
			break
		}
		parts = append(parts, m.String())
	}
	if d.Partial != "" {
		parts = append(parts, "partial("+d.Partial+")")
	}
	return "dist(" + strings.Join(parts, ", ") + ")"
}

// replicated reports that no dim is mapped to a grid axis.
func (d *Dist) replicated() bool {
	for _, m := range d.Dims {
		if m.Axis >= 0 {
			return false
		}
	}
	return true
}

func (m DimDist) String() string {
	if m.Axis < 0 {
		return "*"
	}
	s := fmt.Sprintf("block/%d", m.Axis)
	if m.Cyclic {
		s = fmt.Sprintf("cyclic(%s)/%d", m.Block, m.Axis)
	}
	if m.HaloLow != 0 || m.HaloTop != 0 {
		s += fmt.Sprintf(" halo(%d, %d)", m.HaloLow, m.HaloTop)
	}
	return s
}

func (t Vec) String() string  { return fmt.Sprintf("vec<%d x %s>", t.Lanes, t.Elem) }
func (t Mask) String() string { return fmt.Sprintf("mask<%d>", t.Lanes) }

// SameType reports whether a and b are the same type (dims in normal form).
func SameType(a, b Type) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.String() == b.String()
}

// ElemOf is the element type of a scalar, tensor, buffer or vector, Bool of a
// mask, Invalid of a pattern.
func ElemOf(t Type) num.Elem {
	switch t := t.(type) {
	case Scalar:
		return t.Elem
	case Tensor:
		return t.Elem
	case Buf:
		return t.Elem
	case Vec:
		return t.Elem
	case Mask:
		return num.Bool
	}
	return num.Invalid
}

// DimsOf is the shape of a tensor or buffer; ok is false for other types.
func DimsOf(t Type) (dims []sym.Expr, ok bool) {
	switch t := t.(type) {
	case Tensor:
		return t.Dims, true
	case Buf:
		return t.Dims, true
	}
	return nil, false
}

func exprs(es []sym.Expr) string {
	s := make([]string, len(es))
	for i, e := range es {
		s[i] = e.String()
	}
	return strings.Join(s, ", ")
}
