package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/ir/sym"
)

// A candidate is a place that says what an index runs over: a bare subscript
// x[.., n, ..] (strong), or x[.., n + c, ..] under a policy (weak: it counts
// only where there is no strong one).
type candidate struct {
	at     syntax.Node
	d      dim
	rowSub syntax.Expr // for entries: the subscript at the row's position
	rowIdx string      // or the pack that stands there
	rowAt  int         // and which of its indices
	strong bool
}

// ranges collects the candidates for the free indices of expressions.
type ranges struct {
	s      *site
	found  map[string][]candidate
	packs  map[string][][]dim // pack subscripts: the dims they cover, one list a place
	packAt map[string]syntax.Node
	order  []string // free indices and packs ("..p") in order of appearance
	bound  []map[string]bool
	skip   map[string]bool // names that are not bound yet: what they are says nothing
}

// rangesOf scans expressions for the indices that none of their own reductions
// bind.
func (s *site) rangesOf(es ...syntax.Expr) *ranges { return s.rangesWithout(nil, es...) }

// rangesWithout is rangesOf where the names in skip are not bound yet.
func (s *site) rangesWithout(skip map[string]bool, es ...syntax.Expr) *ranges {
	r := &ranges{s: s, skip: skip, found: map[string][]candidate{}, packs: map[string][][]dim{}, packAt: map[string]syntax.Node{}}
	for _, e := range es {
		r.scan(e)
	}
	return r
}

func (r *ranges) isBound(name string) bool {
	for _, m := range r.bound {
		if m[name] {
			return true
		}
	}
	return false
}

func (r *ranges) scan(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Paren:
		r.scan(e.X)
	case *syntax.Unary:
		r.scan(e.X)
	case *syntax.Binary:
		r.scan(e.X)
		r.scan(e.Y)
	case *syntax.Tuple:
		for _, x := range e.List {
			r.scan(x)
		}
	case *syntax.Call:
		for _, a := range e.Args {
			r.scan(a.X)
		}
	case *syntax.Reduce:
		r.scanReduce(e)
	case *syntax.Index:
		r.scanIndex(e)
	}
}

func (r *ranges) scanReduce(e *syntax.Reduce) {
	mine := map[string]bool{}
	for _, a := range e.Axes {
		if a.Pack != "" {
			mine[".."+a.Pack] = true
		} else {
			mine[a.Name.Name] = true
		}
	}
	r.bound = append(r.bound, mine)
	for _, row := range rowsOf(e.Axes) {
		r.scan(row)
	}
	for _, w := range e.Where {
		r.scan(w)
	}
	r.scan(e.Body)
	r.bound = r.bound[:len(r.bound)-1]
}

func (r *ranges) scanIndex(e *syntax.Index) {
	if n, ok := syntax.Unparen(e.X).(*syntax.Name); ok && r.skip[n.Name] {
		return
	}
	if inner, ok := syntax.Unparen(e.X).(*syntax.Index); ok {
		all := &syntax.Index{Span: e.Span, X: inner.X, Subs: append(append([]*syntax.Sub{}, inner.Subs...), e.Subs...)}
		r.s.f.p.failWith(e.Errorf("an element has no elements").WithExpected("one pair of brackets").WithFix("write %s", exprText(all)))
	}
	t := r.s.tensorOf(e.X)
	if t == nil {
		if p := r.s.patternOf(e.X); p != nil {
			r.scanPattern(e, p)
		} else if n, ok := syntax.Unparen(e.X).(*syntax.Name); ok {
			r.s.lookup(n) // an unknown tensor is the fault to report, not its index
		}
		return
	}
	dims := r.s.align(e, t)
	for i, sub := range e.Subs {
		if sub.Pack != "" {
			key := ".." + sub.Pack
			if !r.isBound(key) {
				r.note(key)
				r.packs[sub.Pack] = append(r.packs[sub.Pack], dims[i])
				r.packAt[sub.Pack] = sub
			}
			continue
		}
		if len(dims[i]) == 1 {
			r.scanSub(e, sub, dims[i][0], dims)
		}
	}
}

// scanPattern handles A[i] (a row) and A[i, j].
func (r *ranges) scanPattern(e *syntax.Index, p *pattern) {
	exts := []sym.Expr{p.rows, p.cols}
	for i, sub := range e.Subs {
		if i < 2 && sub.Pack == "" {
			r.scanSub(e, sub, dim{ext: exts[i], row: -1}, nil)
		}
	}
}

