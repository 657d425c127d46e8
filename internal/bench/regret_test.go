package bench

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/internal/driver"
	"tenon/ir"
	"tenon/runtime"
	"tenon/targets"
)

// The chosen variant is that which tenon explain names; the best is the one with
// the least time, and the regret follows from the two.
func TestRegret(t *testing.T) {
	if _, err := targets.FindToolchain(); err != nil {
		t.Skip("SKIPPED, no LLVM:", err)
	}
	m := module(t)
	o := Options{Threads: 1, Rounds: 2, Slice: time.Microsecond, Regret: true, Stream: true, Compile: driver.Options{CPU: "native", Opt: 1}}
	o.Shapes, _ = ParseShapes([]string{"M=1,40,K=33,N=20"}, 1)
	r, err := Run(context.Background(), m, ir.Lookup[*ir.Func](m, "flipped"), "products.tn", o, func(*Row) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		said, err := driver.Choices(m, row.Shape, nil, o.Compile)
		if err != nil {
			t.Fatal(err)
		}
		x := row.Regret
		if x == nil || x.Chosen != said["flipped"].Choices[0].Picked {
			t.Fatalf("%v: %+v; explain says %s", row.Shape, x, said["flipped"].Choices[0].Picked)
		}
		at := func(name string) float64 {
			i := slices.IndexFunc(x.Variants, func(v Variant) bool { return v.Name == name })
			return x.Variants[i].Seconds
		}
		for _, v := range x.Variants {
			if v.Seconds <= 0 || v.Seconds < at(x.Best) {
				t.Errorf("%v: %v, and the best is %s", row.Shape, x.Variants, x.Best)
			}
		}
		if got := at(x.Chosen)/at(x.Best) - 1; got != x.Regret {
			t.Errorf("%v: a regret of %v, expected %v", row.Shape, x.Regret, got)
		}
		if row.Stream <= 0 || row.StreamShare <= 0 {
			t.Errorf("%v: nothing was streamed", row.Shape)
		}
	}
}

// Cold operands: the const ones differ from set to set and exceed the last cache
// together, the others are the same.
func TestColdSets(t *testing.T) {
	s := &session{o: Options{Cold: true}, f: ir.Lookup[*ir.Func](module(t), "flipped"), desc: &targets.Desc{Caches: []targets.Cache{{Bytes: 100_000}}}}
	sets, err := s.sets(Shape{"M": 50, "K": 40, "N": 30})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for i, args := range sets {
		a, b, c := args[0].(*runtime.Tensor), args[1].(*runtime.Tensor), args[2].(*runtime.Tensor)
		total += len(b.Data)
		if i > 0 && (&a.Data[0] != &sets[0][0].(*runtime.Tensor).Data[0] || &c.Data[0] != &sets[0][2].(*runtime.Tensor).Data[0]) {
			t.Error("an operand that is not const differs")
		}
		if i > 0 && (&b.Data[0] == &sets[0][1].(*runtime.Tensor).Data[0] || string(b.Data) != string(sets[0][1].(*runtime.Tensor).Data)) {
			t.Error("the weights are the same memory, or have other values")
		}
	}
	if total < 200_000 || total > 250_000 {
		t.Errorf("%d bytes of weights rotate, twice the cache are 200000", total)
	}
}

// A slow variant is measured once, and takes no part in the rounds.
func TestExpendable(t *testing.T) {
	wait := func(d time.Duration) func() bool {
		return func() bool {
			for start := look().thread; look().thread-start < d.Seconds(); {
			}
			return true
		}
	}
	fast, slow := &contender{runs: []func() bool{wait(time.Millisecond)}, expendable: true}, &contender{runs: []func() bool{wait(200 * time.Millisecond)}, expendable: true}
	if err := race([]*contender{fast, slow}, 3, 0, time.Millisecond, 1, nil); err != nil {
		t.Fatal(err)
	}
	if len(fast.times) != 3 || len(slow.times) != 1 {
		t.Errorf("%d and %d rounds", len(fast.times), len(slow.times))
	}
}

// Unsteady times get more rounds, steady ones do not.
func TestSteady(t *testing.T) {
	if !steady([]*contender{{times: []float64{1, 1.02, 1.05, 1.04}}}) || steady([]*contender{{times: []float64{1, 1, 1}}, {times: []float64{1, 2, 1, 2}}}) {
		t.Error("steady and unsteady times are confused")
	}
}

// With one library any number of shapes is measured: no tool of LLVM starts after
// the first one.
func TestNoToolAfterTheFirstShape(t *testing.T) {
	tools, err := targets.FindToolchain()
	if err != nil {
		t.Skip("SKIPPED, no LLVM:", err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	for name, path := range map[string]string{"opt": tools.Opt, "llc": tools.LLC, "ld.lld": tools.LLD} {
		script := "#!/bin/sh\necho " + name + " >> " + log + "\nexec " + path + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TENON_LLVM", dir)
	started := func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "\n")
	}
	m, first := module(t), 0
	o := Options{Threads: 1, Rounds: 1, Slice: time.Microsecond, Regret: true, Compile: driver.Options{CPU: "native", Opt: 1}}
	o.Shapes, _ = ParseShapes([]string{"M=1,2,7,64,511,K=64,N=48"}, 1)
	r, err := Run(context.Background(), m, ir.Lookup[*ir.Func](m, "flipped"), "products.tn", o, func(*Row) {
		if first == 0 {
			first = started()
		}
	})
	if err != nil || len(r.Rows) != 5 {
		t.Fatal(r, err)
	}
	if first == 0 || started() != first {
		t.Errorf("%d tools had started at the first shape, %d at the last", first, started())
	}
}
