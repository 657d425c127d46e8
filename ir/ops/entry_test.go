package ops_test

import (
	"strings"
	"testing"

	"tenon/ir"
	"tenon/ir/sym"
)

var entryCases = []struct {
	name, header string
	bindings     string // dim = value, in order
	checks       string
}{
	{"bare names first", "func tensor @f<N, M>(%x: f32[2*N, M], %y: f32[N, 3]) -> ()",
		"M = %x[1]; N = %y[0]", "%x[0] == 2*N; %y[1] == 3"},
	{"linear in one unknown", "func tensor @f<N, M>(%x: f32[2*N + 1], %y: f32[N + M]) -> ()",
		"N = (%x[0] + 1)//2 - 1; M = %y[0] - N", "%x[0] == 2*N + 1; %y[0] == M + N; N >= 0; M >= 0"},
	{"a repeated dim and a declared fact", "func tensor @f<N>(%x: f32[N, N]) -> () where(declared 3 <= N)",
		"N = %x[0]", "%x[1] == N; 3 <= N"},
	{"a pattern's rows, columns and entries", "func tensor @f<N>(%e: f32[nnz#p], %p: pattern<N, N, nnz#p, csr(i32, i32)>) -> ()",
		"nnz#p = %e[0]; N = %p.rows", "%p.cols == N; %p.nnz == nnz#p"},
	{"strides", "proc vec @f<K, L>(in %a: buf<f32[4, K], strides(L, 1)>)",
		"K = %a[1]; L = %a.stride[0]", "%a[0] == 4; %a.stride[1] == 1"},
	{"parts of an encoding", "func tensor @f<N, K>(%w: f32[N, K] enc @e) -> ()",
		"N = %w.codes[0]; K = 8*%w.codes[1]", "%w.codes[1] == K//8; %w.codes[2] == 2; K >= 0; K mod 8 == 0"},
	{"a negative coefficient", "func tensor @f<N, M>(%x: f32[M], %y: f32[M - N]) -> ()",
		"M = %x[0]; N = M - %y[0]", "%y[0] == M - N; N >= 0"},
}

const entryEncoding = `
encoding @e<N, K> of f32 where(declared K mod 8 == 0) { part %codes: f32[N, K//8, 2]
  decode(n, k) { %v = tensor.comp red(c < 2) in(%a = %codes[n, k//8, c]) { yield(%a) } by sum(f32) : f32; yield(%v) } }`

func entryOf(t *testing.T, header string) (*ir.Func, *ir.EntryPlan, error) {
	t.Helper()
	m := mustParse(t, "tenon ir 1\n"+header+" { return() }"+entryEncoding)
	f := m.Funcs()[0]
	p, err := ir.Entry(f)
	return f, p, err
}

func TestEntry(t *testing.T) {
	for _, c := range entryCases {
		t.Run(c.name, func(t *testing.T) {
			_, p, err := entryOf(t, c.header)
			if err != nil {
				t.Fatal(err)
			}
			var bindings, checks []string
			for _, b := range p.Bindings {
				bindings = append(bindings, b.Dim+" = "+b.Value.String())
			}
			for _, k := range p.Checks {
				checks = append(checks, k.Cond.String())
			}
			if got := strings.Join(bindings, "; "); got != c.bindings {
				t.Errorf("bindings %s, want %s", got, c.bindings)
			}
			if got := strings.Join(checks, "; "); got != c.checks {
				t.Errorf("checks %s, want %s", got, c.checks)
			}
			evaluateEntry(t, c.header)
		})
	}
}

// evaluateEntry computes the extents for random dims, binds the dims from them
// and wants the same dims and every check to hold; for extents one larger some
// check must fail, unless the extent alone decides a dim.
func evaluateEntry(t *testing.T, header string) {
	f, p, err := entryOf(t, header)
	if err != nil {
		t.Fatal(err)
	}
	dims := map[string]int64{"nnz#p": 24}
	for i, d := range f.Dims {
		dims[d] = int64(40 - 16*i)
	}
	extents := make([]int64, len(p.Sources))
	for i, s := range p.Sources {
		extents[i] = eval(t, s.Extent, dims)
	}
	got, ok := enter(t, p, extents)
	if !ok {
		t.Errorf("dims %v are refused", dims)
	}
	for _, d := range f.Dims {
		if got[d] != dims[d] {
			t.Errorf("%s is bound to %d, not %d", d, got[d], dims[d])
		}
	}
	for i := range p.Sources {
		bent := append([]int64(nil), extents...)
		bent[i]++
		env, ok := enter(t, p, bent)
		if ok && eval(t, p.Sources[i].Extent, env) != bent[i] {
			t.Errorf("extent %s = %d is accepted for %s", p.Sources[i].Name, bent[i], p.Sources[i].Extent)
		}
	}
}

func enter(t *testing.T, p *ir.EntryPlan, extents []int64) (env map[string]int64, ok bool) {
	env = map[string]int64{}
	for i, s := range p.Sources {
		env[s.Name] = extents[i]
	}
	for _, b := range p.Bindings {
		env[b.Dim] = eval(t, b.Value, env)
	}
	for _, k := range p.Checks {
		holds, err := k.Cond.Eval(sym.Names(env))
		if err != nil {
			t.Fatal(err)
		}
		if !holds {
			return env, false
		}
	}
	return env, true
}

func eval(t *testing.T, e sym.Expr, env map[string]int64) int64 {
	t.Helper()
	n, err := e.Eval(sym.Names(env))
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return n
}

// What cannot be bound is an error that names the dim.
func TestEntryUnbound(t *testing.T) {
	for _, c := range []struct{ header, dim string }{
		{"func tensor @f<N, M>(%x: f32[N]) -> ()", "M"},
		{"func tensor @f<N, M>(%x: f32[N + M]) -> ()", "N"},
		{"func tensor @f<N, M>(%x: f32[N*M]) -> ()", "M"},
		{"func tensor @f<N>(%x: f32[N//2]) -> ()", "N"},
		{"func tensor @f<N>(%x: f32[N mod 2]) -> ()", "N"},
	} {
		if _, _, err := entryOf(t, c.header); err == nil || !strings.Contains(err.Error(), "no parameter binds the dim "+c.dim) {
			t.Errorf("%s: %v", c.header, err)
		}
	}
	// A quotient known to be exact does bind.
	if _, _, err := entryOf(t, "func tensor @f<N>(%x: f32[N//2]) -> () where(declared N mod 2 == 0)"); err != nil {
		t.Error(err)
	}
}
