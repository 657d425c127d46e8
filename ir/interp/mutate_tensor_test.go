package interp_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"tenon/ir"
	"tenon/ir/interp"
)

// Like TestChangedPrograms, at the tensor level and on drawn arguments: a
// changed program is refused, runs, or stops with a fault.
func TestChangedTensorPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 43))
	ran := 0
	for _, name := range []string{"dense.tnir", "sparse.tnir", "rows_tensor.tnir"} {
		data, err := os.ReadFile("../ops/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		at := tokens.FindAllStringIndex(text, -1)
		for range changes {
			k, other := at[r.IntN(len(at))], at[r.IntN(len(at))]
			with := []string{"", "0", "7", "N", text[other[0]:other[1]]}[r.IntN(5)]
			changed := text[:k[0]] + with + text[k[1]:]
			m, err := ir.Parse(name, changed)
			if err != nil || ir.Verify(m) != nil {
				continue
			}
			if f := enclosing(m, 1+strings.Count(text[:k[0]], "\n")); f != nil {
				ran++
				runDrawn(t, m, f, changed, int64(ran))
			}
		}
	}
	if ran < 50 {
		t.Errorf("only %d changed programs were run", ran)
	}
}

const changes = 300

func runDrawn(t *testing.T, m *ir.Module, f *ir.Func, text string, seed int64) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("@%s panics: %v\n%s", f.Name, p, text)
		}
	}()
	args, err := interp.Seeded(m, f, seed)
	if err != nil {
		return
	}
	interp.New(m, interp.Options{MaxEvals: 20000, MaxBytes: 1 << 22, Shadow: seed%2 == 0}).Run(f.Name, args)
}

// Every function of the tensor rows' examples runs on drawn arguments, and gives
// the same with shadows as without.
func TestTensorRowsRun(t *testing.T) {
	m := example(t, "rows_tensor.tnir")
	for _, f := range m.Funcs() {
		for seed := range int64(8) {
			args, err := interp.Seeded(m, f, seed)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := interp.New(m, interp.Options{}).Run(f.Name, args)
			if err != nil {
				if f.Name != "scatter" { // its subscripts may be out of range
					t.Errorf("@%s: %v", f.Name, err)
				}
				continue
			}
			shadowed, err := interp.New(m, interp.Options{Shadow: true}).Run(f.Name, args)
			if err != nil {
				t.Fatalf("@%s with shadows: %v", f.Name, err)
			}
			for i := range plain {
				wantSame(t, f.Name, plain[i], shadowed[i].(*ir.Array))
			}
		}
	}
}
