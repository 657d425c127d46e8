package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// growthSizes are the sizes of the programs whose compile time is compared.
var growthSizes = []int{300, 1000, 3000, 10000}

// slopeGoal is the exponent of compile time over size that counts as linear: with
// room for noise. growthLimit is the processor time of a build above which
// greater programs are left out.
const slopeGoal, growthLimit = 1.15, 30.0

// shapes of programs that grow: n statements each.
var shapes = []struct {
	name string
	text func(n int) string
}{
	{"chain of element-wise maps", chain},
	{"sums of rows, subtracted", rowSums},
	{"functions", functions},
}

func chain(n int) string {
	s := &strings.Builder{}
	fmt.Fprint(s, "fn chain(x: f32[N], y: f32[N]) -> f32[N] {\n")
	last := "x"
	for i := range n {
		fmt.Fprintf(s, "  let t%d[i] = %s[i] * 0.5 + y[i]\n", i, last)
		last = fmt.Sprintf("t%d", i)
	}
	fmt.Fprintf(s, "  return %s\n}\n", last)
	return s.String()
}

func rowSums(n int) string {
	s := &strings.Builder{}
	fmt.Fprint(s, "fn rows(x: f32[M, N]) -> f32[M, N] {\n")
	last := "x"
	for i := range n / 2 {
		fmt.Fprintf(s, "  let s%d[i] = sum[k] %s[i, k]\n  let t%d[i, j] = %s[i, j] - s%d[i]\n", i, last, i, last, i)
		last = fmt.Sprintf("t%d", i)
	}
	fmt.Fprintf(s, "  return %s\n}\n", last)
	return s.String()
}

func functions(n int) string {
	s := &strings.Builder{}
	for i := range n / 4 {
		fmt.Fprintf(s, "fn part%d(x: f32[N]) -> f32[N] {\n  let a[i] = x[i] * %d.0\n  let s = sum[i] a[i]\n  return a[i] - s for i\n}\n", i, i+1)
	}
	return s.String()
}

// growth prints how compile time grows with the program: the processor time of
// the whole build, children included, and of Tenon's own part of it.
func (b *bench) growth() error {
	if !b.wants("growth", "") {
		return nil
	}
	exe, err := b.tenonBinary()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "### Compile time over size\n\nSeconds of processor time, `tenon build`, of programs of so many statements: the whole build, and Tenon's own\n"+
		"part (`--emit=loop`, the way down without LLVM). The slope is the exponent of the size; goal: at most %.2f.\n\n", slopeGoal)
	head := []string{"program", "part"}
	for _, n := range growthSizes {
		head = append(head, fmt.Sprint(n))
	}
	t := &table{head: append(head, "slope", "reached")}
	for _, s := range shapes {
		for _, part := range []struct{ name, emit string }{{"Tenon", "loop"}, {"whole", "so"}} {
			t.add(b.growthRow(exe, s.name, s.text, part.name, part.emit)...)
		}
	}
	t.write(b.out)
	return nil
}

func (b *bench) growthRow(exe, name string, text func(int) string, part, emit string) []string {
	cells := []string{name, part}
	var x, y []float64
	for _, n := range growthSizes {
		if len(y) > 0 && y[len(y)-1] > growthLimit {
			cells = append(cells, "-")
			continue
		}
		file := filepath.Join(b.dir, fmt.Sprintf("grow%d.tn", n))
		err := os.WriteFile(file, []byte(text(n)), 0o666)
		var cpu spread
		if err == nil {
			_, cpu, err = b.repeat(1+2*min(1, 1000/n), nil, exe, "build", file, "--emit="+emit, "-o", filepath.Join(b.dir, "grown"))
		}
		if err != nil {
			b.failed = append(b.failed, fmt.Sprintf("%s of %d statements: %v", name, n, err))
			return append(cells, "failed")
		}
		cells = append(cells, fmt.Sprintf("%.2f", cpu.least))
		x, y = append(x, float64(n)), append(y, cpu.least)
	}
	p := slope(x, y)
	cells = append(cells, fmt.Sprintf("%.2f", p))
	if p > slopeGoal {
		why := "LLVM's own passes grow faster than the function they are given"
		if part == "Tenon" {
			why = "a pass grows faster than the program: tenon opt --time-passes"
		}
		b.fellShort(fmt.Sprintf("compile time of %s, %s: size to the power %.2f, goal %.2f", name, part, p, slopeGoal), why)
		return append(cells, "no")
	}
	return append(cells, "yes")
}
