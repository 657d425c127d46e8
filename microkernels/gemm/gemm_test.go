package gemm_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/microkernels/gemm"
)

// guard is what every cell outside a view holds: no product gives it.
const guard = 100

// matrix is a view of guarded memory with small random integers in it.
func matrix(r *rand.Rand, e num.Elem, lead, shape []int64) *ir.Array {
	strides := append(append([]int64{}, lead...), 1)
	size := int64(16)
	for d, n := range shape {
		size += max(0, n-1) * strides[d]
	}
	a := ir.NewArray(e, size+16)
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = num.Cast(num.F64, e, num.FromFloat(guard))
	}
	a.Shape, a.Strides, a.Off = shape, strides, 16
	visit(a, func(pos int64, _ []int64) {
		a.Mem.Cells[pos] = num.Cast(num.F64, e, num.FromFloat(float64(drawn(r, e))))
	})
	return a
}

// drawn is a small integer that e holds.
func drawn(r *rand.Rand, e num.Elem) int {
	if e == num.U8 {
		return r.IntN(9)
	}
	return r.IntN(9) - 4
}

func visit(a *ir.Array, f func(pos int64, at []int64)) {
	n, _ := ir.SizeOf(a.Shape)
	for c := int64(0); c < n; c++ {
		at, rest := make([]int64, len(a.Shape)), c
		for d := len(at) - 1; d >= 0; d-- {
			at[d], rest = rest%a.Shape[d], rest/a.Shape[d]
		}
		pos, _ := a.Cell(at)
		f(pos, at)
	}
}

func at(a *ir.Array, idx ...int64) float64 {
	pos, _ := a.Cell(idx)
	return num.Float(num.Cast(a.Elem, num.F64, a.Mem.Cells[pos]))
}

// Every number of rows and columns of a tile, with both values of first and
// random strides, gives the product, by the body and by the meaning of the kernel;
// nothing outside the views is touched. The values are small integers, so that every order of adding is exact.
func TestBodies(t *testing.T) {
	for _, lanes := range []int{2, 4} {
		for _, e := range []num.Elem{num.F32, num.F64} {
			for _, a := range []gemm.Form{gemm.Rows, gemm.Columns} {
				for _, b := range []gemm.Form{gemm.Rows, gemm.Panels} {
					k := gemm.Key{Elem: e, Acc: e, MR: 3, NV: 2, Lanes: lanes, A: a, B: b}
					t.Run(k.Name(), func(t *testing.T) { checkBody(t, k) })
				}
			}
		}
	}
	f32, f16, bf16, i8, u8, i32 := num.F32, num.F16, num.BF16, num.I8, num.U8, num.I32
	for _, k := range []gemm.Key{
		{Elem: f32, Acc: f32, MR: 2, NV: 3, B: gemm.Columns},
		{Elem: num.F64, Acc: num.F64, MR: 1, NV: 5, B: gemm.Columns},
		{Elem: f16, Acc: f32, MR: 2, NV: 2, B: gemm.Columns},
		{Elem: f16, Acc: f32, MR: 3, NV: 2, B: gemm.Panels},
		{Elem: bf16, Acc: f32, MR: 2, NV: 2, A: gemm.Columns, B: gemm.Rows},
		{Elem: f32, BElem: bf16, Acc: f32, MR: 3, NV: 1, B: gemm.Panels},
		{Elem: bf16, Acc: f32, MR: 3, NV: 2, B: gemm.Panels, Group: 2},
		{Elem: i8, Acc: i32, MR: 2, NV: 2, B: gemm.Rows},
		{Elem: i8, Acc: i32, MR: 3, NV: 2, B: gemm.Panels, Group: 2},
		{Elem: u8, BElem: i8, Acc: i32, MR: 2, NV: 2, B: gemm.Panels, Group: 4},
		{Elem: f32, Acc: f32, MR: 2, NV: 2, B: gemm.Panels, Ahead: 256},
		{Elem: f32, Acc: f32, MR: 1, NV: 2, B: gemm.Columns, Ahead: 128},
	} {
		k.Lanes = 4
		t.Run(k.Name(), func(t *testing.T) { checkBody(t, k) })
	}
}

