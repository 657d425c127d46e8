package num

import (
	"math"
	"math/rand"
	"testing"
)

// The standard library is a second opinion, good to a few ulps.
func TestFloat64FunctionsNearStdlib(t *testing.T) {
	std := map[string]func(float64) float64{"exp": math.Exp, "exp2": math.Exp2, "expm1": math.Expm1, "log": math.Log,
		"log1p": math.Log1p, "tanh": math.Tanh, "sin": math.Sin, "cos": math.Cos}
	r := rand.New(rand.NewSource(2))
	for name, want := range std {
		f := float64Unary[name]
		for range 20000 {
			x := math.Ldexp(r.Float64()*2-1, r.Intn(60)-30)
			if got, w := f(x), want(x); math.Abs(got-w) > 4e-15*math.Abs(w) && !(got != got && w != w) && got != w {
				t.Fatalf("%s(%v) = %v, the standard library has %v", name, x, got, w)
			}
		}
	}
}
