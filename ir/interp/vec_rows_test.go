package interp_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/ops/vec"
)

// Every lanewise row does in each lane what the scalar op of its name does, with
// and without shadows; comparisons give the lanes of a mask.
func TestLanewiseRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for _, row := range vec.Lanewise {
		name := strings.TrimPrefix(row.Name, "vec.")
		arity := strings.Count(row.Doc[strings.LastIndex(row.Doc, "\n"):], "%") - 1
		ran := 0
		for _, e := range []num.Elem{num.F64, num.F32, num.F16, num.BF16, num.I64, num.I32, num.I16, num.I8, num.U8} {
			if want := scalarOp(name, arity, e); want != nil {
				checkLanewise(t, r, row, name, arity, e, want)
				ran++
			}
		}
		if ran == 0 {
			t.Errorf("%s works on no element type", row.Name)
		}
	}
}

func scalarOp(name string, arity int, e num.Elem) func(c []num.Cell) num.Cell {
	switch arity {
	case 1:
		if op := num.Unary(name, e); op != nil {
			return func(c []num.Cell) num.Cell { return op(c[0]) }
		}
	case 2:
		if op := num.Binary(name, e); op != nil {
			return func(c []num.Cell) num.Cell { return op(c[0], c[1]) }
		}
	case 3:
		if op := num.Ternary(name, e); op != nil {
			return func(c []num.Cell) num.Cell { return op(c[0], c[1], c[2]) }
		}
	}
	return nil
}

func checkLanewise(t *testing.T, r *rand.Rand, row *ir.OpDef, name string, arity int, e num.Elem, want func(c []num.Cell) num.Cell) {
	t.Helper()
	names := []string{"%a", "%b", "%c"}[:arity]
	var text strings.Builder
	fmt.Fprintf(&text, "tenon ir 1\nproc vec @p(in %%x: buf<%s[24]>, out %%y: buf<%s[8]>) {\n", e, e)
	for i, n := range names {
		fmt.Fprintf(&text, "  %s = vec.load(%%x[%d]) : vec<8 x %s>\n", n, 8*i, e)
	}
	fmt.Fprintf(&text, "  %%r = vec.%s(%s)\n", name, strings.Join(names, ", "))
	if row.Traits.Has(ir.Comparison) {
		fmt.Fprintf(&text, "  %%one = vec.splat(1) : vec<8 x %s>\n  %%zero = vec.splat(0) : vec<8 x %s>\n  %%q = vec.select(%%r, %%one, %%zero)\n", e, e)
		fmt.Fprintf(&text, "  vec.store(%%q, %%y[0]); return() }\n")
	} else {
		fmt.Fprintf(&text, "  vec.store(%%r, %%y[0]); return() }\n")
	}
	m := parseText(t, "lanes.tnir", strings.NewReplacer("splat(1)", literal(e, 1), "splat(0)", literal(e, 0)).Replace(text.String()))
	x := randomArray(r, e, 24)
	for i, c := range x.Mem.Cells {
		x.Mem.Cells[i] = num.Cast(e, e, c)
		if e.IsFloat() {
			x.Mem.Cells[i] = num.FromFloat(num.Round(e, num.Float(c)))
		}
	}
	copy(x.Mem.Cells[8:10], x.Mem.Cells[0:2]) // two equal lanes
	for _, shadow := range []bool{false, true} {
		out := mustRun(t, row.Name+" "+e.String(), interp.New(m, interp.Options{Shadow: shadow}), "p", cloneArray(x), nil)
		y := ir.NewArray(e, 8)
		for l := range 8 {
			c := want([]num.Cell{x.Mem.Cells[l], x.Mem.Cells[8+l], x.Mem.Cells[16+l]})
			if row.Traits.Has(ir.Comparison) {
				c = num.Cast(num.Bool, e, c)
			}
			y.Mem.Cells[l] = c
		}
		wantSame(t, row.Name+" "+e.String(), out[0], y)
	}
}

func literal(e num.Elem, n int) string {
	if e.IsFloat() {
		return fmt.Sprintf("splat(%d.0)", n)
	}
	return fmt.Sprintf("splat(%d)", n)
}