// scanSub looks at one subscript, which covers d; dims is what each of e covers.
func (r *ranges) scanSub(e *syntax.Index, sub *syntax.Sub, d dim, dims [][]dim) {
	if n, ok := syntax.Unparen(sub.X).(*syntax.Name); ok {
		if !r.isBound(n.Name) && r.free(n.Name) {
			c := candidate{at: sub, d: d, strong: true}
			if d.pat != nil && d.row >= 0 {
				c.fromRow(e, dims)
			}
			r.add(n.Name, c)
		}
		return
	}
	if n := shifted(sub.X); n != nil && e.Policy != "" && !r.isBound(n.Name) && r.free(n.Name) {
		r.add(n.Name, candidate{at: sub, d: d, strong: false})
	}
	r.scan(sub.X)
}

// fromRow finds the subscript of e that stands at the row of c's entries.
func (c *candidate) fromRow(e *syntax.Index, dims [][]dim) {
	at := c.d.row
	for i, sub := range e.Subs {
		switch {
		case at >= len(dims[i]):
			at -= len(dims[i])
			continue
		case sub.Pack != "":
			c.rowIdx, c.rowAt = sub.Pack, at
		default:
			c.rowSub = sub.X
		}
		return
	}
}

// shifted is the name in `n + c` and `n - c`.
func shifted(x syntax.Expr) *syntax.Name {
	b, ok := syntax.Unparen(x).(*syntax.Binary)
	if !ok || b.Op != "+" && b.Op != "-" {
		return nil
	}
	if n, ok := syntax.Unparen(b.X).(*syntax.Name); ok {
		if _, lit := syntax.Unparen(b.Y).(*syntax.Lit); lit {
			return n
		}
	}
	if n, ok := syntax.Unparen(b.Y).(*syntax.Name); ok && b.Op == "+" {
		if _, lit := syntax.Unparen(b.X).(*syntax.Lit); lit {
			return n
		}
	}
	return nil
}

// free reports that a name is not bound to anything but, at most, an index.
func (r *ranges) free(name string) bool {
	b := r.s.scope.find(name)
	return b == nil || b.kind == bindIndex || b.kind == bindBroken
}

func (r *ranges) add(name string, c candidate) {
	r.note(name)
	r.found[name] = append(r.found[name], c)
}

func (r *ranges) note(key string) {
	for _, k := range r.order {
		if k == key {
			return
		}
	}
	r.order = append(r.order, key)
}

// extent settles the range of index name from its candidates: the first strong
// one, which every other strong one must equal.
func (r *ranges) extent(at syntax.Node, name string) candidate {
	var pick *candidate
	cs := r.found[name]
	for i := range cs {
		c := &cs[i]
		switch {
		case pick == nil || c.strong && !pick.strong:
			pick = c
		case c.strong:
			r.agree(name, pick, c)
		}
	}
	if pick == nil {
		r.s.f.p.failWith(at.Errorf("nothing says what the index %s runs over", name).
			WithExpected("a subscript that is just %s in some operand", name).
			WithFix("give the range: %s in 0..N", name))
	}
	return *pick
}

// agree makes two ranges of one index equal.
func (r *ranges) agree(name string, a, b *candidate) {
	switch {
	case a.d.pat == nil && b.d.pat == nil:
		r.s.f.equateAt(b.at, a.at, a.d.ext, b.d.ext, name)
	case a.d.pat != nil && b.d.pat == nil:
		r.s.f.equateAt(b.at, a.at, a.d.pat.cols, b.d.ext, name)
	case a.d.pat == nil && b.d.pat != nil:
		r.s.f.equateAt(b.at, a.at, a.d.ext, b.d.pat.cols, name)
		*a = *b // the entries are the narrower range
	case a.d.pat.id != b.d.pat.id:
		r.s.f.p.failWith(b.at.Errorf("index %s runs over the entries of %s here and of %s there", name, b.d.pat.name, a.d.pat.name).
			WithNote(a.at.At(), "there").WithFix("edge tensors of two patterns do not line up; use one pattern"))
	}
}

// equateAt is equate with a message that points at both places.
func (f *fnState) equateAt(at, other syntax.Node, a, b sym.Expr, index string) {
	a, b = f.canon(a), f.canon(b)
	if !a.Equal(b) && f.facts().Prove(sym.Ne(a, b)) {
		f.p.failWith(at.Errorf("the index %s runs over %s elements here and over %s there", index, shown(b), shown(a)).
			WithNote(other.At(), "there").
			WithExpected("two dims that meet in one index to be equal").
			WithFix("use different index names, or make the dims equal"))
	}
	f.equate(at, a, b, "")
}
