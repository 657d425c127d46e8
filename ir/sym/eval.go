package sym

import (
	"errors"
	"fmt"
)

// ErrOverflow is what Eval returns (wrapped) when a value leaves int64.
var ErrOverflow = errors.New("an index computation leaves the 64-bit integers")

// Env gives atoms their values. A nil function knows no value.
type Env struct {
	Name func(string) (int64, bool)
	Val  func(Ref) (int64, bool)
}

// Names is the environment of a table of names.
func Names(m map[string]int64) Env {
	return Env{Name: func(s string) (int64, bool) { v, ok := m[s]; return v, ok }}
}

// Eval computes e. It fails on an atom without a value, on a divisor that is
// not positive, and with ErrOverflow where a step leaves int64.
func (e Expr) Eval(env Env) (int64, error) {
	if e.isOver() {
		return 0, overflow(e)
	}
	sum := e.constant()
	for _, t := range e.terms() {
		p := t.coef
		for _, a := range t.f {
			v, err := a.eval(env)
			if err != nil {
				return 0, err
			}
			var ok bool
			if p, ok = mul64(p, v); !ok {
				return 0, overflow(e)
			}
		}
		var ok bool
		if sum, ok = add64(sum, p); !ok {
			return 0, overflow(e)
		}
	}
	return sum, nil
}

func overflow(e Expr) error { return fmt.Errorf("in %s: %w", e, ErrOverflow) }

func (a *Atom) eval(env Env) (int64, error) {
	switch a.Kind {
	case AtomName:
		if env.Name != nil {
			if v, ok := env.Name(a.Name); ok {
				return v, nil
			}
		}
		return 0, fmt.Errorf("%s has no value here", a.Name)
	case AtomVal:
		if env.Val != nil {
			if v, ok := env.Val(a.Ref); ok {
				return v, nil
			}
		}
		return 0, fmt.Errorf("%%%s has no value here", a.Ref.RefName())
	}
	x, err := a.Args[0].Eval(env)
	if err != nil {
		return 0, err
	}
	y, err := a.Args[1].Eval(env)
	if err != nil {
		return 0, err
	}
	return a.Apply(x, y)
}

// Apply computes the atom's operation on the values of its arguments.
func (a *Atom) Apply(x, y int64) (int64, error) {
	switch a.Kind {
	case AtomMin:
		return min(x, y), nil
	case AtomMax:
		return max(x, y), nil
	}
	if y <= 0 {
		return 0, fmt.Errorf("the divisor of %s is %d; it must be positive", a, y)
	}
	if a.Kind == AtomMod {
		return floorMod(x, y), nil
	}
	return floorDiv(x, y), nil
}
