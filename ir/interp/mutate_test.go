package interp_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/sym"
)

var tokens = regexp.MustCompile(`[A-Za-z_%@#][A-Za-z0-9_.]*|[0-9.]+|[^\sA-Za-z0-9]`)

// A program with one token changed is refused, runs, or stops with a fault; it
// never brings down the process. (A panic fails the test by itself.)
func TestChangedPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	ran := 0
	for _, name := range []string{"rows_lower.tnir", "lower.tnir"} {
		data, err := os.ReadFile("../ops/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		at := tokens.FindAllStringIndex(text, -1)
		for range 350 {
			k, other := at[r.IntN(len(at))], at[r.IntN(len(at))]
			with := []string{"", "0", "7", "N", text[other[0]:other[1]]}[r.IntN(5)]
			changed := text[:k[0]] + with + text[k[1]:]
			m, err := ir.Parse(name, changed)
			if err != nil || ir.Verify(m) != nil {
				continue
			}
			ran++
			runSmall(m, enclosing(m, 1+strings.Count(text[:k[0]], "\n")), r.Int64N(6))
		}
	}
	if ran < 50 {
		t.Errorf("only %d changed programs were run", ran)
	}
}

// enclosing is the last function that starts at or before a line.
func enclosing(m *ir.Module, line int) *ir.Func {
	var last *ir.Func
	for _, f := range m.Funcs() {
		if f.Loc.First().Line <= line {
			last = f
		}
	}
	return last
}

// runSmall runs f with every dim n; what comes of it does not matter.
func runSmall(m *ir.Module, f *ir.Func, n int64) {
	if f == nil {
		return
	}
	var args []any
	for _, p := range f.Params {
		args = append(args, smallArg(p.Value.Type, n))
	}
	interp.New(m, interp.Options{Ranks: 3, MaxEvals: 20000, MaxBytes: 1 << 22}).Run(f.Name, args)
}

func smallArg(t ir.Type, n int64) any {
	value := func(e sym.Expr) int64 {
		v, err := e.Eval(sym.Env{Name: func(string) (int64, bool) { return n, true }})
		if err != nil {
			return 1
		}
		return min(max(0, v), 300)
	}
	if s, ok := t.(ir.Scalar); ok {
		return interp.Scalar{Elem: s.Elem, Cell: num.Cast(num.I64, s.Elem, 2)}
	}
	dims, ok := ir.DimsOf(t)
	if !ok {
		return nil
	}
	var shape []int64
	for _, d := range dims {
		shape = append(shape, value(d))
	}
	a := ir.NewArray(ir.ElemOf(t), shape...)
	if b, ok := t.(ir.Buf); ok && b.Strides != nil {
		a.Mem.Cells = make([]num.Cell, 400*len(shape)*400)
		for i, s := range b.Strides {
			a.Strides[i] = value(s)
		}
		a.Off = value(b.Offset)
	}
	return a
}
