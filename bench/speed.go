package main

import (
	"fmt"
	"slices"
	"strings"
)

// compete measures a row: the program, what bounds it, the peers. The first
// contender is the program.
func (b *bench) compete(r row) ([]*contender, error) {
	p, err := b.program(r.program)
	if err != nil {
		return nil, err
	}
	t, err := p.arguments(b.k, map[string]int64{"M": r.m, "N": r.n})
	if err != nil {
		return nil, err
	}
	defer t.free()
	call, err := p.call(b.k, t, 1)
	if err != nil {
		return nil, err
	}
	if _, err := b.k.seconds(call, 1); err != nil {
		return nil, err
	}
	if err := p.check(t, sample(p, r)); err != nil {
		return nil, err
	}
	cs := []*contender{b.kernel("Tenon", call)}
	from, to := b.k.filled(r.elements()), b.k.array(r.elements())
	defer from.free()
	defer to.free()
	for _, name := range []string{"memcpy", "copy", "read"} {
		cs = append(cs, b.kernel(name, b.k.over("bench_"+name, from, to, r.elements())))
	}
	cs = append(cs, b.kernel("fma", b.k.over("bench_fma", nil, nil, fmaRounds)))
	for _, q := range b.peers {
		if id, chosen, err := q.open(r.program, r.m, r.n); err == nil {
			cs = append(cs, &contender{name: q.name, note: chosen, seconds: func(n int) (float64, error) { return q.seconds(id, n) }})
		}
	}
	return race(cs, b.rounds, b.slice)
}

func (b *bench) kernel(name string, w work) *contender {
	return &contender{name: name, seconds: func(n int) (float64, error) { return b.k.seconds(w, n) }}
}

