package main

import (
	"fmt"

	"tenon/internal/bench"
)

// choosing: what it takes to choose at run time, from calls so small that little
// else is done: the same product with sizes that are known when compiling, and
// with sizes that are not. The difference is the choice, and with it all that
// knowing the sizes spares; so it is an upper bound.
func (s *suite) choosing() error {
	fmt.Fprint(s.out, "### Choosing at run time\n\n")
	most := 0.0
	for _, x := range []bench.Shape{{"M": 1, "K": 8, "N": 16}, {"M": 4, "K": 8, "N": 8}, {"M": 6, "K": 16, "N": 16}} {
		fixed := fmt.Sprintf("fn f(a: f32[%[1]d, %[2]d], b: f32[%[2]d, %[3]d]) -> f32[%[1]d, %[3]d] { return sum[k] a[m, k] * b[k, n] for m, n }", x["M"], x["K"], x["N"])
		var least [2]float64
		for i, program := range []string{fixed, "fn f(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] a[m, k] * b[k, n] for m, n }"} {
			o := s.options([]bench.Shape{x})
			o.Against = ""
			r, err := s.measure(program, "f", o)
			if err != nil {
				return err
			}
			least[i] = r.Rows[0].Least
		}
		ns := 1e9 * (least[1] - least[0])
		s.note("%s: %.0f ns with known sizes, %.0f ns without: the choice takes at most %.0f ns", x, 1e9*least[0], 1e9*least[1], ns)
		most = max(most, ns)
	}
	s.say(goal{what: "choosing: ns at most, of a size seen before", got: most, want: 100, atMost: true})
	return nil
}
