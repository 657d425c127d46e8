package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
)

// monoid is a reduction that a comp may use: its text after `by`, and whether
// its result is the same however it is computed if the folded values are.
type monoid struct {
	by    string
	elems []num.Elem
	exact bool
	item  string // the text that defines it; "" for a built-in one
}

func (m monoid) builtin() bool { return m.item == "" }

// reduction picks a monoid, one that gives an e as result 0 if e is given.
func (g *gen) reduction(e num.Elem) monoid {
	var own []monoid
	for _, m := range g.monoids {
		if e == num.Invalid || m.elems[0] == e && len(m.elems) == 1 {
			own = append(own, m)
		}
	}
	if len(own) > 0 && g.chance(4) {
		return pick(g, own)
	}
	arg := e == num.Invalid && g.chance(4)
	if e == num.Invalid {
		e = g.elem()
	}
	if e == num.Bool {
		return builtin(pick(g, []string{"any", "all"}), true, e)
	}
	if arg {
		return builtin(pick(g, []string{"argmax", "argmin"}), true, e, num.I64)
	}
	name := pick(g, []string{"sum", "sum", "sum", "max", "min", "prod"})
	return builtin(name, !e.IsFloat() || name == "max" || name == "min", e)
}

func builtin(name string, exact bool, elems ...num.Elem) monoid {
	return monoid{by: name + "(" + elemList(elems) + ")", elems: elems, exact: exact}
}

func elemList(elems []num.Elem) string {
	var parts []string
	for _, e := range elems {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, ", ")
}

// userMonoids are the shapes of user monoids: plain ones of one to four
// components, some not commutative, and rescaled ones over them.
var userMonoids = []func(g *gen, name string) monoid{
	// The mean and its rescaled extension by the squared deviations.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.F32, num.F64})
		mean := name + "m"
		g.item(monoid{by: "@" + mean, elems: []num.Elem{e, e}, item: typed(e, `monoid @`+mean+`(%n: E, %u: E) assoc comm { identity { yield(0.0: E, 0.0: E) }
  combine(%n1, %u1, %n2, %u2) { %n = add(%n1, %n2); %den = select(eq(%n, 0.0: E), 1.0: E, %n)
    yield(%n, add(%u1, mul(sub(%u2, %u1), div(%n2, %den)))) } }`)})
		return monoid{by: "@" + name, elems: []num.Elem{e, e, e}, item: typed(e, `monoid @`+name+`(%n: E, %u: E, %v: E) assoc comm {
  base @`+mean+`(%n, %u) over sum(%v)
  act(%v1, %n1, %u1, %n2, %u2) { %d = sub(%u1, %u2); yield(add(%v1, mul(%n1, mul(%d, %d)))) } }`)}
	},
	// A maximum with a rescaled sum, as in a softmax.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.F32, num.F64})
		return monoid{by: "@" + name, elems: []num.Elem{e, e}, item: typed(e, `monoid @`+name+`(%m: E, %l: E) assoc comm {
  base max(%m) over sum(%l)
  act(%v, %m1, %m2) { %t = select(eq(%m1, -inf: E), 0.0: E, mul(%v, exp(sub(%m1, %m2))))
    yield(select(eq(%m1, %m2), %v, %t)) } }`)}
	},
	// The same with two sums, its components in another order.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.F32, num.F64})
		return monoid{by: "@" + name, elems: []num.Elem{e, e, e}, item: typed(e, `monoid @`+name+`(%l: E, %m: E, %acc: E) assoc comm {
  base max(%m) over sum(%l, %acc)
  act(%v, %w, %m1, %m2) { %f = exp(sub(%m1, %m2)); %dead = eq(%m1, -inf: E); %same = eq(%m1, %m2); %z = const 0.0: E
    yield(select(%same, %v, select(%dead, %z, mul(%v, %f))), select(%same, %w, select(%dead, %z, mul(%w, %f)))) } }`)}
	},
	// Composition of affine maps modulo 2^n: associative, not commutative.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.I64, num.I32, num.I16, num.I8, num.U8})
		return monoid{by: "@" + name, elems: []num.Elem{e, e}, exact: true, item: typed(e, `monoid @`+name+`(%a: E, %b: E) assoc {
  identity { yield(1: E, 0: E) }
  combine(%a1, %b1, %a2, %b2) { yield(mul(%a1, %a2), add(mul(%b1, %a2), %b2)) } }`)}
	},
	// The first value there is.
	func(g *gen, name string) monoid {
		e := g.elem()
		return monoid{by: "@" + name, elems: []num.Elem{e, num.Bool}, exact: true, item: typed(e, `monoid @`+name+`(%v: E, %is: bool) assoc {
  identity { yield(`+g.zero(e)+`: E, false: bool) }
  combine(%v1, %is1, %v2, %is2) { yield(select(%is1, %v1, %v2), or(%is1, %is2)) } }`)}
	},
	// The least and the greatest.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.F32, num.F64, num.BF16, num.F16})
		return monoid{by: "@" + name, elems: []num.Elem{e, e}, exact: true, item: typed(e, `monoid @`+name+`(%lo: E, %hi: E) assoc comm {
  identity { yield(inf: E, -inf: E) }
  combine(%lo1, %hi1, %lo2, %hi2) { yield(min(%lo1, %lo2), max(%hi1, %hi2)) } }`)}
	},
	// One component: the parity, the bits that all have.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.I64, num.I32, num.I16, num.I8, num.U8})
		op, id := "xor", "0"
		return monoid{by: "@" + name, elems: []num.Elem{e}, exact: true, item: typed(e, `monoid @`+name+`(%x: E) assoc comm {
  identity { yield(`+id+`: E) } combine(%x1, %x2) { yield(`+op+`(%x1, %x2)) } }`)}
	},
	// Neither associative nor commutative: the order is the meaning.
	func(g *gen, name string) monoid {
		e := pick(g, []num.Elem{num.F32, num.F64, num.I32})
		return monoid{by: "@" + name, elems: []num.Elem{e}, exact: e.IsInt(), item: typed(e, `monoid @`+name+`(%x: E) {
  identity { yield(`+g.zero(e)+`: E) } combine(%x1, %x2) { yield(sub(%x2, %x1)) } }`)}
	},
}

func typed(e num.Elem, text string) string {
	return strings.NewReplacer(": E", ": "+e.String()).Replace(text)
}

func (g *gen) zero(e num.Elem) string {
	switch {
	case e.IsFloat():
		return "0.0"
	case e == num.Bool:
		return "false"
	}
	return "0"
}

// item adds a monoid to the module.
func (g *gen) item(m monoid) {
	g.items = append(g.items, m.item)
	g.monoids = append(g.monoids, m)
}

// someMonoids adds up to n user monoids.
func (g *gen) someMonoids(n int) {
	for range g.IntN(n + 1) {
		make := pick(g, userMonoids)
		g.item(make(g, g.fresh(fmt.Sprintf("mon"))))
	}
}
