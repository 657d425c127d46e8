package main

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tenon/targets"
)

func TestSpread(t *testing.T) {
	if s := spreadOf([]float64{3, 1, 2}); s != (spread{2, 1, 3}) {
		t.Errorf("of three: %v", s)
	}
	if s := spreadOf([]float64{4, 1, 2, 3}); s != (spread{2.5, 1, 4}) {
		t.Errorf("of four: %v", s)
	}
}

func TestFasterIsByRound(t *testing.T) {
	cs := []*contender{{name: "a", times: []float64{1, 5, 5}}, {name: "b", times: []float64{2, 2, 2}}}
	times, best := faster(cs, func(*contender) bool { return true })
	if want := []float64{1, 2, 2}; !equal(times, want) || best.name != "b" {
		t.Errorf("%v by %s, want %v by b", times, best.name, want)
	}
}

func equal(a, b []float64) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return true
}

// The exponent of a power is found whatever its factor.
func TestSlope(t *testing.T) {
	x := []float64{10, 30, 100, 1000}
	for _, p := range []float64{0.5, 1, 2} {
		var y []float64
		for _, v := range x {
			y = append(y, 7*math.Pow(v, p))
		}
		if got := slope(x, y); math.Abs(got-p) > 1e-12 {
			t.Errorf("power %g: slope %g", p, got)
		}
	}
}

// A busy machine that slows every contender of a round alike leaves the ratios.
func TestRaceTakesRatiosWithinRounds(t *testing.T) {
	round := 0.0
	one := &contender{name: "one", seconds: func(n int) (float64, error) { round++; return float64(n) * round, nil }}
	two := &contender{name: "two", seconds: func(n int) (float64, error) { return float64(n) * round / 2, nil }}
	cs, err := race([]*contender{one, two}, 5, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if s := spreadOf(quotients(cs[0].times, cs[1].times)); s != (spread{2, 2, 2}) {
		t.Errorf("ratio %v, want 2 in every round", s)
	}
}

func TestPutInto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(file, []byte("head\n"+docBegin+"\nold\n"+docEnd+"\ntail\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := putInto(file, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	if want := "head\n" + docBegin + "\nnew\n" + docEnd + "\ntail\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if os.WriteFile(file, []byte("no marks"), 0o666) != nil || putInto(file, "x") == nil {
		t.Error("a file without the marks must be refused")
	}
}

// Every program of the benchmark compiles, gives the interpreter's results and
// is measured. The figures are not looked at.
func TestProgramsRun(t *testing.T) {
	if _, err := targets.FindToolchain(); err != nil {
		t.Skip("SKIPPED, no LLVM:", err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("SKIPPED, no C compiler:", err)
	}
	dir := t.TempDir()
	k, err := loadKernels(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{ctx: context.Background(), dir: dir, k: k, rounds: 1, slice: time.Microsecond, loaded: map[string]*program{}}
	seen := map[string]bool{}
	for _, r := range append(append([]row{}, large...), cached...) {
		if seen[r.program] {
			continue
		}
		seen[r.program] = true
		r.m, r.n = 37, 53
		cs, err := b.compete(r)
		if err != nil {
			t.Errorf("%s: %v", r.program, err)
			continue
		}
		if cells := strings.Join(b.cachedRow(r, cs), " "); strings.Contains(cells, "NaN") {
			t.Errorf("%s: %s", r.program, cells)
		}
	}
	if t.Failed() {
		return
	}
	if _, err := b.scale(row{program: "gelu", m: 8, n: 64, bound: "fma"}); err != nil {
		t.Errorf("two threads: %v", err)
	}
}

// A wrong result is no figure.
func TestCheckFindsAWrongElement(t *testing.T) {
	if _, err := targets.FindToolchain(); err != nil {
		t.Skip("SKIPPED, no LLVM:", err)
	}
	dir := t.TempDir()
	k, err := loadKernels(dir)
	if err != nil {
		t.Skip("SKIPPED, no C compiler:", err)
	}
	p, err := load(context.Background(), dir, "transpose")
	if err != nil {
		t.Fatal(err)
	}
	args, err := p.arguments(k, map[string]int64{"M": 5, "N": 3})
	if err != nil {
		t.Fatal(err)
	}
	call, err := p.call(k, args, 1)
	if err == nil {
		_, err = k.seconds(call, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := []int64{0, 4}
	if err := p.check(args, rows); err != nil {
		t.Fatal(err)
	}
	args.arrays[1].floats()[2*5+4]++
	if p.check(args, rows) == nil {
		t.Error("a wrong element of a drawn row went unseen")
	}
}
