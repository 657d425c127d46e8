package interp

import (
	"fmt"
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// Report says how a target's results compare with the interpreter's.
type Report struct {
	Elements  int64   // compared
	Undecided int64   // elements of which the bound says nothing
	MaxError  float64 // the greatest error, in bounds (agreement ends at 4)
}

// Add adds up reports of several results or runs.
func (r *Report) Add(o Report) {
	r.Elements += o.Elements
	r.Undecided += o.Undecided
	r.MaxError = max(r.MaxError, o.MaxError)
}

// TooManyUndecided reports that more than 0.1% of the elements could not be
// judged: the inputs are unfit as a test.
func (r Report) TooManyUndecided() bool { return r.Undecided*1000 > r.Elements }

// Compare holds a target's result against the interpreter's from a run with
// shadows: floats within 4 bounds, integers and bools equal. The error names
// the first element that differs. Both are an *ir.Array or a Scalar, or
// patterns, which must be the same, or encoded tensors, whose parts must agree.
func Compare(native, ref any) (Report, error) {
	switch b := ref.(type) {
	case *ir.PatternValue:
		return comparePatterns(native, b)
	case *ir.Encoded:
		return compareEncoded(native, b)
	}
	a, b := asArray(native), asArray(ref)
	if a == nil || b == nil {
		return Report{}, fmt.Errorf("a result is %s; expected %s", describe(native), describe(ref))
	}
	if describe(a) != describe(b) {
		return Report{}, fmt.Errorf("the result is %s; expected %s", describe(a), describe(b))
	}
	return compareArrays(a, b)
}

func comparePatterns(native any, b *ir.PatternValue) (Report, error) {
	a, ok := native.(*ir.PatternValue)
	if !ok || a.Rows != b.Rows || a.Cols != b.Cols || !slices.Equal(a.Ptr, b.Ptr) || !slices.Equal(a.Col, b.Col) || !slices.Equal(a.Perm, b.Perm) {
		return Report{}, fmt.Errorf("the result is not the pattern of %d x %d with %d entries that is expected", b.Rows, b.Cols, b.NNZ())
	}
	return Report{Elements: b.NNZ()}, nil
}

func compareEncoded(native any, b *ir.Encoded) (r Report, err error) {
	a, ok := native.(*ir.Encoded)
	if !ok || len(a.Parts) != len(b.Parts) || !slices.Equal(a.Shape, b.Shape) {
		return r, fmt.Errorf("the result is %s; expected %s of shape %v", describe(native), describe(b), b.Shape)
	}
	for i := range b.Parts {
		part, fault := Compare(a.Parts[i], b.Parts[i])
		r.Add(part)
		if err == nil && fault != nil {
			err = fmt.Errorf("part %d: %w", i, fault)
		}
	}
	return r, err
}

// asArray makes a scalar an array of rank 0.
func asArray(v any) *ir.Array {
	switch v := v.(type) {
	case *ir.Array:
		return v
	case Scalar:
		a := ir.NewArray(v.Elem)
		a.Mem.Cells[0] = v.Cell
		a.Mem.Shadow = []num.Shadow{v.Shadow}
		return a
	}
	return nil
}

func compareArrays(native, ref *ir.Array) (r Report, err error) {
	each(ref.Shape, func(idx []int64) {
		at, _ := native.Cell(idx)
		pos, _ := ref.Cell(idx)
		got, want := native.Mem.Cells[at], ref.Mem.Cells[pos]
		s := num.Exact(ref.Elem, want)
		if ref.Mem.Shadow != nil {
			s = ref.Mem.Shadow[pos]
		}
		r.Elements++
		if s.Undecided() {
			r.Undecided++
			return
		}
		if ref.Elem.IsFloat() {
			r.MaxError = max(r.MaxError, inBounds(num.Float(got), s))
		}
		if err == nil && !num.Agree(ref.Elem, got, s) {
			err = fmt.Errorf("element %v is %s; expected %s, within 4 x %.3g", idx,
				literal(ref.Elem, got), literal(ref.Elem, want), s.Err)
		}
	})
	return r, err
}

// literal writes a cell that some target made, which need not be a value of e.
func literal(e num.Elem, c num.Cell) string {
	if e.IsFloat() {
		c = num.FromFloat(num.Round(e, num.Float(c)))
	}
	return ir.FormatLiteral(e, c)
}

// inBounds is the error of got in units of the bound; 0 where it is none.
func inBounds(got float64, s num.Shadow) float64 {
	diff := math.Abs((got - s.Hi) - s.Lo)
	if !(diff > 0) || math.IsInf(diff, 0) || s.Err == 0 {
		return 0
	}
	return diff / s.Err
}

// Agree implements ir.Machine: the results of two variants agree if either is
// within the other's bound. A run without shadows has no bounds and holds only
// integers and bools to be equal.
func (s *stager) Agree(a, b *ir.Array) error {
	if !s.Shadowed() && a.Elem.IsFloat() {
		return nil
	}
	_, err := compareArrays(a, b)
	if err == nil {
		return nil
	}
	if _, err2 := compareArrays(b, a); err2 == nil {
		return nil
	}
	return err
}
