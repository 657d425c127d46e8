package main

import (
	"math"
	"slices"
)

// spread is a figure over the rounds of a run.
type spread struct{ median, least, most float64 }

// spreadOf sums up xs, of which there is at least one.
func spreadOf(xs []float64) spread {
	s := slices.Sorted(slices.Values(xs))
	mid := s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (s[len(s)/2-1] + mid) / 2
	}
	return spread{mid, s[0], s[len(s)-1]}
}

// quotients divides round by round.
func quotients(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range a {
		q[i] = a[i] / b[i]
	}
	return q
}

// least takes the smallest of several contenders round by round: the better of
// two peers.
func least(of ...[]float64) []float64 {
	out := slices.Clone(of[0])
	for _, xs := range of[1:] {
		for i := range out {
			out[i] = min(out[i], xs[i])
		}
	}
	return out
}

// slope is the exponent p of y = c x^p that fits best in the logarithms: 1 for
// time linear in the size.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		u, v := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+u, sy+v, sxx+u*u, sxy+u*v
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
