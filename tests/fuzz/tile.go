package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// tileProgram makes procs of the tile level: a contraction by a micro-kernel
// under tile loops, and procs of plain loops, comps and tiles.
func tileProgram(g *gen, p *Program) {
	if g.chance(2) {
		g.contraction()
		return
	}
	for range 1 + g.IntN(1+g.size/3) {
		g.blockProc("tile")
	}
}

// kernel is a micro-kernel of the module.
type kernel struct {
	name   string
	mr, nr int64
	elem   num.Elem
}

// kernelItem writes a kernel, its cost table and its body: a row of
// accumulators over the depth.
func (g *gen) kernelItem() kernel {
	k := kernel{g.fresh("k"), pick(g, []int64{1, 2, 4}), pick(g, []int64{2, 4, 8}), pick(g, []num.Elem{num.F32, num.F64, num.I32, num.I64})}
	var b, carry, yields strings.Builder
	var results []string
	for i := range k.mr {
		sep := ", "
		if i == 0 {
			sep = ""
		}
		results = append(results, fmt.Sprintf("%%r%d", i))
		fmt.Fprintf(&carry, "%s%%c%d = %%z", sep, i)
		fmt.Fprintf(&b, "%%a%d = vec.bcast(%%a[%d, l]) : vec<%d x E>\n%%d%d = vec.fma(%%a%d, %%b0, %%c%d)\n", i, i, k.nr, i, i, i)
		fmt.Fprintf(&yields, "%s%%d%d", sep, i)
	}
	text := `kernel @NAME<m, n, k> tile(MR, NR, 1) needs() cost @cost body @NAME_body
    (in %a: buf<E[m, k]>, in %b: buf<E[k, n]>, out %c: buf<E[m, n]>) {
  tensor.comp par(i < m, j < n) red(l < k) in(%x = %a[i, l], %y = %b[l, j]) out(%c[i, j]) { yield(mul(%x, %y)) } by sum(E) }
proc vec @NAME_body<K, LA, LC>(in %a: buf<E[MR, K], strides(LA, 1)>, in %b: buf<E[K, NR]>, out %c: buf<E[MR, NR], strides(LC, 1)>) {
  %z = vec.splat(ZERO) : vec<NR x E>
  RESULTS = loop.for l = 0 to K carry(CARRY) {
    %b0 = vec.load(%b[l, 0]) : vec<NR x E>
    BODY yield(YIELDS) } : TYPES
`
	var types []string
	for i, r := range results {
		text += fmt.Sprintf("  vec.store(%s, %%c[%d, 0])\n", r, i)
		types = append(types, "vec<NR x E>")
	}
	text += "  return() }"
	text = strings.NewReplacer("RESULTS", strings.Join(results, ", "), "CARRY", carry.String(), "BODY", b.String(), "YIELDS", yields.String(), "TYPES", strings.Join(types, ", ")).Replace(text)
	text = strings.NewReplacer("NAME", k.name, "MR", fmt.Sprint(k.mr), "NR", fmt.Sprint(k.nr), "ZERO", g.zero(k.elem), "<E[", "<"+k.elem.String()+"[", "x E>", "x "+k.elem.String()+">", "sum(E)", "sum("+k.elem.String()+")").Replace(text)
	g.costTable()
	g.items = append(g.items, text)
	return k
}

// contraction is C = f(A B) under tile loops, in one or two variants.
func (g *gen) contraction() {
	k := g.kernelItem()
	g.items = append(g.items, "extern @blocks sizes")
	f := &FuncInfo{Name: g.fresh("p"), level: "tile", dims: []string{"M", "N", "K"}}
	f.Sizes = []map[string]int64{g.drawSizes(f.dims)}
	f.Sizes = append(f.Sizes, g.otherSizes(f.Sizes[0]))
	M, N, K := sym.Name("M"), sym.Name("N"), sym.Name("K")
	b := newBlock(g, f)
	for _, t := range []tval{{name: "%A", mode: "in", dims: []sym.Expr{M, K}}, {name: "%B", mode: "in", dims: []sym.Expr{K, N}},
		{name: "%bias", mode: "in", dims: []sym.Expr{N}}, {name: "%C", mode: "out", dims: []sym.Expr{M, N}}} {
		t.elem, t.exact, t.frozen = k.elem, true, true
		f.parms = append(f.parms, t)
	}
	last := b.epilogue(k)
	whole, packed := b.direct(k, last), b.packed(k, last)
	switch g.IntN(3) {
	case 0:
		b.line("%s", whole)
	case 1:
		b.line("%s", packed)
	case 2:
		b.line("tile.choose dims(M, N, K) variant direct where(guarded M <= %d) {\n%s} variant packed {\n%s} pick {", 2+g.IntN(5), whole, packed)
		b.line("%%s = tile.cost table=@cost (M, N, K) : f64\n%%p = tile.cost table=@cost (M, N) : f64\nyield(select(le(%%s, %%p), 0: i32, 1: i32)) }")
	}
	b.line("return()")
	g.finishProc(b)
}

// epilogue is what is stored of an accumulator: the ops, with COLUMN for the
// index of the column.
func (b *block) epilogue(k kernel) string {
	if b.chance(3) {
		return ""
	}
	in := b.under(1)
	in.loads = false
	in.vals = []sval{{text: "%acc", elem: k.elem}, {text: "%bi", elem: k.elem}}
	v := in.scalar(k.elem, 2)
	return fmt.Sprintf("\nepilogue(%%acc, i, j) { %%bi = load(%%bias[COLUMN])\n%syield(%s) }", in.out, v.text)
}

func column(epilogue, index string) string { return strings.ReplaceAll(epilogue, "COLUMN", index) }

func (b *block) parallelFlag() string { return pick(b.gen, []string{"", " parallel"}) }

// direct calls the kernel on tiles of A and B as they lie.
func (b *block) direct(k kernel, last string) string {
	return fmt.Sprintf(`tile.for n0:nn = 0 to N step %d%s { tile.for m0:mm = 0 to M step %d%s {
  tile.call kernel=@%s (%%C[m0:mm, n0:nn], K)
    a(i, l) { yield(load(%%A[i + m0, l])) } b(l, j) { yield(load(%%B[l, j + n0])) }%s } }
`, k.nr, b.parallelFlag(), k.mr, b.parallelFlag(), k.name, column(last, "j + n0"))
}

// packed cuts the depth into blocks and packs B.
func (b *block) packed(k kernel, last string) string {
	return fmt.Sprintf(`tile.sizes from=@blocks (M, N, K) exists(mc: 1 <= mc, nc: 1 <= nc, kc: 1 <= kc)
%%Bp = loop.alloc : buf<%[1]s[(nc + %[2]d)//%[3]d, kc, %[3]d]>
tile.for n0:nn = 0 to N step nc { tile.for k0:kk = 0 to K step kc once {
  tile.pack(%%B[k0:kk, n0:nn], %%Bp) panel=%[3]d
  tile.for m0:mm = 0 to M step mc%[4]s { tile.for j0:jj = 0 to nn step %[3]d { tile.for i0:ii = 0 to mm step %[5]d {
    tile.call kernel=@%[6]s (%%C[i0 + m0:ii, j0 + n0:jj], kk) first(k0 == 0) last(k0 + kk == K)
      a(i, l) { yield(load(%%A[i + i0 + m0, k0 + l])) } b(l, j) { yield(load(%%Bp[j0//%[3]d, l, j])) }%[7]s
  } } } } }
`, k.elem, k.nr-1, k.nr, b.parallelFlag(), k.mr, k.name, column(last, "j + j0 + n0"))
}
