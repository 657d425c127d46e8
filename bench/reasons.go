package main

import (
	"fmt"
	"strings"
)

// reason says why a row is slower than asked, as far as this run shows it.
func (b *bench) reason(r row, cs []*contender) string {
	ours := spreadOf(cs[0].times).median
	arith := spreadOf(b.arithmetic(r, cs)).median
	moved := spreadOf(find(cs, "copy").times).median * float64(r.touched) / 2
	var list []string
	if arith > 0.5*ours {
		list = append(list, fmt.Sprintf("the shortest formula's instructions alone take %.0f%% of its time", 100*arith/ours))
	}
	if r.touched == 1 && moved > 0.7*ours {
		list = append(list, fmt.Sprintf("reading its bytes as the plain copy reads takes %.0f%% of its time: the bound reads more at once", 100*moved/ours))
	}
	if r.touched > 1 && moved > 0.7*ours {
		list = append(list, fmt.Sprintf("moving its bytes with plain loads and stores takes %.0f%% of its time: stores that bypass the cache would save the lines it reads to overwrite", 100*moved/ours))
	}
	if list == nil {
		list = append(list, fmt.Sprintf("neither moving its bytes (%.0f%% of its time) nor its instructions (%.0f%%) explain it: see the assembly, tenon build bench/programs/%s.tn --cpu native --emit asm",
			100*moved/ours, 100*arith/ours, r.program))
	}
	return strings.Join(list, "; ")
}

// threadReason says why a second thread gives less than asked.
func (b *bench) threadReason(program string) string {
	p := b.loaded[program]
	if p != nil && !p.threaded {
		return "the library calls no OpenMP runtime, so that it uses one thread"
	}
	return "the parts are uneven, or starting them takes long for this size"
}