// The rows that move lanes, one by one against what their text form says.
func TestLaneMoves(t *testing.T) {
	m := parseText(t, "moves.tnir", `tenon ir 1
proc vec @moves<N>(in %n: index, in %a: buf<i64[8]>, in %i: buf<i64[8]>, inout %far: buf<i64[N, 16]>, inout %y: buf<i64[12, 8]>) {
  %v = vec.load(%a[0]) : vec<8 x i64>; %idx = vec.load(%i[0]) : vec<8 x i64>
  %m = vec.first(%n) : mask<8>; %not = vec.not(%m)
  %t = vec.load(%a[3]) mask(%m) : vec<8 x i64>; vec.store(%t, %y[0, 0])
  vec.store(%v, %y[1, 0]) mask(%not)
  %s = vec.shuffle(%v, %t) lanes(15, 0, 1, 9, 7, 8, 3, 3); vec.store(%s, %y[2, 0])
  %p = vec.permute(%v, %idx); vec.store(%p, %y[3, 0])
  %g = vec.gather(%far[N - 1, 2], %idx) mask(%m); vec.store(%g, %y[4, 0])
  vec.scatter(%v, %far[0, 1], %idx) mask(%not)
  %x = vec.extract(%v) lane=6; %ins = vec.insert(%v, %x) lane=1; vec.store(%ins, %y[5, 0])
  %io = vec.iota(%n + 5) : vec<8 x i64>; vec.store(%io, %y[6, 0])
  %b = vec.bcast(%a[5]) : vec<8 x i64>; vec.store(%b, %y[7, 0])
  %sel = vec.select(%m, %v, %b); vec.store(%sel, %y[8, 0])
  %f = vec.cast(%v) : vec<8 x f32>; %ff = vec.mul(%f, %f); %r = vec.cast(%ff) : vec<8 x i64>; vec.store(%r, %y[9, 0])
  %sum = vec.reduce(%v) op=sum; %max = vec.reduce(%v) op=max; %xor = vec.reduce(%v) op=xor
  %any = vec.reduce(%m) op=any; %all = vec.reduce(%m) op=all
  store(%sum, %y[10, 0]); store(%max, %y[10, 1]); store(%xor, %y[10, 2])
  store(cast(%any): i64, %y[10, 3]); store(cast(%all): i64, %y[10, 4])
  %sp = vec.splat(%sum) : vec<8 x i64>; vec.store(%sp, %y[11, 0])
  vec.prefetch(%a[1000]) level=1
  return() }`)
	a, idx := []int64{3, -1, 4, 1, -5, 9, 2, -6}, []int64{0, 7, 3, 3, 9, -1, 12, 5}
	for _, n := range []int64{-3, 0, 1, 5} {
		far, y := ir.NewArray(num.I64, 3, 16), ir.NewArray(num.I64, 12, 8)
		for i := range far.Mem.Cells {
			far.Mem.Cells[i] = num.FromInt(int64(i))
		}
		idx := append([]int64(nil), idx...)
		if n <= 0 {
			idx[4], idx[6] = 1, 2
		}
		wantFar, want := movesReference(n, a, idx, cloneArray(far), cloneArray(y))
		mustRun(t, fmt.Sprint("n=", n), interp.New(m, interp.Options{}), "moves", index(n), ints(a...), ints(idx...), far, y)
		wantSame(t, fmt.Sprint("far, n=", n), far, wantFar)
		wantSame(t, fmt.Sprint("y, n=", n), y, want)
	}
}

