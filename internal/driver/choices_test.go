package driver

import (
	"math"
	"testing"
)

// The layers of a prediction add up to it; only what no cache holds waits for
// memory.
func TestLayersAddUp(t *testing.T) {
	m, err := Parse("f.tn", `fn f(a: f32[M, K], const b: f32[K, N]) -> f32[M, N] { return sum[k] a[i, k] * b[k, j] for i, j }`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m, k, n  int64
		far, mem bool // something waits for the last cache, for memory
	}{{4, 64, 64, false, false}, {2, 768, 768, true, false}, {2, 8192, 8192, true, true}} {
		all, err := Choices(m, map[string]int64{"M": c.m, "K": c.k, "N": c.n}, nil, Options{CPU: "x86-64-v3"})
		if err != nil {
			t.Fatal(err)
		}
		x := all["f"].Choices[0]
		far, mem := 0.0, 0.0
		for _, v := range x.Variants {
			if v.Cycles == nil || v.Layers == nil {
				t.Fatalf("%+v: no prediction of %s", c, v.Name)
			}
			l := v.Layers
			if sum := l.Core + l.Second + l.Last + l.Memory; math.Abs(sum-*v.Cycles) > 1e-6**v.Cycles || l.Core <= 0 {
				t.Errorf("%+v: %s has %v, layers %+v", c, v.Name, *v.Cycles, *l)
			}
			far, mem = max(far, l.Last), max(mem, l.Memory)
		}
		if (far > 0) != c.far || (mem > 0) != c.mem {
			t.Errorf("%+v: the last cache adds up to %v, memory up to %v", c, far, mem)
		}
	}
	if comps := mustChoose(t, `fn f(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] max(a[i, k], b[k, j]) for i, j }`); comps["f"].Comps[0].MicroKernel {
		t.Error("a sum of maxima reached a micro-kernel")
	}
}

func mustChoose(t *testing.T, program string) map[string]*Choosing {
	t.Helper()
	m, err := Parse("f.tn", program)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Choices(m, nil, nil, Options{CPU: "x86-64-v3"})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
