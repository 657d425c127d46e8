package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/microkernels/gemm"
	"tenon/runtime"
	"tenon/targets"
)

// numbersOf are those of a machine that the candidates depend on.
func numbersOf(d *targets.Desc) gemm.Machine {
	return gemm.Machine{VectorBytes: d.VectorBytes, VectorRegs: d.VectorRegs, Masked: d.Masked, FusedMul: d.FusedMul,
		FMALatency: d.FMA.Latency, FMAPerCycle: d.FMA.PerCycle, LoadsPerCycle: d.Load.PerCycle}
}

// forms are the ways of A and B that kernels take.
var forms = [][2]gemm.Form{{gemm.Rows, gemm.Panels}, {gemm.Rows, gemm.Rows}, {gemm.Columns, gemm.Panels}, {gemm.Columns, gemm.Rows}}

// kernelsOf are the candidates of a machine in every form, or in one form each,
// and those with narrower operands.
func kernelsOf(d *targets.Desc, e num.Elem, all bool) (keys []gemm.Key) {
	keys = gemm.DotCandidates(numbersOf(d), e)
	if e == num.F32 {
		for i, k := range gemm.Candidates(numbersOf(d), e) {
			k.A, k.B = forms[i%len(forms)][0], forms[i%len(forms)][1]
			k.Elem, k.BElem = []num.Elem{num.F32, num.BF16, num.F16}[i%3], []num.Elem{num.BF16, num.F16, num.F16, num.BF16}[i%4]
			keys = append(keys, k)
		}
	}
	for i, k := range gemm.Candidates(numbersOf(d), e) {
		for j, f := range forms {
			if k.A, k.B = f[0], f[1]; all || j == i%len(forms) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// window is a rectangle of a larger array: what a body may read.
type window struct {
	shape []int64 // of the array
	view  string  // of it, the scalar with its offset included
}

// windows are the arrays of A, B and C for sizes m, n, k, where la, lb and lc are
// the sizes of what surrounds the views, and the text of those views.
func windows(k gemm.Key, m, n, depth, la, lb, lc int64) [3]window {
	l := int64(k.Lanes)
	a := window{[]int64{m, depth + la}, "0:%m, %oa:%k"}
	if k.A == gemm.Columns {
		a = window{[]int64{depth, m + la}, "0:%k, %oa:%m"}
	}
	b := window{[]int64{depth, n + lb}, "0:%k, %ob:%n"}
	switch k.B {
	case gemm.Columns:
		b = window{[]int64{n, depth + lb}, "0:%n, %ob:%k"}
	case gemm.Panels:
		b = window{[]int64{(n + l - 1) / l, depth + lb, l}, fmt.Sprintf("0:(%%n + %d)//%d, %%ob:%%k, 0:%d", l-1, l, l)}
	}
	return [3]window{a, b, {[]int64{m, n + lc}, "0:%m, %oc:%n"}}
}

// callers is a module of kernels, each with a proc that calls its body with views
// of larger arrays, so that the strides are the caller's.
func callers(t *testing.T, keys []gemm.Key) *ir.Module {
	t.Helper()
	var items []ir.Item
	text := ""
	for _, k := range keys {
		kernel, body := gemm.Build(k, gemm.Machine{})
		items = append(items, &ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body)
		w := windows(k, 0, 0, 0, 0, 0, 0)
		dims := []string{"D0, D1", "D2, D3, D4", "D5, D6"}
		if len(w[1].shape) == 2 {
			dims[1] = "D2, D3"
		}
		text += fmt.Sprintf(`
proc loop @run_%s<%s>(in %%A: buf<%s[%s]>, in %%B: buf<%s[%s]>, inout %%C: buf<%s[%s]>,
    in %%m: index, in %%n: index, in %%k: index, in %%oa: index, in %%ob: index, in %%oc: index, in %%first: index) {
  loop.call @%s(%%A[%s], %%B[%s], %%C[%s], %%first)
  return() }
`, k.Name(), strings.Join(dims, ", "), k.Elem, dims[0], k.ElemOfB(), dims[1], k.Acc, dims[2], k.BodyName(), w[0].view, w[1].view, w[2].view)
	}
	return verified(t, ir.Print(&ir.Module{Items: items})+text)
}

// aside fills what surrounds a view: no product with it goes unseen.
func aside(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.Cast(num.F64, e, num.FromFloat(math.NaN()))
	}
	return num.FromInt(111)
}

// tile is a call of a body.
type tile struct {
	key            gemm.Key
	m, n, k, first int64
	layout         Layout // AllBefore: views end where a guard page begins
	aheadA, aheadB int64  // offsets of the views in their rows
	aheadC         int64
	a, b, c        *ir.Array
}

// newTile draws the elements, small integers whose sums are exact in any order.
func newTile(r *rand.Rand, k gemm.Key, m, n, depth, first int64, layout Layout) *tile {
	x := &tile{key: k, m: m, n: n, k: depth, first: first, layout: layout}
	var pads [3]int64
	for i := range pads {
		pads[i] = r.Int64N(4)
	}
	w := windows(k, m, n, depth, pads[0], pads[1], pads[2])
	if layout == AllBefore {
		x.aheadA, x.aheadB, x.aheadC = pads[0], pads[1], pads[2]
	}
	x.a, x.b, x.c = filled(k.Elem, w[0].shape), filled(k.ElemOfB(), w[1].shape), filled(k.Acc, w[2].shape)
	draw := func(a *ir.Array, at int64) {
		a.Mem.Cells[at] = num.Cast(num.F64, a.Elem, num.FromFloat(float64(r.IntN(9)-4)))
	}
	for i := range m {
		for l := range depth {
			draw(x.a, x.atA(i, l))
		}
	}
	for j := range n {
		for l := range depth {
			draw(x.b, x.atB(l, j))
		}
		for i := range m {
			draw(x.c, x.atC(i, j))
		}
	}
	return x
}

func filled(e num.Elem, shape []int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = aside(e)
	}
	return a
}

// atA, atB and atC are the cells of the elements that the key's forms mean.
func (x *tile) atA(i, l int64) int64 {
	if x.key.A == gemm.Columns {
		i, l = l, i
	}
	return i*x.a.Shape[1] + x.aheadA + l
}

func (x *tile) atB(l, j int64) int64 {
	switch w := int64(x.key.Lanes); x.key.B {
	case gemm.Columns:
		return j*x.b.Shape[1] + x.aheadB + l
	case gemm.Panels:
		return (j/w*x.b.Shape[1]+x.aheadB+l)*w + j%w
	}
	return l*x.b.Shape[1] + x.aheadB + j
}

func (x *tile) atC(i, j int64) int64 { return i*x.c.Shape[1] + x.aheadC + j }

// want is C after the call, by the definition.
func (x *tile) want() []num.Cell {
	c := append([]num.Cell{}, x.c.Mem.Cells...)
	value := func(a *ir.Array, at int64) float64 { return num.Float(num.Cast(a.Elem, num.F64, a.Mem.Cells[at])) }
	for i := range x.m {
		for j := range x.n {
			sum := 0.0
			if x.first == 0 {
				sum = value(x.c, x.atC(i, j))
			}
			for l := range x.k {
				sum += value(x.a, x.atA(i, l)) * value(x.b, x.atB(l, j))
			}
			c[x.atC(i, j)] = num.Cast(num.F64, x.key.Acc, num.FromFloat(sum))
		}
	}
	return c
}

// check calls the body and compares all of C, gaps included.
func (x *tile) check(p *Program) error {
	args := []any{x.a, x.b, x.c}
	for _, v := range []int64{x.m, x.n, x.k, x.aheadA, x.aheadB, x.aheadC, x.first} {
		args = append(args, interp.Scalar{Elem: num.Index, Cell: num.FromInt(v)})
	}
	want := x.want()
	got, status, err := p.Call("run_"+x.key.Name(), args, [][]int64{x.c.Shape}, x.layout)
	if err == nil && status.Code != runtime.OK {
		err = fmt.Errorf("it returns %+v", status)
	}
	if err != nil {
		return err
	}
	for at, c := range got[0].(*ir.Array).Mem.Cells {
		if c != want[at] && !(x.key.Acc.IsFloat() && isNaN(x.key.Acc, c) && isNaN(x.key.Acc, want[at])) {
			return fmt.Errorf("cell %d of C, whose rows are %d long, is %v, want %v", at, x.c.Shape[1],
				num.Float(num.Cast(x.key.Acc, num.F64, c)), num.Float(num.Cast(x.key.Acc, num.F64, want[at])))
		}
	}
	return nil
}

func isNaN(e num.Elem, c num.Cell) bool { return math.IsNaN(num.Float(num.Cast(e, num.F64, c))) }

// upTo lists the numbers from 0 to n, or, unless all are wanted, those where
// something changes: about 0, about the multiples of step and n.
func upTo(n, step int64, all bool) (list []int64) {
	for i := int64(0); i <= n; i++ {
		if all || i < 2 || i > n-2 || step > 1 && (i%step < 2 || i%step == step-1) {
			list = append(list, i)
		}
	}
	return list
}

// exhaust runs a body on every number of rows and columns, with several lengths
// of sums, both values of first and strides that differ each time.
func exhaust(t *testing.T, p *Program, k gemm.Key, all bool) (calls int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(k.MR), uint64(k.NV)))
	lanes, made := int64(k.Lanes), 0
	for _, m := range upTo(int64(k.MR), 1, all) {
		for _, n := range upTo(int64(k.Cols()), lanes, all) {
			for _, depth := range upTo(2*lanes+1, lanes, false) {
				for first := range int64(2) {
					if made++; !all && made%3 > 0 {
						continue
					}
					calls++
					x := newTile(r, k, m, n, depth, first, []Layout{AllBefore, AllBehind}[calls%2])
					if err := x.check(p); err != nil {
						t.Fatalf("%s, %d x %d, sums of %d, first %d: %v", k.Name(), m, n, depth, first, err)
					}
				}
			}
		}
	}
	return calls
}

// Every candidate of every machine gives the product for every number of rows,
// of columns and of products summed, whatever the strides, and touches nothing
// else: guard pages lie where the views end or begin.
func TestEveryTile(t *testing.T) {
	for _, on := range Machines {
		if why := on.Absent(); why != "" {
			t.Logf("SKIPPED on %s: %s", on.Name, why)
			continue
		}
		if !Whole() && on.Name != "x86-64" && on.Name != "x86-64-v3" {
			continue // one machine without fused multiply-add, one with it
		}
		desc, err := on.Desc()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []num.Elem{num.F32, num.F64} {
			t.Run(fmt.Sprintf("%s/%s", on.Name, e), func(t *testing.T) { everyTile(t, on.At(3), kernelsOf(desc, e, Whole())) })
		}
	}
}

func everyTile(t *testing.T, on *Machine, keys []gemm.Key) {
	p, err := BuildFor(callers(t, keys), on)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	calls := 0
	for _, k := range keys {
		calls += exhaust(t, p, k, Whole())
	}
	t.Logf("%d kernels, %d tiles", len(keys), calls)
}
