package run

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/microkernels/gemm"
)

// spelled are products of all transposes in one element type and another for the
// operands, with results and epilogues of their own.
const spelled = `
fn nn(a: %[1]s[M, K], b: %[1]s[K, N]) -> %[2]s[M, N] { return sum[k] %[2]s(a[i, k]) * %[2]s(b[k, j]) for i, j }
fn nt(a: %[1]s[M, K], b: %[1]s[N, K]) -> %[2]s[M, N] { return sum[k] %[2]s(a[i, k]) * %[2]s(b[j, k]) for i, j }
fn tn(a: %[1]s[K, M], b: %[1]s[K, N]) -> %[2]s[M, N] { return sum[k] %[2]s(a[k, i]) * %[2]s(b[k, j]) for i, j }
fn tt(a: %[1]s[K, M], b: %[1]s[N, K]) -> %[2]s[M, N] { return sum[k] %[2]s(a[k, i]) * %[2]s(b[j, k]) for i, j }
fn weights(a: %[1]s[M, K], const b: %[1]s[N, K], c: %[2]s[N]) -> %[2]s[M, N] {
  return max((sum[k] %[2]s(a[i, k]) * %[2]s(b[j, k])) - c[j], %[2]s(0)) for i, j
}
`

// Products of every size beside the tiles, in all transposes, with operands that
// lie in every way, agree with the interpreter whichever variant runs; one library
// serves all sizes. Only some sizes are drawn unless all are wanted.
func TestProductsOfEverySize(t *testing.T) {
	types := [][2]num.Elem{{num.F32, num.F32}, {num.F64, num.F64}, {num.F16, num.F32}, {num.BF16, num.F32}, {num.I8, num.I32}}
	for i, e := range types {
		for _, on := range Machines {
			if on.Name != "x86-64-v3" && !(Whole() && i < 2) || e[0] == num.BF16 && !Whole() || on.Absent() != "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s_%s", on.Name, e[0], e[1]), func(t *testing.T) {
				t.Parallel()
				everySize(t, on, e, i < 2)
			})
		}
	}
}

// everySize checks the products of one pair of types on a machine.
func everySize(t *testing.T, on *Machine, e [2]num.Elem, tiled bool) {
	m := program(t, map[string]string{"prog.tn": fmt.Sprintf(spelled, e[0], e[1])})
	watched := *on.At(2)
	watched.Options.Watch = true
	p, err := BuildFor(m, &watched)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	desc, err := on.Desc()
	if err != nil {
		t.Fatal(err)
	}
	ran, calls := map[string]bool{}, 0
	for _, f := range m.Funcs() {
		for i, s := range sizesBeside(desc.Lanes(e[1].Bytes()), gemm.Shapes(numbersOf(desc), num.F32)) {
			dims := map[string]int64{"M": s[0], "N": s[1], "K": s[2]}
			calls += eachVariant(t, p, f, dims, Layout(i%Layouts), ran)
		}
	}
	t.Logf("%d calls of the variants %v", calls, slices.Sorted(maps.Keys(ran)))
	if tiled && len(ran) < 10 {
		t.Errorf("only the variants %v ran", ran)
	}
}

// sizesBeside are sizes M, N, K from 0 to one more than two tiles of each shape:
// all of them, or some that are drawn.
func sizesBeside(lanes int, shapes []gemm.Key) (sizes [][3]int64) {
	rng := rand.New(rand.NewPCG(3, uint64(lanes)))
	for _, k := range shapes {
		rows, columns, depth := int64(2*k.MR+1), int64(2*k.NV*lanes+1), int64(2*lanes+1)
		if !Whole() {
			for range 12 {
				sizes = append(sizes, [3]int64{rng.Int64N(rows + 1), rng.Int64N(columns + 1), rng.Int64N(depth + 1)})
			}
			continue
		}
		for m := range rows + 1 {
			for n := range columns + 1 {
				for d := int64(0); d <= depth; d += 1 + d/4 {
					sizes = append(sizes, [3]int64{m, n, d})
				}
			}
		}
	}
	return sizes
}

