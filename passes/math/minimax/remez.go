package minimax

import (
	"math"
	"math/big"
)

// Fit asks for the polynomial in x, of terms x^0 .. x^(Terms-1), that is nearest
// to Target on [Lo, Hi] under Weight: the greatest Weight(x) * |p(x) - Target(x)|
// is least.
type Fit struct {
	Target, Weight func(x Num) Num
	Lo, Hi         float64
	Terms          int
	Bits           uint // coefficients are rounded to 24 or 53 bits
}

// sample is a point of the grid on which errors are watched.
type sample struct{ x, y, w Num }

// Solve gives the rounded coefficients and the greatest weighted error that they
// leave on a grid: the better of all rounded at once, and one at a time.
func (f Fit) Solve() (coeffs []float64, worst float64) {
	grid := f.grid()
	var at, step []Num
	for _, c := range exchange(grid, nil, f.Terms) {
		at = append(at, f.round(c))
	}
	for len(step) < f.Terms {
		step = append(step, f.round(exchange(grid, step, f.Terms-len(step))[0]))
	}
	best, worst := at, deviation(grid, at)
	if d := deviation(grid, step); d < worst {
		best, worst = step, d
	}
	for _, c := range best {
		v, _ := c.Float64()
		coeffs = append(coeffs, v)
	}
	return coeffs, worst
}

func (f Fit) round(c Num) Num {
	v, _ := new(big.Float).SetPrec(f.Bits).Set(c).Float64()
	return F(v)
}

// deviation is the greatest weighted error of a polynomial.
func deviation(grid []sample, c []Num) (worst float64) {
	for _, s := range grid {
		e, _ := Mul(s.w, Sub(eval(c, s.x), s.y)).Float64()
		worst = max(worst, math.Abs(e))
	}
	return worst
}

// grid has the extrema of a Chebyshev polynomial of high degree, which crowd
// where errors are greatest.
func (f Fit) grid() []sample {
	n := 40 * f.Terms
	g := make([]sample, n+1)
	for i := range g {
		t := math.Cos(math.Pi * float64(n-i) / float64(n))
		x := f.Lo + (f.Hi-f.Lo)*(t+1)/2
		if math.Abs(x) < 0x1p-30 {
			x = 0x1p-30
		}
		g[i] = sample{x: F(x), y: f.Target(F(x)), w: zero().Abs(f.Weight(F(x)))}
	}
	return g
}

func eval(c []Num, x Num) Num {
	r := zero()
	for i := len(c) - 1; i >= 0; i-- {
		r = Add(Mul(r, x), c[i])
	}
	return r
}

// exchange fits n coefficients that follow the fixed ones.
func exchange(grid []sample, fixed []Num, n int) []Num {
	rest := make([]Num, len(grid)) // what the free terms must make up for
	for i, s := range grid {
		rest[i] = Sub(s.y, eval(fixed, s.x))
	}
	at := make([]int, n+1)
	for i := range at {
		at[i] = i * (len(grid) - 1) / n
	}
	var c []Num
	for range 30 {
		var level Num
		c, level = interpolate(grid, rest, at, len(fixed), n)
		next, peak := extrema(grid, rest, c, len(fixed), n+1)
		if next == nil {
			break
		}
		at = next
		l, _ := level.Float64()
		if peak <= math.Abs(l)*1.001 {
			break
		}
	}
	return c
}

// interpolate solves for coefficients whose weighted error alternates between
// +level and -level on the chosen points.
func interpolate(grid []sample, rest []Num, at []int, shift, n int) (c []Num, level Num) {
	a := make([][]Num, n+1)
	for i, k := range at {
		row := make([]Num, n+2)
		p := power(grid[k].x, shift)
		for j := range n {
			row[j] = p
			p = Mul(p, grid[k].x)
		}
		row[n] = Quo(F(1), grid[k].w)
		if i%2 == 1 {
			row[n].Neg(row[n])
		}
		row[n+1] = rest[k]
		a[i] = row
	}
	s := eliminate(a)
	return s[:n], s[n]
}

func power(x Num, k int) Num {
	p := F(1)
	for range k {
		p = Mul(p, x)
	}
	return p
}

// eliminate solves the linear system of an augmented matrix, which it destroys.
func eliminate(a [][]Num) []Num {
	n := len(a)
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if zero().Abs(a[i][k]).Cmp(zero().Abs(a[best][k])) > 0 {
				best = i
			}
		}
		a[k], a[best] = a[best], a[k]
		for i := k + 1; i < n; i++ {
			f := Quo(a[i][k], a[k][k])
			for j := k; j <= n; j++ {
				a[i][j] = Sub(a[i][j], Mul(f, a[k][j]))
			}
		}
	}
	x := make([]Num, n)
	for k := n - 1; k >= 0; k-- {
		s := a[k][n]
		for j := k + 1; j < n; j++ {
			s = Sub(s, Mul(a[k][j], x[j]))
		}
		x[k] = Quo(s, a[k][k])
	}
	return x
}

// extrema picks one point of greatest error from every run of one sign, and of
// the runs those n in a row with the greatest ends; nil if there are fewer.
func extrema(grid []sample, rest, c []Num, shift, n int) (at []int, peak float64) {
	errs := make([]float64, len(grid))
	for i, s := range grid {
		e := Mul(s.w, Sub(Mul(power(s.x, shift), eval(c, s.x)), rest[i]))
		errs[i], _ = e.Float64()
		peak = max(peak, math.Abs(errs[i]))
	}
	for i := range errs {
		last := len(at) - 1
		switch {
		case errs[i] == 0:
		case last < 0 || errs[at[last]] > 0 != (errs[i] > 0):
			at = append(at, i)
		case math.Abs(errs[i]) > math.Abs(errs[at[last]]):
			at[last] = i
		}
	}
	for len(at) > n {
		if math.Abs(errs[at[0]]) < math.Abs(errs[at[len(at)-1]]) {
			at = at[1:]
		} else {
			at = at[:len(at)-1]
		}
	}
	if len(at) < n {
		return nil, peak
	}
	return at, peak
}
