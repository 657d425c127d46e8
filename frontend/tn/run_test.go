package tn_test

import (
	"math"
	"math/rand"
	"testing"

	"tenon/frontend/tn"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
)

// compile elaborates src and verifies the module.
func compile(t *testing.T, src string) *ir.Module {
	t.Helper()
	m, err := tn.Parse("test.tn", src)
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{"test.tn": src}, false))
	}
	if err := ir.Verify(m); err != nil {
		t.Fatalf("%v\n%s", err, ir.Print(m))
	}
	return m
}

func run(t *testing.T, m *ir.Module, fn string, args ...any) []any {
	t.Helper()
	rs, err := interp.New(m, interp.Options{Shadow: true}).Run(fn, args)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// tensorOf makes an array of type e from values.
func tensorOf(e num.Elem, shape []int64, vals ...float64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i, v := range vals {
		if e.IsFloat() {
			a.Mem.Cells[i] = num.FromFloat(num.Round(e, v))
		} else {
			a.Mem.Cells[i] = num.FromInt(int64(v))
		}
	}
	return a
}

func random(r *rand.Rand, e num.Elem, shape ...int64) *ir.Array {
	n, _ := ir.SizeOf(shape)
	vals := make([]float64, n)
	for i := range vals {
		vals[i] = r.Float64()*2 - 1
		if e.IsInt() {
			vals[i] = float64(r.Intn(3))
		}
	}
	return tensorOf(e, shape, vals...)
}

// at reads an element as a number.
func at(a *ir.Array, idx ...int) float64 {
	i64 := make([]int64, len(idx))
	for k, i := range idx {
		i64[k] = int64(i)
	}
	p, ok := a.Cell(i64)
	if !ok {
		panic("index out of range in a test")
	}
	c := a.Mem.Cells[p]
	if a.Elem.IsFloat() {
		return num.Float(c)
	}
	return float64(num.Int(c))
}

// agrees holds a reference against a result of the interpreter.
func agrees(t *testing.T, what string, want []float64, got any) {
	t.Helper()
	g := got.(*ir.Array)
	ref := tensorOf(g.Elem, g.Shape, want...)
	if int64(len(want)) != g.Size() {
		t.Fatalf("%s: %d elements, want %d", what, g.Size(), len(want))
	}
	if _, err := interp.Compare(ref, g); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func graph(r *rand.Rand, n, m, e int) (*ir.PatternValue, [][]int) {
	p := &ir.PatternValue{Rows: int64(n), Cols: int64(m), Ptr: []int64{0}}
	rows := make([][]int, n)
	for i := 0; i < e && m > 0 && n > 0; i++ {
		row := r.Intn(n)
		if row == n/2 {
			continue // keep one row empty
		}
		rows[row] = append(rows[row], r.Intn(m))
	}
	for _, row := range rows {
		for _, c := range row {
			p.Col = append(p.Col, int64(c))
		}
		p.Ptr = append(p.Ptr, int64(len(p.Col)))
	}
	return p, rows
}

var sizes = []int{0, 1, 2, 3, 5, 7}

func TestSoftmaxAlongAnyAxis(t *testing.T) {
	m := compile(t, `fn f(a: f32[P, Q]) -> (last: f32[P, Q], first: f32[P, Q], named: f32[P, Q]) {
	  let s[i, j] = 2.0 * a[i, j]
	  return softmax(a), softmax(a, axis=0), softmax(s, axis=i)
	}`)
	r := rand.New(rand.NewSource(1))
	for _, p := range sizes {
		for _, q := range sizes {
			a := random(r, num.F32, int64(p), int64(q))
			rs := run(t, m, "f", a)
			ref := func(scale float64, along int) []float64 {
				out := make([]float64, p*q)
				for i := 0; i < p; i++ {
					for j := 0; j < q; j++ {
						sum := 0.0
						for k := 0; k < []int{p, q}[along]; k++ {
							x := at(a, i, k%max(q, 1))
							if along == 0 {
								x = at(a, k, j)
							}
							sum += math.Exp(scale * (x - at(a, i, j)))
						}
						out[i*q+j] = 1 / sum
					}
				}
				return out
			}
			agrees(t, "last", ref(1, 1), rs[0])
			agrees(t, "first", ref(1, 0), rs[1])
			agrees(t, "named", ref(2, 0), rs[2])
		}
	}
}

func TestCarryGatherNonzero(t *testing.T) {
	m := compile(t, `fn misc(x: f32[T, N], g: i64[M], a: f32, b: f32[N]) -> (y: f32[T, N], z: f32[M], c: i64[C]) {
	  let last, y = for t in 0..T carry s[n] = 0.0 { next s[n] = s[n] * a + x[t, n]; stack s }
	  let left[t, n] = x[t, n-1] zero
	  let z[m]    = last[g[m]] clamp
	  let c       = nonzero(b)
	  let w[t, n] = select(left[t, n] > 0.0, y[t, n], 0.0)
	  return w, z, c
	}`)
	r := rand.New(rand.NewSource(2))
	for _, T := range sizes {
		for _, n := range sizes[1:] {
			x := random(r, num.F32, int64(T), int64(n))
			g := tensorOf(num.I64, []int64{3}, -2, 0, 99)
			b := random(r, num.F32, int64(n))
			b.Mem.Cells[0] = 0
			rs := run(t, m, "misc", x, g, interp.Scalar{Elem: num.F32, Cell: num.FromFloat(0.5)}, b)
			s := make([]float64, n)
			w := make([]float64, T*n)
			for tt := 0; tt < T; tt++ {
				for j := 0; j < n; j++ {
					s[j] = s[j]*0.5 + at(x, tt, j)
					if j > 0 && at(x, tt, j-1) > 0 {
						w[tt*n+j] = s[j]
					}
				}
			}
			var places []float64
			for j := 1; j < n; j++ {
				places = append(places, float64(j))
			}
			agrees(t, "w", w, rs[0])
			agrees(t, "z", []float64{s[0], s[0], s[n-1]}, rs[1])
			agrees(t, "c", places, rs[2])
		}
	}
}

func TestTriangleAndGuards(t *testing.T) {
	m := compile(t, `fn f(x: f32[N]) -> (tri: f32[N], even: f32, low: f32, lse: f32, odd: i32) {
	  let tri = sum[j where j <= i] x[j] for i in 0..N
	  let even = mean[n where n % 2 == 0] x[n]
	  let low = max[n where x[n] < 0.0] x[n]
	  let lse = logsumexp[n] x[n]
	  let odd = sum[n in 0..N where n % 2 == 1 and n > 2] i32(1)
	  return tri, even, low, lse, odd
	}`)
	r := rand.New(rand.NewSource(3))
	for _, n := range sizes {
		x := random(r, num.F32, int64(n))
		rs := run(t, m, "f", x)
		tri, acc, even, count, low, lse, odd := make([]float64, n), 0.0, 0.0, 0.0, math.Inf(-1), 0.0, 0.0
		for i := 0; i < n; i++ {
			v := at(x, i)
			acc += v
			tri[i] = acc
			if i%2 == 0 {
				even, count = even+v, count+1
			}
			if v < 0 {
				low = math.Max(low, v)
			}
			lse += math.Exp(v)
			if i%2 == 1 && i > 2 {
				odd++
			}
		}
		if count > 0 {
			even /= count
		}
		agrees(t, "tri", tri, rs[0])
		agrees(t, "even", []float64{even}, rs[1])
		agrees(t, "low", []float64{low}, rs[2])
		agrees(t, "lse", []float64{math.Log(lse)}, rs[3])
		agrees(t, "odd", []float64{odd}, rs[4])
	}
}

func TestArgTiesAndHalf(t *testing.T) {
	m := compile(t, `fn f(x: f32[M, N], a: f16[M, N]) -> (i64[M], i64[M], f16[M], i64) {
	  let s[m] = sum[n] a[m, n] * a[m, n]
	  let lo[m] = argmin[n] x[m, n]
	  let hi[m] = argmax[n] x[m, n]
	  return lo, hi, s, argmax[m, n] x[m, n]
	}`)
	x := tensorOf(num.F32, []int64{2, 3}, 1, 0, 0, 5, 5, 2)
	a := tensorOf(num.F16, []int64{2, 3}, 255, 1, 0.0625, 1, 2, 3)
	rs := run(t, m, "f", x, a)
	agrees(t, "lo", []float64{1, 2}, rs[0])
	agrees(t, "hi", []float64{0, 0}, rs[1])
	agrees(t, "s", []float64{65026.00390625, 14}, rs[2]) // f32 inside: 65025 + 1 + 2^-8, rounded once
	agrees(t, "flat", []float64{3}, rs[3])
}

func TestGraphAttention(t *testing.T) {
	m := compile(t, `fn gat(A: csr[N, M], h: f32[M, O], l: f32[N], r: f32[M]) -> (y: f32[N, O], d: f32[N], top: i64[N]) {
	  let e[i, j in A[i]] = leaky_relu(l[i] + r[j], 0.2)
	  let p = softmax(e, axis=j)
	  let d[i] = mean[j in A[i]] r[j]
	  let top[i] = argmax[j in A[i]] r[j]
	  let y[i, o] = sum[j] p[i, j] * h[j, o]
	  return y, d, top
	}`)
	rnd := rand.New(rand.NewSource(4))
	for _, n := range sizes {
		mm, o := n+1, 3
		p, rows := graph(rnd, n, mm, 3*n)
		h, l, r := random(rnd, num.F32, int64(mm), int64(o)), random(rnd, num.F32, int64(n)), random(rnd, num.F32, int64(mm))
		rs := run(t, m, "gat", p, h, l, r)
		y, d, top := make([]float64, n*o), make([]float64, n), make([]float64, n)
		for i, row := range rows {
			sum := 0.0
			top[i] = -1
			for _, j := range row {
				v := at(l, i) + at(r, j)
				if v < 0 {
					v *= 0.2
				}
				w := math.Exp(v)
				sum += w
				for k := 0; k < o; k++ {
					y[i*o+k] += w * at(h, j, k)
				}
				d[i] += at(r, j) / float64(len(row))
				if top[i] < 0 || at(r, j) > at(r, int(top[i])) {
					top[i] = float64(j)
				}
			}
			for k := 0; k < o && sum > 0; k++ {
				y[i*o+k] /= sum
			}
		}
		agrees(t, "y", y, rs[0])
		agrees(t, "d", d, rs[1])
		agrees(t, "top", top, rs[2])
	}
}

func TestStoredValuesAndPlainRead(t *testing.T) {
	m := compile(t, `fn f(A: csr[N, M] f32, x: f32[M]) -> (y: f32[N], dense: f32[N, M], v: f32[nnz(A)]) {
	  let y[i] = sum[j in A[i]] A[i, j] * x[j]
	  let dense[i, k] = A[i, k]
	  let v[i, j in A[i]] = A[i, j] * 2.0
	  return y, dense, v
	}`)
	rnd := rand.New(rand.NewSource(5))
	for _, n := range sizes {
		mm := n + 2
		p, rows := graph(rnd, n, mm, 4*n)
		data, x := random(rnd, num.F32, p.NNZ()), random(rnd, num.F32, int64(mm))
		rs := run(t, m, "f", p, data, x)
		y, dense, v := make([]float64, n), make([]float64, n*mm), []float64{}
		e := 0
		for i, row := range rows {
			for _, j := range row {
				y[i] += at(data, e) * at(x, j)
				dense[i*mm+j] += at(data, e)
				v = append(v, 2*at(data, e))
				e++
			}
		}
		agrees(t, "y", y, rs[0])
		agrees(t, "dense", dense, rs[1])
		agrees(t, "v", v, rs[2])
	}
}

func TestMoments(t *testing.T) {
	m := compile(t, `fn f(x: f64[B, N], g: f64[N], b: f64[N]) -> (f64[B, N], f64[B]) {
	  return layernorm(x, g, b, 0.5), variance(x)
	}`)
	rnd := rand.New(rand.NewSource(6))
	for _, n := range sizes[1:] {
		x, g, b := random(rnd, num.F64, 2, int64(n)), random(rnd, num.F64, int64(n)), random(rnd, num.F64, int64(n))
		rs := run(t, m, "f", x, g, b)
		y, v := make([]float64, 2*n), make([]float64, 2)
		for i := range v {
			mean := 0.0
			for j := 0; j < n; j++ {
				mean += at(x, i, j) / float64(n)
			}
			for j := 0; j < n; j++ {
				v[i] += (at(x, i, j) - mean) * (at(x, i, j) - mean) / float64(n)
			}
			for j := 0; j < n; j++ {
				y[i*n+j] = (at(x, i, j)-mean)/math.Sqrt(v[i]+0.5)*at(g, j) + at(b, j)
			}
		}
		agrees(t, "layernorm", y, rs[0])
		agrees(t, "variance", v, rs[1])
	}
}

func TestConvolution(t *testing.T) {
	m := compile(t, `fn f(x: f32[N, C, H, W], w: f32[O, C, 3, 3], b: f32[O]) -> (f32[N, O, H, W], f32[N, C, H / 2, W / 2]) {
	  return conv2d_same(x, w, b), maxpool2d(x)
	}`)
	rnd := rand.New(rand.NewSource(7))
	for _, h := range []int{0, 1, 2, 5} {
		n, c, w, o := 1, 2, h+1, 3
		x, k, b := random(rnd, num.F32, 1, 2, int64(h), int64(w)), random(rnd, num.F32, 3, 2, 3, 3), random(rnd, num.F32, 3)
		rs := run(t, m, "f", x, k, b)
		var y, mp []float64
		for oo := 0; oo < n*o; oo++ {
			for p := 0; p < h; p++ {
				for q := 0; q < w; q++ {
					s := at(b, oo)
					for cc := 0; cc < c; cc++ {
						for r := 0; r < 9; r++ {
							i, j := p+r/3-1, q+r%3-1
							if i >= 0 && i < h && j >= 0 && j < w {
								s += at(x, 0, cc, i, j) * at(k, oo, cc, r/3, r%3)
							}
						}
					}
					y = append(y, s)
				}
			}
		}
		for cc := 0; cc < c; cc++ {
			for p := 0; p < h/2; p++ {
				for q := 0; q < w/2; q++ {
					mp = append(mp, math.Max(math.Max(at(x, 0, cc, 2*p, 2*q), at(x, 0, cc, 2*p+1, 2*q)),
						math.Max(at(x, 0, cc, 2*p, 2*q+1), at(x, 0, cc, 2*p+1, 2*q+1))))
				}
			}
		}
		agrees(t, "conv", y, rs[0])
		agrees(t, "pool", mp, rs[1])
	}
}

func TestProcs(t *testing.T) {
	m := compile(t, `proc solve(L: f64[N, N], b: f64[N], x: out f64[N]) {
	  for i in 0..N {
	    var s: f64 = b[i]
	    for j in 0..i { s -= L[i, j] * x[j] }
	    if L[i, i] != 0.0 { x[i] = s / L[i, i] } else if i == 0 { x[i] = 1.0 } else { x[i] = 0.0 }
	  }
	}
	proc spmv(ptr: i32[P], col: i32[E], v: f64[E], x: f64[M], y: out f64[N]) where P == N + 1 {
	  for i in 0..N {
	    y[i] = 0.0
	    for k in index(ptr[i])..index(ptr[i+1]) { y[i] += v[k] * x[col[k]] }
	  }
	}
	proc both(L: f64[N, N], b: f64[N], x: out f64[N], s: out f64[]) {
	  solve(L, b, x)
	  s[] = sum[i] x[i] * x[i]
	}`)
	rnd := rand.New(rand.NewSource(8))
	for _, n := range sizes {
		L, b := random(rnd, num.F64, int64(n), int64(n)), random(rnd, num.F64, int64(n))
		for i := 0; i < n; i++ {
			L.Mem.Cells[i*n+i] = num.FromFloat(2)
		}
		rs := run(t, m, "both", L, b, nil, nil)
		x, norm := make([]float64, n), 0.0
		for i := range x {
			s := at(b, i)
			for j := 0; j < i; j++ {
				s -= at(L, i, j) * x[j]
			}
			x[i] = s / 2
			norm += x[i] * x[i]
		}
		agrees(t, "x", x, rs[0])
		agrees(t, "s", []float64{norm}, rs[1])
	}
	y := ir.NewArray(num.F64, 2)
	rs := run(t, m, "spmv", tensorOf(num.I32, []int64{3}, 0, 2, 3), tensorOf(num.I32, []int64{3}, 0, 2, 1),
		tensorOf(num.F64, []int64{3}, 1, 2, 3), tensorOf(num.F64, []int64{3}, 10, 20, 30), y)
	agrees(t, "spmv", []float64{70, 60}, rs[0])
}

func TestQuantised(t *testing.T) {
	m := compile(t, `fn f(const w: int4(group=4) f16[N, K], x: f32[M, K]) -> f32[M, N] {
	  return sum[k] x[m, k] * w[n, k] for m, n
	}`)
	enc := m.Items[0].(*ir.Encoding)
	rnd := rand.New(rand.NewSource(9))
	n, k := 3, 8
	codes, scales := ir.NewArray(num.U8, int64(n), int64(k/2)), random(rnd, num.F16, int64(n), int64(k/4))
	for i := range codes.Mem.Cells {
		codes.Mem.Cells[i] = num.FromInt(int64(rnd.Intn(256)))
	}
	x := random(rnd, num.F32, 2, int64(k))
	rs := run(t, m, "f", &ir.Encoded{Enc: enc, Shape: []int64{3, 8}, Parts: []*ir.Array{codes, scales}}, x)
	var want []float64
	for i := 0; i < 2; i++ {
		for j := 0; j < n; j++ {
			s := 0.0
			for l := 0; l < k; l++ {
				code := int(at(codes, j, l/2))>>(4*(l%2))&15 - 8
				s += at(x, i, l) * float64(code) * at(scales, j, l/4)
			}
			want = append(want, s)
		}
	}
	agrees(t, "int4", want, rs[0])
}
