package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// What docs/semantics.md asks of the interpreter, in million evaluations a
// second of a matmul's region.
const plainRate, shadowRate = 20, 3

var rateLine = regexp.MustCompile(`(?m)^BenchmarkRegion/(\S+?)(?:-\d+)?\s.*?([\d.]+) Meval/s`)

// interpreter prints the rates of the interpreter's own benchmark.
func (b *bench) interpreter() error {
	if !b.wants("interpreter", "") {
		return nil
	}
	cmd := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "Region", "-benchtime", "300ms", "./ir/interp")
	out, err := cmd.Output()
	if err != nil {
		b.failed = append(b.failed, fmt.Sprintf("the interpreter's benchmark: %v", err))
		return nil
	}
	fmt.Fprintf(b.out, "### Interpreter\n\nMillion evaluations a second of a region with two reads, a multiply and an add, with and without the shadows that\ncarry error bounds. Goal: %d and %d for `dot`.\n\n", plainRate, shadowRate)
	t := &table{head: []string{"region", "Meval/s", "reached"}}
	for _, m := range rateLine.FindAllStringSubmatch(string(out), -1) {
		goal := float64(plainRate)
		if strings.HasSuffix(m[1], "/shadow") {
			goal = shadowRate
		}
		var rate float64
		fmt.Sscan(m[2], &rate)
		reached := "yes"
		if rate < goal {
			reached = "no"
			b.fellShort(fmt.Sprintf("interpreter, %s: %.1f million evaluations a second, goal %.0f", m[1], rate, goal), "this region has no closure of its own, or the machine was busy: the rate is by the wall")
		}
		t.add(m[1], m[2], reached)
	}
	t.write(b.out)
	return nil
}