// sample draws the rows of which the results are held against the interpreter:
// first, last, and some in between. A program that reduces over rows needs all.
func sample(p *program, r row) []int64 {
	if dimAt(p.f.Results[0].Type, "M") < 0 {
		return nil
	}
	rows := []int64{0, min(1, r.m-1), r.m / 3, r.m / 2, max(r.m-2, 0), r.m - 1}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// fmaRounds are the rounds of a call of bench_fma, of fmaChains multiply-adds.
const fmaRounds, fmaChains = 4096, 12

// arithmetic is the time that the instructions of r take at the rate of
// independent multiply-adds, round by round.
func (b *bench) arithmetic(r row, cs []*contender) []float64 {
	vectors := r.instructions * float64(r.elements()) / float64(b.k.lanes)
	var out []float64
	for _, t := range find(cs, "fma").times {
		out = append(out, vectors*t/(fmaRounds*fmaChains))
	}
	return out
}

// boundOf is the time that the machine needs at least, and what it is bound by.
func (b *bench) boundOf(r row, cs []*contender) (times []float64, by string) {
	k := find(cs, r.bound)
	arith := b.arithmetic(r, cs)
	scale := float64(r.touched) / map[string]float64{"memcpy": 2, "read": 1}[r.bound]
	var memory []float64
	for _, t := range k.times {
		memory = append(memory, t*scale)
	}
	if spreadOf(memory).median >= spreadOf(arith).median {
		return memory, r.bound
	}
	return arith, "arithmetic"
}

// oneDNN picks the contenders whose figures count as that of oneDNN.
func oneDNN(c *contender) bool { return strings.HasPrefix(c.name, "oneDNN") }

// large prints the rows whose arrays are larger than the caches.
func (b *bench) large() error {
	rows := b.wanted("large", large)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprint(b.out, "### Larger than the caches: 16384 x 1024 f32, one thread\n\n"+
		"GB/s of what is read and written; the share is that of the bound's bytes per second. The plain copy keeps\n"+
		"to ordinary stores, which read a line before they overwrite it; memcpy bypasses the cache.\n\n")
	t := &table{head: []string{"program", "Tenon GB/s", "bound GB/s", "plain copy", "share of bound", "goal", "oneDNN GB/s", "Tenon/oneDNN", "NumPy GB/s", "reached"}}
	for _, r := range rows {
		cs, err := b.compete(r)
		if err != nil {
			b.failed = append(b.failed, fmt.Sprintf("%s %dx%d: %v", r.program, r.m, r.n, err))
			continue
		}
		t.add(b.largeRow(r, cs)...)
	}
	t.write(b.out)
	return nil
}

func (b *bench) largeRow(r row, cs []*contender) []string {
	bytes := float64(4*r.elements()) * float64(r.touched)
	rate := func(times []float64) string {
		var g []float64
		for _, t := range times {
			g = append(g, bytes/t/1e9)
		}
		return figure(spreadOf(g), "%.1f")
	}
	ours := cs[0].times
	var bound []float64
	scale := float64(r.touched) / map[string]float64{"memcpy": 2, "read": 1}[r.bound]
	for _, t := range find(cs, r.bound).times {
		bound = append(bound, t*scale)
	}
	share := spreadOf(quotients(bound, ours))
	cells := []string{r.program, rate(ours), rate(bound) + " " + r.bound, plainCopy(r, cs), percent(share), fmt.Sprintf("%.0f%%", 100*r.share)}
	cells = append(cells, b.against(r, cs, rate)...)
	if share.median < r.share {
		b.fellShort(fmt.Sprintf("%s %dx%d: %.0f%% of %s's bytes per second, goal %.0f%%", r.program, r.m, r.n, 100*share.median, r.bound, 100*r.share),
			b.reason(r, cs))
		return append(cells, "no")
	}
	return append(cells, "yes")
}

func plainCopy(r row, cs []*contender) string {
	var g []float64
	for _, t := range find(cs, "copy").times {
		g = append(g, 8*float64(r.elements())/t/1e9)
	}
	return figure(spreadOf(g), "%.1f")
}

// against gives the cells of the peers: oneDNN's figure with the implementation,
// how often Tenon goes into it, NumPy's figure.
func (b *bench) against(r row, cs []*contender, figureOf func([]float64) string) []string {
	cells := []string{"-", "-", "-"}
	if times, best := faster(cs, oneDNN); times != nil {
		cells[0] = figureOf(times) + " " + best.note
		if why := b.voided(best); why != "" {
			cells[1] = "void: " + why
		} else {
			cells[1] = figure(spreadOf(quotients(times, cs[0].times)), "%.2fx")
		}
	}
	for _, c := range cs {
		if strings.HasPrefix(c.name, "NumPy") {
			cells[2] = figureOf(c.times)
		}
	}
	return cells
}

// avx512Core is the bit that oneDNN's instruction set has with AVX-512.
const avx512Core = 0x20

// voided says why a comparison with a peer does not count, "" if it does.
func (b *bench) voided(c *contender) string {
	if !hasAVX512() || strings.Contains(c.note, "avx512") {
		return ""
	}
	for _, p := range b.peers {
		var isa int
		if p.name == c.name && strings.Contains(c.note, "uni") {
			if _, err := fmt.Sscanf(p.isa, "0x%x", &isa); err == nil && isa&avx512Core != 0 {
				return ""
			}
		}
	}
	return "the peer did not use AVX-512"
}

// cached prints the rows whose arrays stay in the caches.
func (b *bench) cached() error {
	rows := b.wanted("cached", cached)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprint(b.out, "### In cache, one thread\n\nns an element. The bound is the longer of copying the array (memcpy) and of the shortest known formula's\n"+
		"instructions at the rate of independent multiply-adds (arithmetic).\n\n")
	t := &table{head: []string{"program", "shape", "Tenon ns", "bound ns", "share of bound", "oneDNN ns", "Tenon/oneDNN", "NumPy ns", "goal", "reached"}}
	for _, r := range rows {
		cs, err := b.compete(r)
		if err != nil {
			b.failed = append(b.failed, fmt.Sprintf("%s %dx%d: %v", r.program, r.m, r.n, err))
			continue
		}
		t.add(b.cachedRow(r, cs)...)
	}
	t.write(b.out)
	b.overheads()
	return nil
}

func (b *bench) cachedRow(r row, cs []*contender) []string {
	each := func(times []float64) string {
		var g []float64
		for _, t := range times {
			g = append(g, t*1e9/float64(r.elements()))
		}
		return figure(spreadOf(g), "%.3f")
	}
	ours := cs[0].times
	bound, by := b.boundOf(r, cs)
	cells := []string{r.program, fmt.Sprintf("%dx%d", r.m, r.n), each(ours), each(bound) + " " + by, percent(spreadOf(quotients(bound, ours)))}
	cells = append(cells, b.against(r, cs, each)...)
	cells = append(cells, fmt.Sprintf("%.2fx oneDNN", r.times))
	times, best := faster(cs, oneDNN)
	switch {
	case times == nil:
		b.failed = append(b.failed, fmt.Sprintf("%s %dx%d: oneDNN is not there to compare with", r.program, r.m, r.n))
		return append(cells, "no peer")
	case b.voided(best) != "":
		b.failed = append(b.failed, fmt.Sprintf("%s %dx%d: %s", r.program, r.m, r.n, b.voided(best)))
		return append(cells, "void")
	}
	if x := spreadOf(quotients(times, ours)).median; x < r.times {
		b.fellShort(fmt.Sprintf("%s %dx%d: %.2f times as fast as oneDNN, goal %.2f", r.program, r.m, r.n, x, r.times), b.reason(r, cs))
		return append(cells, "no")
	}
	return append(cells, "yes")
}

// overheads says what a call costs where there is next to nothing to do: part
// of every figure of small arrays.
func (b *bench) overheads() {
	cs, err := b.compete(row{program: "softmax", m: 1, n: 16, touched: 2, bound: "memcpy"})
	if err != nil {
		return
	}
	var list []string
	for _, c := range cs {
		if c.name == "Tenon" || oneDNN(c) || strings.HasPrefix(c.name, "NumPy") {
			list = append(list, fmt.Sprintf("%s %.2f", c.name, spreadOf(c.times).median*1e6))
		}
	}
	fmt.Fprintf(b.out, "One call for a softmax of 16 elements, in us: %s.\n\n", strings.Join(list, ", "))
}
