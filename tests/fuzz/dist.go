package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// distProgram makes a proc over buffers that are distributed in rows: sweeps
// with halo exchange, a reduction, conversions. It is run on several numbers of
// ranks, which must agree.
func distProgram(g *gen, p *Program) {
	axes := pick(g, []string{"P", "P, Q"})
	g.items = append(g.items, "grid @g("+axes+")")
	f := &FuncInfo{Name: g.fresh("d"), level: "dist", dims: []string{"M", "N"}, Ranks: []int{1, 2, 3, 7}, Roles: map[string]Role{}}
	f.Sizes = []map[string]int64{g.drawSizes(f.dims), g.drawSizes(f.dims)}
	e := g.elem()
	d := distProc{block: newBlock(g, f), elem: e, low: g.IntN(3), top: g.IntN(3)}
	d.flat, d.loads = true, false
	d.params(axes)
	d.line("dist.owned(%%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= M)")
	d.sweeps()
	d.total()
	d.conversions()
	d.line("return()")
	g.finishProc(d.block)
}

type distProc struct {
	*block
	elem     num.Elem
	low, top int // halo rows
}

const rows = "dist(@g, block/0, *)"

func (d *distProc) params(axes string) {
	M, N := sym.Name("M"), sym.Name("N")
	halo := fmt.Sprintf("dist(@g, block/0 halo(%d, %d), *)", d.low, d.top)
	columns := fmt.Sprintf("dist(@g, *, %s/0)", pick(d.gen, []string{"block", "cyclic(1)", "cyclic(2)"}))
	if strings.Contains(axes, "Q") {
		columns = fmt.Sprintf("dist(@g, cyclic(%d)/0, block/1)", 1+d.IntN(3))
	}
	d.f.parms = []tval{
		{name: "%steps", elem: num.Index, mode: "in", scalar: true},
		{name: "%A", elem: d.elem, mode: "inout", dims: []sym.Expr{M, N}, dist: halo},
		{name: "%B", elem: d.elem, mode: "inout", dims: []sym.Expr{M, N}, dist: rows},
		{name: "%C", elem: d.elem, mode: "out", dims: []sym.Expr{M, N}, dist: columns},
		{name: "%sum", elem: d.elem, mode: "out", dist: "dist(@g)"},
	}
	d.f.Roles["steps"] = Role{Values: []int64{0, 1, 2}}
}

// sweeps computes B from A's rows and their neighbours, then A from B.
func (d *distProc) sweeps() {
	in := d.under(1)
	for k := -d.low; k <= d.top; k++ {
		x := d.fresh("%e")
		in.line("%s = load(%%A[%s, j])", x, sym.Add(sym.Name("i"), sym.Const(int64(k))))
		in.vals = append(in.vals, sval{text: x, elem: d.elem})
	}
	v := in.scalar(d.elem, 1+d.IntN(3))
	exchange := ""
	if d.low+d.top > 0 {
		exchange = "dist.halo(%A) dim=0\n"
	}
	d.line("loop.for t = 0 to %%steps {\n%sloop.for i = max(%d, lo) to min(M - %d, hi) { loop.for j = 0 to N {\n%sstore(%s, %%B[i, j]) } }",
		exchange, d.low, d.top, in.out, v.text)
	back := d.under(1)
	back.vals = append(back.vals, sval{text: "%b", elem: d.elem})
	w := back.scalar(d.elem, 1)
	d.line("loop.for i = lo to hi { loop.for j = 0 to N {\n%%b = load(%%B[i, j])\n%sstore(%s, %%A[i, j]) } } }", back.out, w.text)
}

// total folds all of A in a way that does not hang on the number of ranks.
func (d *distProc) total() {
	m := map[bool]string{true: pick(d.gen, []string{"max", "min"}), false: pick(d.gen, []string{"sum", "max", "min", "prod"})}[d.elem.IsFloat()]
	if d.elem == num.Bool {
		m = pick(d.gen, []string{"any", "all"})
	}
	d.line("%%part = loop.alloc : buf<%s[], dist(@g, partial(%s))>", d.elem, m)
	d.line("tensor.comp red(i < hi - lo, j < N) in(%%x = %%A[i + lo, j]) out(%%part[]) { yield(%%x) } by %s(%s)", m, d.elem)
	d.line("dist.reduce(%%part, %%sum)")
}

func (d *distProc) conversions() {
	if d.chance(3) {
		r := d.fresh("%k")
		d.line("%s = dist.rank grid=@g axis=0", r)
	}
	d.line("dist.convert(%%A, %%C)")
}
