package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// gpuProgram makes a launch: each thread computes an element into shared
// memory, a barrier, then a result from the elements of its block.
func gpuProgram(g *gen, p *Program) {
	threads := pick(g, []int64{2, 4, 7, 16})
	f := &FuncInfo{Name: g.fresh("k"), level: "gpu", dims: []string{"N"}}
	f.Sizes = []map[string]int64{g.drawSizes(f.dims), g.drawSizes(f.dims)}
	N := sym.Name("N")
	blocks := sym.FloorDiv(sym.Add(N, sym.Const(threads-1)), sym.Const(threads))
	e, out := g.elem(), g.elem()
	b := newBlock(g, f)
	b.loads = false
	x := tval{name: "%x", elem: e, mode: "in", dims: []sym.Expr{N}, exact: true}
	y := tval{name: "%y", elem: out, mode: "out", dims: []sym.Expr{N}}
	z := tval{name: "%z", elem: out, mode: "out", dims: []sym.Expr{blocks}}
	s := tval{name: "%s", elem: g.elem(), mode: "in", scalar: true, exact: true}
	f.parms = []tval{x, y, z, s}
	b.vals = []sval{{text: "%s", elem: s.elem, exact: true}}
	b.axes = []axis{{name: "g", extent: blocks, plain: true}, {name: "t", extent: sym.Const(threads), plain: true, hi: threads - 1}}
	ids := fmt.Sprintf("t < %d", threads)
	mine := "t"
	if threads%2 == 0 && g.chance(2) {
		ids, mine = fmt.Sprintf("w < 2, t < %d", threads/2), fmt.Sprintf("%d*w + t", threads/2)
	}
	at := fmt.Sprintf("%d*g + %s", threads, mine)
	b.line("gpu.launch blocks(g < %s) threads(%s) {", blocks, ids)
	b.line("%%sh = gpu.shared : buf<%s[%d], space(shared)>", e, threads)
	b.fillShared(e, at, mine, threads)
	b.line("gpu.barrier")
	b.combineShared(e, out, at, threads)
	b.line("}\nreturn()")
	g.finishProc(b)
}

// fillShared gives each thread's element its value: computed, or copied while
// other work goes on.
func (b *block) fillShared(e num.Elem, at, mine string, threads int64) {
	b.line("store(%s: %s, %%sh[%s])", b.zero(e), e, mine)
	if b.chance(3) {
		b.line("loop.if (%s < N) { gpu.copy_async(%%x[%s:1], %%sh[%s:1]) }\ngpu.commit\ngpu.wait groups=0", at, at, mine)
		return
	}
	in := b.under(1)
	in.vals = append(in.vals, sval{text: "%xe", elem: e, exact: true})
	v := in.scalar(e, 1+b.IntN(b.size+1))
	b.line("loop.if (%s < N) { %%xe = load(%%x[%s])\n%sstore(%s, %%sh[%s]) }", at, at, in.out, v.text, mine)
}

// combineShared reads neighbours, halves the block or loops over it.
func (b *block) combineShared(e, out num.Elem, at string, threads int64) {
	in := b.under(1)
	a := in.fresh("%e")
	if b.chance(2) {
		in.line("%s = load(%%sh[%d])", a, b.Int64N(threads))
	} else {
		c := in.fresh("%c")
		in.line("%%first = load(%%sh[0])\n%s = loop.for r = 1 to %d carry(%s = %%first) {\n%%n = load(%%sh[r])", a, threads, c)
		body := in.under(threads)
		body.vals = append(body.vals, sval{text: c, elem: e}, sval{text: "%n", elem: e})
		body.axes = append(body.axes, axis{name: "r", extent: sym.Const(threads), hi: threads - 1})
		v := body.scalar(e, 2)
		in.line("%syield(%s) } : %s", body.out, v.text, e)
	}
	in.vals = append(in.vals, sval{text: a, elem: e})
	v := in.named(in.scalar(out, 2))
	b.line("%sloop.if (%s < N) { store(%s, %%y[%s]) }", in.out, at, v.text, at)
	first := "t == 0"
	if strings.Contains(at, "w") {
		first += ", w == 0"
	}
	b.line("loop.if (%s) { store(%s, %%z[g]) }", first, v.text)
}