// eachVariant calls f with each variant forced in turn, where that can be done.
func eachVariant(t *testing.T, p *Program, f *ir.Func, dims map[string]int64, l Layout, ran map[string]bool) (calls int) {
	t.Helper()
	args, ok := Draw(f, dims, Plain, uint64(dims["M"]+7*dims["N"]+49*dims["K"]))
	if !ok {
		t.Fatalf("%s: no arguments for %v", f.Name, dims)
	}
	ref, fault := Reference(p.Source, f.Name, args)
	check := func(name string) {
		calls++
		if _, err := p.Check(f.Name, args, ref, fault, l); err != nil {
			t.Errorf("%s %v, layout %d, variant %s: %v", f.Name, dims, l, name, err)
		}
	}
	check("picked")
	here, ok := p.lib.(loaded)
	if !ok {
		return calls
	}
	for _, c := range here.lib.Choices(f.Name) {
		for k, name := range c.Variants {
			c.Force(k)
			ran[name] = true
			check(name)
		}
		c.Force(-1)
	}
	return calls
}

// Large products, too large for the interpreter, are as near to the sums in
// float64 as rounding each product and each sum once allows.
func TestLargeProducts(t *testing.T) {
	on := *Machines[0].At(2)
	on.Options.Watch = true
	m := program(t, map[string]string{"prog.tn": fmt.Sprintf(spelled, num.F32, num.F32)})
	p, err := BuildFor(m, &on)
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	defer p.Close()
	for i, s := range [][3]int64{{131, 217, 901}, {9, 1031, 525}, {517, 3, 2049}} {
		dims := map[string]int64{"M": s[0], "N": s[1], "K": s[2]}
		for j, name := range []string{"nn", "nt", "tn", "tt"} {
			args, _ := Draw(ir.Lookup[*ir.Func](m, name), dims, Plain, uint64(4*i+j))
			a, b := floats(args[0].(*ir.Array)), floats(args[1].(*ir.Array))
			want, bound := productOf(a, b, s, name[0] == 't', name[1] == 't')
			for _, c := range p.lib.(loaded).lib.Choices(name) {
				for k, variant := range c.Variants {
					c.Force(k)
					got, status, err := p.Call(name, args, [][]int64{{s[0], s[1]}}, AllBefore)
					if err != nil || status.Code != 0 {
						t.Fatal(name, dims, status, err)
					}
					for at, x := range floats(got[0].(*ir.Array)) {
						if math.Abs(x-want[at]) > bound[at] {
							t.Fatalf("%s %v, variant %s: element %d is %v, want %v within %v", name, dims, variant, at, x, want[at], bound[at])
						}
					}
				}
				c.Force(-1)
			}
		}
	}
}

func floats(a *ir.Array) []float64 {
	list := make([]float64, len(a.Mem.Cells))
	for i, c := range a.Mem.Cells {
		list[i] = num.Float(num.Cast(a.Elem, num.F64, c))
	}
	return list
}

// productOf is the product in float64 and how far f32 may be off: half an ulp for
// each product and sum, of the sum of what they are at most.
func productOf(a, b []float64, s [3]int64, turnA, turnB bool) (want, bound []float64) {
	m, n, k := s[0], s[1], s[2]
	stepA, stepK, rowB, colB := k, int64(1), n, int64(1)
	if turnA {
		stepA, stepK = 1, m
	}
	if turnB {
		rowB, colB = 1, k
	}
	const half = 1.0 / (1 << 24)
	want, bound = make([]float64, m*n), make([]float64, m*n)
	for i := range m {
		for l := range k {
			x := a[i*stepA+l*stepK]
			for j := range n {
				y := x * b[l*rowB+j*colB]
				want[i*n+j] += y
				bound[i*n+j] += math.Abs(y) * half * float64(k+1)
			}
		}
	}
	return want, bound
}
