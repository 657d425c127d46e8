package sym

// Floor division and mod: a = (a//b)*b + a mod b, 0 <= a mod b < b, b > 0.

// FloorDiv is a//b, rounded towards minus infinity; b is taken to be positive.
func FloorDiv(a, b Expr) Expr {
	if a.isOver() || b.isOver() {
		return overflowed
	}
	if n, ok := b.IsConst(); ok && n <= 0 {
		return binary(AtomFloorDiv, a, b) // no value; Eval says why
	}
	q, r := split(a, b)
	if q.isOver() || r.isOver() {
		return overflowed
	}
	if r.n == nil {
		return q
	}
	if r2, b2, g, _ := reduce(r, b); g > 1 {
		return Add(q, FloorDiv(r2, b2))
	}
	if n, ok := b.IsConst(); ok {
		return Add(q, divConst(r, n))
	}
	return Add(q, binary(AtomFloorDiv, r, b))
}

// Mod is a mod b, 0 <= a mod b < b; b is taken to be positive.
func Mod(a, b Expr) Expr {
	if a.isOver() || b.isOver() {
		return overflowed
	}
	if n, ok := b.IsConst(); ok && n <= 0 {
		return binary(AtomMod, a, b)
	}
	a = unwrapMods(a, b)
	_, r := split(a, b)
	if r.isOver() {
		return overflowed
	}
	if r.n == nil {
		return r
	}
	if r2, b2, g, rest := reduce(r, b); g > 1 {
		return addScaled(Const(rest), g, Mod(r2, b2))
	}
	return modAtom(r, b)
}

// modAtom makes r mod b for an r without parts that b divides.
func modAtom(r, b Expr) Expr {
	n, isConst := b.IsConst()
	if a := r.atom(); a != nil && a.Kind == AtomMod {
		if a.Args[1].Equal(b) {
			return r
		}
		if m, ok := a.Args[1].IsConst(); ok && isConst && m > 0 && m <= n {
			return r
		}
	}
	return binary(AtomMod, r, b)
}

// divConst makes r//n for a constant n > 1; r has terms, none that n divides,
// and no divisor in common with n (a constant alone never gets here).
func divConst(r Expr, n int64) Expr {
	t := r.terms()[0]
	if len(r.terms()) != 1 || t.coef != 1 || len(t.f) != 1 {
		return binary(AtomFloorDiv, r, Const(n))
	}
	a := t.f[0]
	m, ok := a.Args[1].IsConst()
	if !ok || m <= 0 {
		return binary(AtomFloorDiv, r, Const(n))
	}
	switch {
	case a.Kind == AtomFloorDiv: // (x//m + c)//n = (x + c*m)//(m*n)
		if mn, ok := mul64(m, n); ok {
			if x := addScaled(a.Args[0], m, Const(r.constant())); !x.isOver() {
				return FloorDiv(x, Const(mn))
			}
		}
	case a.Kind == AtomMod && r.constant() >= 0 && m <= n-r.constant(): // 0 <= x mod m + c < n
		return Expr{}
	}
	return binary(AtomFloorDiv, r, Const(n))
}

// split finds q and r with a == q*b + r, where r keeps what b does not divide
// term by term. The constant of r lies in 0..b-1 when b is a constant.
func split(a, b Expr) (q, r Expr) {
	bt := b.terms()
	switch {
	case len(bt) == 0:
		return splitConst(a, b.constant())
	case len(bt) == 1 && b.constant() == 0:
		return splitMonomial(a, bt[0])
	}
	if q, ok := exactQuotient(a, b); ok {
		return q, Expr{}
	}
	return Expr{}, a
}

func splitConst(a Expr, n int64) (q, r Expr) {
	var qt, rt []term
	for _, t := range a.terms() {
		if d := t.coef / n; d != 0 {
			qt = append(qt, term{d, t.f})
		}
		if m := t.coef % n; m != 0 {
			rt = append(rt, term{m, t.f})
		}
	}
	return ofTerms(qt, floorDiv(a.constant(), n)), ofTerms(rt, floorMod(a.constant(), n))
}

func splitMonomial(a Expr, m term) (q, r Expr) {
	var qt, rt []term
	qc := int64(0)
	for _, t := range a.terms() {
		f, ok := divideFactors(t.f, m.f)
		c, exact := quo64(t.coef, m.coef)
		switch {
		case !ok || !exact:
			rt = append(rt, t)
		case len(f) == 0:
			qc = c
		default:
			qt = append(qt, term{c, f})
		}
	}
	ts, _, _ := collect(qt) // taking factors away may change the order; no two become equal
	return ofTerms(ts, qc), ofTerms(rt, a.constant())
}

// divideFactors takes the factors d out of f.
func divideFactors(f, d []*Atom) (rest []*Atom, ok bool) {
	for _, a := range f {
		if len(d) > 0 && cmpAtom(a, d[0]) == 0 {
			d = d[1:]
			continue
		}
		rest = append(rest, a)
	}
	return rest, len(d) == 0
}

// exactQuotient is long division of polynomials, tried for a few steps; only a
// division without remainder counts, so the order of terms does not matter.
func exactQuotient(a, b Expr) (q Expr, ok bool) {
	lead := b.terms()[0]
	for step := 0; step < 8; step++ {
		if a.n == nil {
			return q, true
		}
		if a.isOver() || len(a.terms()) == 0 {
			return Expr{}, false
		}
		t := a.terms()[0]
		f, ok := divideFactors(t.f, lead.f)
		c, exact := quo64(t.coef, lead.coef)
		if !ok || !exact {
			return Expr{}, false
		}
		d := Const(c)
		if len(f) > 0 {
			d = ofTerms([]term{{c, f}}, 0)
		}
		q, a = Add(q, d), Sub(a, Mul(d, b))
	}
	return Expr{}, false
}

// reduce divides r and b by the greatest common divisor g of their
// coefficients: r = g*r' + rest, b = g*b', 0 <= rest < g. Then r//b = r'//b'
// and r mod b = g*(r' mod b') + rest.
func reduce(r, b Expr) (r2, b2 Expr, g, rest int64) {
	g = b.constant()
	for _, t := range b.terms() {
		g = gcd(g, t.coef)
	}
	for _, t := range r.terms() {
		g = gcd(g, t.coef)
	}
	if g <= 1 {
		return r, b, 1, 0
	}
	return divideCoefs(r, g), divideCoefs(b, g), g, floorMod(r.constant(), g)
}

func divideCoefs(e Expr, g int64) Expr {
	ts := make([]term, len(e.terms()))
	for i, t := range e.terms() {
		ts[i] = term{t.coef / g, t.f}
	}
	return ofTerms(ts, floorDiv(e.constant(), g))
}

// unwrapMods replaces c*(x mod m) by c*x wherever b divides c*m.
func unwrapMods(a, b Expr) Expr {
	out := a
	for _, t := range a.terms() {
		if len(t.f) != 1 || t.f[0].Kind != AtomMod {
			continue
		}
		x, m := t.f[0].Args[0], t.f[0].Args[1]
		if n, ok := m.IsConst(); ok && n <= 0 {
			continue
		}
		cm := addScaled(Expr{}, t.coef, m)
		if cm.isOver() {
			continue
		}
		if _, r := split(cm, b); r.n == nil {
			changed := addScaled(addScaled(out, -t.coef, ofAtom(t.f[0])), t.coef, x)
			if !changed.isOver() {
				out = changed
			}
		}
	}
	if out.n != a.n {
		return unwrapMods(out, b)
	}
	return out
}
