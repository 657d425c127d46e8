package bench

import (
	"math"
	"slices"
)

// Spread is a figure over the rounds of a run: its median and quartiles.
type Spread struct {
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
}

// SpreadOf sums up xs; of nothing it is NaN.
func SpreadOf(xs []float64) Spread {
	return Spread{Quantile(xs, 0.25), Quantile(xs, 0.5), Quantile(xs, 0.75)}
}

// Quantile is the value below which the part p of xs lies, interpolated between
// neighbours; NaN where xs is empty.
func Quantile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	at := p * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// Geomean is the geometric mean of positive numbers; NaN where there is none.
func Geomean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}

// quotients divides round by round.
func quotients(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range a {
		q[i] = a[i] / b[i]
	}
	return q
}

// lesser is the smaller of both in every round: the better of two peers.
func lesser(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i := range out {
		out[i] = min(out[i], b[i])
	}
	return out
}
