package main

import "fmt"

// threads prints what a second thread gives, beside what it gives to the loop
// that bounds the program.
func (b *bench) threads() error {
	rows := b.wanted("threads", threaded)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprint(b.out, "### Two threads\n\nHow much faster two threads are than one, by the clock on the wall; the bound is the same ratio of a loop\n"+
		"that copies (stream) or multiplies and adds in registers (fma), on two processors at once.\n\n")
	if len(b.k.cpus) < 2 {
		fmt.Fprint(b.out, "SKIPPED: this process may use one processor only\n\n")
		return nil
	}
	t := &table{head: []string{"program", "shape", "one thread ms", "two threads ms", "ratio", "bound's ratio", "share", "goal", "reached"}}
	for _, r := range rows {
		cells, err := b.threadRow(r)
		if err != nil {
			b.failed = append(b.failed, fmt.Sprintf("%s %dx%d on two threads: %v", r.program, r.m, r.n, err))
			continue
		}
		t.add(cells...)
	}
	t.write(b.out)
	return nil
}

func (b *bench) threadRow(r row) ([]string, error) {
	cs, err := b.scale(r)
	if err != nil {
		return nil, err
	}
	ratio := quotients(cs[0].times, cs[1].times)
	bound := quotients(cs[2].times, cs[3].times)
	share := spreadOf(quotients(ratio, bound))
	ms := func(c *contender) string { return fmt.Sprintf("%.2f", 1e3*spreadOf(c.times).median) }
	cells := []string{r.program, fmt.Sprintf("%dx%d", r.m, r.n), ms(cs[0]), ms(cs[1]), figure(spreadOf(ratio), "%.2f"),
		figure(spreadOf(bound), "%.2f") + " " + r.bound, percent(share), fmt.Sprintf("%.0f%%", 100*threadShare)}
	what := fmt.Sprintf("%s %dx%d on two threads", r.program, r.m, r.n)
	if x := spreadOf(bound).median; x < threadFloor {
		why := fmt.Sprintf("SKIPPED: two processors give %s only %.2f times what one gives", r.bound, x)
		b.failed = append(b.failed, what+": "+why)
		return append(cells, "SKIPPED"), nil
	}
	if share.median < threadShare {
		b.fellShort(fmt.Sprintf("%s: %.0f%% of the bound's ratio, goal %.0f%%", what, 100*share.median, 100*threadShare), b.threadReason(r.program))
		return append(cells, "no"), nil
	}
	return append(cells, "yes"), nil
}

// scale measures a row with one and with two threads, then its bound.
func (b *bench) scale(r row) ([]*contender, error) {
	p, err := b.program(r.program)
	if err != nil {
		return nil, err
	}
	t, err := p.arguments(b.k, map[string]int64{"M": r.m, "N": r.n})
	if err != nil {
		return nil, err
	}
	defer t.free()
	var cs []*contender
	for threads := 1; threads <= 2; threads++ {
		call, err := p.call(b.k, t, threads)
		if err != nil {
			return nil, err
		}
		cs = append(cs, &contender{name: fmt.Sprintf("%s on %d", r.program, threads),
			seconds: func(n int) (float64, error) { return b.k.wallSeconds(call, n) }})
	}
	from, to := b.k.filled(r.elements()), b.k.array(r.elements())
	defer from.free()
	defer to.free()
	kernel, n := "bench_copy", r.elements()
	if r.bound == "fma" {
		kernel, n = "bench_fma", 64*fmaRounds
	}
	half := n / 2
	one := b.k.over(kernel, from, to, n)
	left := b.k.over(kernel, from, to, half)
	right := b.k.over(kernel, from.from(half), to.from(half), half)
	if r.bound == "fma" {
		right = b.k.over(kernel, nil, nil, half)
	}
	cs = append(cs,
		&contender{name: "bound on 1", seconds: func(n int) (float64, error) { return b.k.wallSeconds(one, n) }},
		&contender{name: "bound on 2", seconds: func(n int) (float64, error) { return b.k.pairSeconds(left, right, n) }})
	in, err := race(cs, b.rounds, b.slice)
	if err == nil && len(in) < len(cs) {
		err = fmt.Errorf("one of the loops failed")
	}
	return in, err
}
