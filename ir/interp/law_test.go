package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// The laws of the rescaled monoids of the examples, on tuples that folds reach.
// T is run as a function of its own, made from the monoid's act region, so that
// the bounds of its shadows judge both sides.
func TestMonoidLaws(t *testing.T) {
	for _, file := range []string{"dense.tnir", "sparse.tnir"} {
		m := example(t, file)
		for _, it := range m.Items {
			if mon, ok := it.(*ir.Monoid); ok && mon.Base != nil {
				t.Run(mon.Name, func(t *testing.T) { laws(t, m, mon) })
			}
		}
	}
}

// folded is the tuple that mon's fold gives for the elements lo..hi-1 of x.
type folder struct {
	t   *testing.T
	m   *ir.Module
	mon *ir.Monoid
}

func laws(t *testing.T, m *ir.Module, mon *ir.Monoid) {
	text := ir.Print(m)
	text += lawFuncs(mon)
	f := folder{t, parse(t, "laws.tnir", text), mon}
	r := rand.New(rand.NewPCG(31, 32))
	for range 20 {
		x := random(r, num.F32, 12)
		if r.IntN(3) == 0 {
			x.Mem.Cells[r.IntN(12)] = num.FromFloat(math.Inf(-1))
		}
		if mon.Name == "moments" {
			x = random(r, num.F32, 12) // a mean of infinities is no number
		}
		f.check(x)
	}
}

// lawFuncs are @fold_x, the fold over a part of x, and @merge, the combination
// of two folds' tuples in a given order.
func lawFuncs(mon *ir.Monoid) string {
	k := len(mon.Params)
	leaf := map[int]string{2: "%a, exp(sub(%a, %a))", 3: "%a, exp(sub(%a, %a)), mul(exp(sub(%a, %a)), %a)"}[k]
	if mon.Name == "moments" {
		leaf = "1.0: f32, %a, 0.0: f32"
	}
	var rs, ins, ys []string
	for i := range k {
		rs = append(rs, fmt.Sprintf("%%r%d", i))
		ins = append(ins, fmt.Sprintf("%%v%d = %%t%d[i]", i, i))
		ys = append(ys, fmt.Sprintf("%%v%d", i))
	}
	var params []string
	for i := range k {
		params = append(params, fmt.Sprintf("%%t%d: f32[P]", i))
	}
	list := strings.Join
	return fmt.Sprintf(`
func tensor @fold_x<N>(%%x: f32[N]) -> (%d * f32[]) {
  %s = tensor.comp red(i < N) in(%%a = %%x[i]) { yield(%s) } by @%s : %d * f32[]
  return(%s) }
func tensor @merge<P>(%s) -> (%d * f32[]) {
  %s = tensor.comp red(i < P) in(%s) { yield(%s) } by @%s : %d * f32[]
  return(%s) }
`, k, list(rs, ", "), leaf, mon.Name, k, list(rs, ", "), list(params, ", "), k, list(rs, ", "), list(ins, ", "), list(ys, ", "), mon.Name, k, list(rs, ", "))
}

func (f folder) fold(x *ir.Array, lo, hi int64) []*ir.Array {
	part := ir.NewArray(num.F32, hi-lo)
	copy(part.Mem.Cells, x.Mem.Cells[lo:hi])
	return run(f.t, f.m, "fold_x", part)
}

func (f folder) merge(tuples ...[]*ir.Array) []*ir.Array {
	args := make([]any, len(f.mon.Params))
	for c := range args {
		a := ir.NewArray(num.F32, int64(len(tuples)))
		for i, tu := range tuples {
			a.Mem.Cells[i] = tu[c].Mem.Cells[0]
		}
		args[c] = a
	}
	return run(f.t, f.m, "merge", args...)
}

// check: the fold of the whole, of two parts merged in either order, and of
// three parts in either bracketing agree (A3 with commutativity); merging with
// the fold of nothing changes nothing (A2), merging one tuple with the identity
// alone neither (A1).
func (f folder) check(x *ir.Array) {
	f.t.Helper()
	n := x.Shape[0]
	whole, none := f.fold(x, 0, n), f.fold(x, 0, 0)
	a, b, c := f.fold(x, 0, 4), f.fold(x, 4, 5), f.fold(x, 5, n)
	for what, got := range map[string][]*ir.Array{
		"merged":         f.merge(a, b, c),
		"other order":    f.merge(c, a, b),
		"left bracket":   f.merge(f.merge(a, b), c),
		"right bracket":  f.merge(a, f.merge(b, c)),
		"identity left":  f.merge(none, whole),
		"identity right": f.merge(whole, none),
	} {
		for i := range got {
			if _, err := interp.Compare(got[i], whole[i]); err != nil {
				f.t.Errorf("%s, component %d of %v: %v", what, i, x.Mem.Cells, err)
			}
		}
	}
	alone := f.merge(a)
	for i := range alone {
		wantSame(f.t, "a tuple by itself", alone[i], a[i])
	}
}
