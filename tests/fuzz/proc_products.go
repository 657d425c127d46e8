package fuzz

import (
	"fmt"

	"tenon/internal/num"
)

// products is a nest of loops that adds products to elements, which passes look
// for: the sum in the elements themselves, carried by the innermost loop, or in a
// temporary of rank 0, with statements before and after.
func (b *block) products() bool {
	return b.productsIn(2 + b.IntN(2))
}

func (b *block) productsIn(depth int) bool {
	text, a := b.bounds()
	if b.cost*max(1, a.hi+1) > 1500 {
		return false
	}
	in := b.under(a.hi + 1)
	in.axes = append(in.axes, a)
	if b.chance(8) {
		in.statement()
	}
	ok := false
	switch {
	case depth == 1:
		ok = in.addProduct()
	case depth == 2 && b.chance(3):
		ok = in.carriedProducts()
	default:
		ok = in.productsIn(depth - 1)
	}
	if !ok {
		return false
	}
	if b.chance(8) {
		in.statement()
	}
	b.line("loop.for %s = %s {\n%s}", a.name, text, in.out)
	return true
}

// element draws an element that may be written, of a type that adds.
func (b *block) element() (t tval, at string, ok bool) {
	t, ok = b.writable(func(t tval) bool { return t.elem != num.Bool && t.elem != num.Index })
	if ok {
		at, ok = b.place(t)
	}
	return t, at, ok
}

// product is that of two loads, or three.
func (b *block) product(e num.Elem) (string, bool) {
	x, okX := b.load(e)
	y, okY := b.load(e)
	if !okX || !okY {
		return "", false
	}
	text := fmt.Sprintf("mul(%s, %s)", x.text, y.text)
	if b.chance(4) {
		text = fmt.Sprintf("mul(%s, %s)", text, b.scalar(e, 1).text)
	}
	return text, true
}

func (b *block) sign() string { return pick(b.gen, []string{"add", "add", "sub"}) }

func (b *block) addProduct() bool {
	t, at, ok := b.element()
	if !ok {
		return false
	}
	p, ok := b.product(t.elem)
	if !ok {
		return false
	}
	b.line("store(%s(load(%s[%s]), %s), %s[%s])", b.sign(), t.name, at, p, t.name, at)
	return true
}

// carriedProducts is a loop that carries the sum, or keeps it in a temporary,
// and what uses the sum.
func (b *block) carriedProducts() bool {
	t, at, ok := b.element()
	if !ok {
		return false
	}
	text, a := b.bounds()
	if b.cost*max(1, a.hi+1) > 1500 {
		return false
	}
	in := b.under(a.hi + 1)
	in.axes = append(in.axes, a)
	p, ok := in.product(t.elem)
	if !ok {
		return false
	}
	start := "0"
	if t.elem.IsFloat() {
		start = "0.0"
	}
	zero, s := b.fresh("%e"), b.fresh("%e")
	b.line("%s = const %s: %s", zero, start, t.elem)
	if b.chance(2) {
		v := b.fresh("%c")
		b.line("%s = loop.for %s = %s carry(%s = %s) {\n%syield(%s(%s, %s))\n} : %s", s, a.name, text, v, zero, in.out, b.sign(), v, p, t.elem)
	} else {
		m := b.fresh("%a")
		b.line("%s = loop.alloc : buf<%s[]>\nstore(%s, %s[])", m, t.elem, zero, m)
		b.line("loop.for %s = %s {\n%sstore(%s(load(%s[]), %s), %s[])\n}\n%s = load(%s[])", a.name, text, in.out, b.sign(), m, p, m, s, m)
	}
	switch b.IntN(3) {
	case 0:
		b.line("store(%s, %s[%s])", s, t.name, at)
	case 1:
		b.line("store(add(load(%s[%s]), %s), %s[%s])", t.name, at, s, t.name, at)
	default:
		b.line("store(add(load(%s[%s]), mul(%s, %s)), %s[%s])", t.name, at, s, b.scalar(t.elem, 1).text, t.name, at)
	}
	return true
}
