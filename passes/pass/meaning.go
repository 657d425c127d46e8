package pass

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// Seeds is how many draws of inputs SameMeaning compares on.
const Seeds = 6

// maxEvals bounds a run before the pass: a drawn input that takes longer says
// nothing. After it a program may take more steps for the same work: loops
// count that were one comp.
const (
	maxEvals  = 300_000
	moreEvals = 50 * maxEvals
)

// SameMeaning holds after against before by running every function of before on
// seeded inputs in the interpreter. Results may differ as freedom says. Inputs that
// before refuses are passed over; runs counts those it does not refuse. A func
// may have become a proc: its results are then the proc's out parameters, in
// order.
func SameMeaning(before, after *ir.Module, freedom Freedom) (runs int, err error) {
	for _, f := range before.Funcs() {
		g := ir.Lookup[*ir.Func](after, f.Name)
		if g == nil {
			return runs, fmt.Errorf("@%s is gone", f.Name)
		}
		for seed := int64(0); seed < Seeds; seed++ {
			ran, err := sameOn(before, after, f, g, seed, freedom)
			if err != nil {
				return runs, fmt.Errorf("@%s, inputs of seed %d: %w", f.Name, seed, err)
			}
			if ran {
				runs++
			}
		}
	}
	return runs, nil
}

// sameOn compares on one seed; ran is false where before refuses the inputs.
func sameOn(before, after *ir.Module, f, g *ir.Func, seed int64, freedom Freedom) (ran bool, err error) {
	want, err := runSeeded(before, f, seed, maxEvals, freedom > Exact)
	if err != nil {
		return false, nil
	}
	got, err := runSeeded(after, g, seed, moreEvals, freedom > Exact)
	if err != nil {
		return true, fmt.Errorf("stops with an error: %w", err)
	}
	if len(got) != len(want) {
		return true, fmt.Errorf("%d results; expected %d", len(got), len(want))
	}
	for i := range want {
		if err := sameResult(got[i], want[i], freedom); err != nil {
			return true, fmt.Errorf("result %d: %w", i, err)
		}
	}
	return true, nil
}

func runSeeded(m *ir.Module, f *ir.Func, seed, evals int64, shadow bool) ([]any, error) {
	args, err := interp.Seeded(m, f, seed)
	if err != nil {
		return nil, err
	}
	p := interp.New(m, interp.Options{Seed: uint64(seed), Shadow: shadow, MaxEvals: evals})
	return p.Run(f.Name, args)
}

func sameResult(got, want any, freedom Freedom) error {
	if freedom > Exact {
		_, err := interp.Compare(got, want)
		if err == nil || freedom == Approximated {
			return err
		}
		if _, other := interp.Compare(want, got); other == nil {
			return nil
		}
		return err
	}
	return SameBits(got, want)
}

// SameBits compares two results of the interpreter; the error names the first
// element that differs. A scalar equals an array of rank 0.
func SameBits(got, want any) error {
	a, b := elements(got), elements(want)
	if a == nil || b == nil {
		return nil // patterns and encoded values come from the arguments
	}
	if a.Elem != b.Elem || fmt.Sprint(a.Shape) != fmt.Sprint(b.Shape) {
		return fmt.Errorf("%s%v; expected %s%v", a.Elem, a.Shape, b.Elem, b.Shape)
	}
	idx := make([]int64, len(a.Shape))
	for n := b.Size(); n > 0; n-- {
		i, _ := a.Cell(idx)
		j, _ := b.Cell(idx)
		if x, y := a.Mem.Cells[i], b.Mem.Cells[j]; !num.Same(a.Elem, x, y) {
			return fmt.Errorf("element %v is %s; expected %s", idx, ir.FormatLiteral(a.Elem, x), ir.FormatLiteral(a.Elem, y))
		}
		next(idx, b.Shape)
	}
	return nil
}

// next steps idx in C order.
func next(idx, shape []int64) {
	for d := len(idx) - 1; d >= 0; d-- {
		if idx[d]++; idx[d] < shape[d] {
			return
		}
		idx[d] = 0
	}
}

func elements(v any) *ir.Array {
	switch v := v.(type) {
	case *ir.Array:
		return v
	case interp.Scalar:
		a := ir.NewArray(v.Elem)
		a.Mem.Cells[0] = v.Cell
		return a
	}
	return nil
}