// built is a module of the kernel, its body, and a proc that runs its meaning
// with the parameters of the body.
func built(t *testing.T, k gemm.Key) *ir.Module {
	t.Helper()
	kernel, body := gemm.Build(k, gemm.Machine{})
	var params, providers []string
	for i, p := range kernel.Params[:2] {
		at := []string{"p", "q", "r"}[:len(p.Value.Type.(ir.Buf).Dims)]
		v := body.Params[i].Value
		params = append(params, fmt.Sprintf("in %%%s: %s", v.Name, v.Type))
		subs := strings.Join(at, ", ")
		providers = append(providers, fmt.Sprintf("%s(%s) { yield(load(%%%s[%s])) }", v.Name, subs, v.Name, subs))
	}
	text := ir.Print(&ir.Module{Items: []ir.Item{&ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body}}) + fmt.Sprintf(`
proc tile @meaning<%s>(%s, inout %%c: %s, in %%first: index) {
  tile.call kernel=@%s (%%c[0:m, 0:n], k) first(%%first != 0) %s
  return() }
`, strings.Join(body.Dims, ", "), strings.Join(params, ", "), body.Params[2].Value.Type, k.Name(), strings.Join(providers, " "))
	m, err := ir.Parse(k.Name(), text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

func checkBody(t *testing.T, k gemm.Key) {
	p := interp.New(built(t, k), interp.Options{})
	r := rand.New(rand.NewPCG(1, 2))
	for rows := int64(1); rows <= int64(k.MR); rows++ {
		for cols := int64(1); cols <= int64(k.Cols()); cols++ {
			for _, depth := range []int64{0, 1, 2, 5} {
				for first := int64(0); first < 2; first++ {
					runBody(t, p, k, r, rows, cols, depth, first)
				}
			}
		}
	}
}

func runBody(t *testing.T, p *interp.Program, k gemm.Key, r *rand.Rand, m, n, depth, first int64) {
	t.Helper()
	pad := func(n int64) []int64 { return []int64{n + 1 + int64(r.IntN(4))} }
	l := int64(k.Lanes)
	a := matrix(r, k.Elem, pad(depth), []int64{m, depth})
	aAt := func(i, s int64) float64 { return at(a, i, s) }
	if k.A == gemm.Columns {
		a = matrix(r, k.Elem, pad(m), []int64{depth, m})
		aAt = func(i, s int64) float64 { return at(a, s, i) }
	}
	b := matrix(r, k.ElemOfB(), pad(n), []int64{depth, n})
	bAt := func(s, j int64) float64 { return at(b, s, j) }
	switch g := int64(max(k.Group, 1)); k.B {
	case gemm.Columns:
		b = matrix(r, k.ElemOfB(), pad(depth), []int64{n, depth})
		bAt = func(s, j int64) float64 { return at(b, j, s) }
	case gemm.Panels:
		groups := (depth + g - 1) / g
		b = matrix(r, k.ElemOfB(), []int64{groups*l*g + 3, l * g}, []int64{(n + l - 1) / l, groups, l * g})
		bAt = func(s, j int64) float64 { return at(b, j/l, s/g, j%l*g+s%g) }
		visit(b, func(pos int64, idx []int64) { // what is behind the depth is 0
			if idx[1]*g+idx[2]%g >= depth {
				b.Mem.Cells[pos] = num.Cast(num.F64, k.ElemOfB(), num.FromFloat(0))
			}
		})
	}
	c := matrix(r, k.Acc, pad(n), []int64{m, n})
	want := append([]num.Cell{}, c.Mem.Cells...)
	visit(c, func(pos int64, idx []int64) {
		sum := 0.0
		if first == 0 {
			sum = num.Float(num.Cast(k.Acc, num.F64, want[pos]))
		}
		for s := int64(0); s < depth; s++ {
			sum += aAt(idx[0], s) * bAt(s, idx[1])
		}
		want[pos] = num.Cast(num.F64, k.Acc, num.FromFloat(sum))
	})
	old := append([]num.Cell{}, c.Mem.Cells...)
	for _, fn := range []string{k.BodyName(), "meaning"} {
		copy(c.Mem.Cells, old)
		if _, err := p.Run(fn, []any{a, b, c, interp.Scalar{Elem: num.Index, Cell: num.FromInt(first)}}); err != nil {
			t.Fatalf("%s, %dx%dx%d first %d: %v", fn, m, n, depth, first, err)
		}
		if !reflect.DeepEqual(c.Mem.Cells, want) {
			t.Fatalf("%s, %dx%dx%d first %d: not the product", fn, m, n, depth, first)
		}
	}
}

// The meaning says what the name does, and the text is the same each time.
func TestMeaning(t *testing.T) {
	k := gemm.Key{Elem: num.F32, Acc: num.F32, MR: 6, NV: 2, Lanes: 8, A: gemm.Rows, B: gemm.Panels}
	var texts []string
	for range 2 {
		kernel, body := gemm.Build(k, gemm.Machine{})
		m := &ir.Module{Items: []ir.Item{&ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body}}
		texts = append(texts, ir.Print(m))
	}
	if texts[0] != texts[1] {
		t.Error("two builds of a kernel differ")
	}
	for _, want := range []string{"tile(6, 16, 1)", "%b[j//8, l, j mod 8]"} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %s in %s", want, texts[0][:600])
		}
	}
}

// The tiles of two machines, worked out by hand from the rule; equal numbers give
// equal lists.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		m    gemm.Machine
		want string
	}{
		{gemm.Machine{VectorBytes: 32, VectorRegs: 16, FMALatency: 4, FMAPerCycle: 2, LoadsPerCycle: 2}, " 1x8 2x4 2x5 4x3 6x2 14x1 "},
		{gemm.Machine{VectorBytes: 64, VectorRegs: 32, FMALatency: 4, FMAPerCycle: 2, LoadsPerCycle: 2}, " 1x8 2x8 2x9 2x10 3x7 4x6 5x5 6x4 9x3 14x2 30x1 "},
	} {
		got := gemm.Candidates(c.m, num.F32)
		if again := gemm.Candidates(c.m, num.F32); !reflect.DeepEqual(got, again) {
			t.Errorf("%v: two lists", c.m)
		}
		text := " "
		for _, k := range got {
			text += fmt.Sprintf("%dx%d ", k.MR, k.NV)
		}
		for _, k := range gemm.DotCandidates(c.m, num.F64) {
			text += fmt.Sprintf("%d.%d ", k.MR, k.NV)
		}
		if text != c.want+"1.8 2.4 4.2 " {
			t.Errorf("%v: the tiles are%s, want%s", c.m, text, c.want)
		}
	}
}
