package run

import (
	"fmt"
	"os/exec"
	"testing"

	"tenon"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/runtime"
)

// appends replaces a row of a cache: a scatter keeps the rest of its operand.
const appends = `tenon ir 1
func tensor @append<T, D, K>(%c: f32[T, D], %at: i64[K], %new: f32[K, D]) -> (%grown: f32[T, D]) {
  %grown = tensor.scatter(%c) par(k < K, d < D) in(%p = %at[k], %e = %new[k, d]) out([%p, d]) { yield(%e) } : f32[T, D]
  return(%grown)
}
`

// Every argument given as every result of its shape: what comes out is what the
// interpreter computes from two arrays, in place or by way of a copy, in any
// layout, with nothing written beside the array.
func TestDonated(t *testing.T) {
	donated := map[bool]int{}
	for _, opt := range []int{0, 3} {
		for _, m := range donationPrograms(t) {
			p, err := Build(m, opt)
			if err != nil {
				t.Skipf("SKIP, compiled code is not tested: %v", err)
			}
			t.Cleanup(p.Close)
			for _, f := range m.Funcs() {
				for _, n := range []int64{1, 3, 16, 37} {
					donateAll(t, p, f, n, donated)
				}
			}
		}
	}
	if donated[true] < 60 || donated[false] < 50 {
		t.Errorf("only %d calls in place and %d with a copy", donated[true], donated[false])
	}
}

func donationPrograms(t *testing.T) (all []*ir.Module) {
	t.Helper()
	scatter, err := ir.Parse("append.tnir", appends)
	if err == nil {
		err = ir.Verify(scatter)
	}
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, scatter)
	for _, file := range []string{"testdata/donation.tn", "../../examples/norms/gelu.tn", "../../examples/mlp/mlp.tn"} {
		m, err := tenon.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// donateAll calls f with all dims n once for each pair of an argument and a
// result; it counts calls by whether they are done in place.
func donateAll(t *testing.T, p *Program, f *ir.Func, n int64, count map[bool]int) {
	t.Helper()
	dims := map[string]int64{}
	for _, d := range f.Dims {
		dims[d] = n
	}
	args, ok := Draw(f, dims, Plain, uint64(n))
	if !ok {
		return
	}
	ref, err := Reference(p.Source, f.Name, args)
	if err != nil {
		return
	}
	low := ir.Lookup[*ir.Func](p.Low, f.Name)
	shapes, err := ResultShapes(p.Low, f.Name, args, ref)
	if err != nil {
		t.Fatal(err)
	}
	for in, x := range low.Params {
		a, isArray := arrayAt(args, in)
		for out, y := range low.Params {
			if !isArray || x.Mode != ir.ModeIn || y.Mode != ir.ModeOut || a.Elem != ir.ElemOf(y.Value.Type) ||
				fmt.Sprint(a.Shape) != fmt.Sprint(shapes[nthWritten(low, out)]) {
				continue
			}
			what := fmt.Sprintf("%s, %d, %s given as %s", f.Name, n, x.Value.Name, y.Value.Name)
			for layout := range Layout(Layouts) {
				got, status, err := p.CallDonated(f.Name, args, shapes, layout, map[int]int{out: in})
				if err != nil || status.Code != runtime.OK {
					t.Errorf("%s, layout %d: %+v, %v", what, layout, status, err)
					continue
				}
				for i := range ref {
					if _, err := interp.Compare(got[i], ref[i]); err != nil {
						t.Errorf("%s, layout %d, result %d: %v", what, layout, i, err)
					}
				}
			}
			inPlace := false
			for _, pair := range ir.InPlace(low) {
				inPlace = inPlace || pair == [2]int{in, out}
			}
			count[inPlace]++
		}
	}
}

func arrayAt(args []any, i int) (*ir.Array, bool) {
	if i >= len(args) {
		return nil, false
	}
	a, ok := args[i].(*ir.Array)
	return a, ok
}

// nthWritten is the place of parameter out among those that f writes.
func nthWritten(f *ir.Func, out int) (n int) {
	for _, p := range f.Params[:out] {
		if p.Mode != ir.ModeIn {
			n++
		}
	}
	return n
}

// Arrays that meet otherwise are refused: shifted by an element, of another
// shape, or two results that are one.
func TestOnlyWholeArraysAreDonated(t *testing.T) {
	m, err := tenon.Load("testdata/donation.tn")
	if err != nil {
		t.Fatal(err)
	}
	lib := loadHere(t, m)
	room, err := runtime.Alloc(num.F32, []int64{64})
	if err != nil {
		t.Fatal(err)
	}
	at := func(first, n int64) *runtime.Tensor {
		return &runtime.Tensor{Elem: num.F32, Shape: []int64{n}, Data: room.Data[4*first : 4*(first+n)]}
	}
	for i, args := range [][]runtime.Arg{
		{at(0, 8), at(16, 8), at(1, 8), at(32, 8)},
		{at(0, 8), at(16, 8), at(32, 8), at(32, 8)},
		{at(0, 8), at(16, 8), at(23, 8), at(32, 8)},
	} {
		status, err := lib.Call("both", args)
		if err != nil || status.Code != runtime.Alias {
			t.Errorf("case %d: %+v, %v", i, status, err)
		}
	}
	if status, err := lib.Call("both", []runtime.Arg{at(0, 8), at(16, 8), at(0, 8), at(16, 8)}); err != nil || status.Code != runtime.OK {
		t.Errorf("both arguments donated: %+v, %v", status, err)
	}
}

func loadHere(t *testing.T, m *ir.Module) *runtime.Lib {
	t.Helper()
	a, err := tenon.CompileModule(t.Context(), m, "prog.tn", tenon.Options{Opt: 2})
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	so, err := a.Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lib, err := runtime.OpenBytes(so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lib.Close() })
	return lib
}

// The same from C, with results held against those of separate arrays.
func TestDonationFromC(t *testing.T) {
	for _, program := range inC(t, "donation", artifact(t, "testdata/donation.tn")) {
		if out, err := exec.Command(program).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