func movesReference(n int64, a, idx []int64, far, y *ir.Array) (*ir.Array, *ir.Array) {
	set := func(arr *ir.Array, v int64, at ...int64) {
		pos, _ := arr.Cell(at)
		arr.Mem.Cells[pos] = num.FromInt(v)
	}
	get := func(arr *ir.Array, at ...int64) int64 {
		pos, _ := arr.Cell(at)
		return num.Int(arr.Mem.Cells[pos])
	}
	both := append([]int64(nil), a...)
	sum, top, xor := int64(0), a[0], int64(0)
	for l := range int64(8) {
		on, t := l < n, int64(0)
		if on {
			t = a[l+3]
			set(y, get(far, 2, 2+idx[l]), 4, l)
		} else {
			set(y, a[l], 1, l)
		}
		both = append(both, t)
		set(y, t, 0, l)
		set(y, a[(idx[l]+8)%8], 3, l)
		set(y, n+5+l, 6, l)
		set(y, a[5], 7, l)
		set(y, a[5], 8, l)
		if on {
			set(y, a[l], 8, l)
		}
		set(y, a[l]*a[l], 9, l)
		sum, top, xor = sum+a[l], max(top, a[l]), xor^a[l]
	}
	for l := range int64(8) {
		if l >= n {
			set(far, a[l], 0, 1+idx[l])
		}
		set(y, both[[]int64{15, 0, 1, 9, 7, 8, 3, 3}[l]], 2, l)
		set(y, a[l], 5, l)
		set(y, sum, 11, l)
	}
	set(y, a[6], 5, 1)
	for i, v := range []int64{sum, top, xor, min(max(n, 0), 1), 0} {
		set(y, v, 10, int64(i))
	}
	return far, y
}

// The dot and matrix rows against sums over the lanes of a group.
func TestDotRows(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	cases := []struct {
		name              string
		acc, a, b         num.Elem
		rows, cols, depth int
	}{
		{"dpbf16", num.F32, num.BF16, num.BF16, 1, 1, 2}, {"dpbusd", num.I32, num.U8, num.I8, 1, 1, 4},
		{"dpbssd", num.I32, num.I8, num.I8, 1, 1, 4}, {"dpbuud", num.I32, num.U8, num.U8, 1, 1, 4},
		{"dpwssd", num.I32, num.I16, num.I16, 1, 1, 2}, {"mmbf16", num.F32, num.BF16, num.BF16, 2, 2, 4},
		{"mmss", num.I32, num.I8, num.I8, 2, 2, 8}, {"mmus", num.I32, num.U8, num.I8, 2, 2, 8},
	}
	if len(cases) != len(vec.Dots) {
		t.Errorf("%d rows are tested, there are %d", len(cases), len(vec.Dots))
	}
	for _, c := range cases {
		groups := 3
		na, nb, nc := groups*c.rows*c.depth, groups*c.cols*c.depth, groups*c.rows*c.cols
		m := parseText(t, "dot.tnir", fmt.Sprintf(`tenon ir 1
proc vec @p(in %%a: buf<%[2]s[%[3]d]>, in %%b: buf<%[4]s[%[5]d]>, inout %%c: buf<%[6]s[%[7]d]>) {
  %%x = vec.load(%%a[0]) : vec<%[3]d x %[2]s>; %%y = vec.load(%%b[0]) : vec<%[5]d x %[4]s>
  %%z = vec.load(%%c[0]) : vec<%[7]d x %[6]s>; %%r = vec.%[1]s(%%z, %%x, %%y); vec.store(%%r, %%c[0]); return() }`,
			c.name, c.a, na, c.b, nb, c.acc, nc))
		a, b, acc := small(r, c.a, na), small(r, c.b, nb), small(r, c.acc, nc)
		want := cloneArray(acc)
		for g := range groups {
			for i := range c.rows {
				for j := range c.cols {
					at := (g*c.rows+i)*c.cols + j
					s := value(c.acc, acc.Mem.Cells[at])
					for l := range c.depth {
						s += value(c.a, a.Mem.Cells[(g*c.rows+i)*c.depth+l]) * value(c.b, b.Mem.Cells[(g*c.cols+j)*c.depth+l])
					}
					want.Mem.Cells[at] = num.Cast(num.F64, c.acc, num.FromFloat(s))
				}
			}
		}
		mustRun(t, c.name, interp.New(m, interp.Options{}), "p", a, b, acc)
		wantSame(t, c.name, acc, want)
	}
}

// small has whole numbers whose sums of products are exact in any order.
func small(r *rand.Rand, e num.Elem, n int) *ir.Array {
	a := ir.NewArray(e, int64(n))
	for i := range a.Mem.Cells {
		v := r.Int64N(25) - 12
		if !e.IsSigned() {
			v = 200 + v
		}
		a.Mem.Cells[i] = num.Cast(num.I64, e, num.FromInt(v))
	}
	return a
}

func value(e num.Elem, c num.Cell) float64 { return num.Float(num.Cast(e, num.F64, c)) }
