// reuse-buffers makes a value in the memory of one that dies there.
//
// Before:
//
//	%a = loop.alloc : buf<f32[N]>
//	%b = loop.alloc : buf<f32[N]>
//	.. writes %a ..
//	loop.parallel i = 0 to N { store(exp(load(%a[i])), %b[i]) }
//	.. reads %b, writes the out parameter %y of the same type ..
//
// After, where the last op is through with each element of %b when it writes
// that of %y:
//
//	.. writes %y ..
//	loop.parallel i = 0 to N { store(exp(load(%y[i])), %y[i]) }
//	.. reads %y, writes %y ..
//
// Legal if both have the same type and the first is used for the last time in
// the op that uses the second for the first time, or close by, and every access
// to the first comes before any write to that element of the second
// (analysis.Order). For a buffer and an out parameter it is enough that the one
// is not used after the other; for two buffers that do not meet in an op,
// plan-workspace finds room.
//
// A buffer does not move into an out parameter if a call that gives an argument
// as the result, which could be computed in place, then could not any more
// (allow-donation).
package memory

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// ReuseBuffers merges buffers.
var ReuseBuffers = pass.Register(&pass.Pass{
	Name:    "reuse-buffers",
	Doc:     "make a value in the memory of one that dies there",
	After:   []string{"lower-comps", "contract-buffers", "vectorise"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.IsProc && (f.Level == ir.LevelLoop || f.Level == ir.LevelVec) {
				c.At(f, nil)
				reuseBuffers(c, f)
			}
		}
		return nil
	},
})

// merger is the state of one function.
type merger struct {
	precedence
	c     *pass.Context
	f     *ir.Func
	stays map[*ir.Value]*ir.Value // merged buffers, and what they are part of
	ends  map[*ir.Op][]*life      // by the op that uses them last
	index map[*ir.Op]int          // places of ops in their regions
	given map[string][]*ir.Value  // in parameters, by type
}

func reuseBuffers(c *pass.Context, f *ir.Func) {
	m := &merger{precedence: precedenceIn(f), c: c, f: f,
		stays: map[*ir.Value]*ir.Value{}, ends: map[*ir.Op][]*life{}, index: map[*ir.Op]int{}, given: map[string][]*ir.Value{}}
	m.number(f.Body)
	lives := livesIn(f, m.acc)
	for _, l := range lives {
		m.ends[l.to] = append(m.ends[l.to], l)
	}
	for _, l := range lives {
		m.intoDying(l)
	}
	for _, p := range f.Params {
		if t, ok := p.Value.Type.(ir.Buf); ok && p.Mode == ir.ModeIn {
			m.given[t.String()] = append(m.given[t.String()], p.Value)
		}
	}
	for _, p := range f.Params {
		if t, ok := p.Value.Type.(ir.Buf); ok && p.Mode == ir.ModeOut && loop.Dense(t) {
			m.intoResult(p.Value, lives)
		}
	}
	m.rewrite()
}

func (m *merger) number(r *ir.Region) {
	for i, op := range r.Ops {
		m.index[op] = i
		for _, in := range op.Regions() {
			m.number(in)
		}
	}
}

// near is how many ops of a region may lie between the first use of a buffer and
// the last one of that in whose memory it is made: a loop of vectors has one or
// two behind it for the elements left over.
const near = 3

// intoDying makes l in the memory of a buffer that ends where l begins.
func (m *merger) intoDying(l *life) {
	ops := l.region(m.f).Ops
	i := m.index[l.from]
	for _, op := range ops[i:min(i+near, len(ops))] {
		for _, d := range m.ends[op] {
			if d.to == op && m.makeIn(l, d) {
				return
			}
		}
	}
}

// makeIn makes l in the memory of d if it may.
func (m *merger) makeIn(l, d *life) bool {
	if d == l || d.first > l.first || m.stays[d.buf] != nil || d.region(m.f) != l.region(m.f) || !ir.SameType(d.buf.Type, l.buf.Type) {
		return false
	}
	if !m.precedes(d.buf, l.buf, d.depth) {
		m.c.Decline(l.alloc.Loc, "%%%s is not made in the memory of %%%s: an element is used after that of the other is written", l.buf.Name, d.buf.Name)
		return false
	}
	if !m.c.Apply(l.alloc) {
		return true
	}
	m.c.Done(l.alloc.Loc, "%%%s is made in the memory of %%%s, which is not used after it", l.buf.Name, d.buf.Name)
	m.merge(l.buf, d.buf)
	d.span(m.acc)
	m.ends[d.to] = append(m.ends[d.to], d)
	return true
}

// intoResult makes a buffer in the memory of the out parameter y.
func (m *merger) intoResult(y *ir.Value, lives []*life) {
	for i := len(lives) - 1; i >= 0; i-- { // the last first: more come before it
		l := lives[i]
		if l.depth > 0 || m.stays[l.buf] != nil || !ir.SameType(l.buf.Type, y.Type) || m.acc.Aliased[y] || len(m.acc.Of[y]) == 0 {
			continue
		}
		if m.acc.Of[y][0].At < l.first || !m.precedes(l.buf, y, 0) || m.spoils(l.buf, y) {
			continue
		}
		if !m.c.Apply(l.alloc) {
			return
		}
		m.c.Done(l.alloc.Loc, "%%%s is made in the memory of the result %%%s", l.buf.Name, y.Name)
		m.merge(l.buf, y)
	}
}

// spoils reports an argument that y may share memory with now, and not once buf
// is a part of y.
func (m *merger) spoils(buf, y *ir.Value) bool {
	for _, x := range m.given[y.Type.String()] {
		if len(m.acc.Of[x]) > 0 && m.precedes(x, y, 0) && !m.precedes(x, buf, 0) {
			return true
		}
	}
	return false
}

// merge makes b a part of a.
func (m *merger) merge(b, a *ir.Value) {
	m.stays[b] = a
	as, bs := m.acc.Of[a], m.acc.Of[b]
	all := append(as, bs...)
	if as[len(as)-1].At > bs[0].At {
		slices.SortStableFunc(all, func(x, y *analysis.Access) int { return x.At - y.At })
	}
	m.acc.Of[a] = all
}

// rewrite replaces merged buffers by what they are part of.
func (m *merger) rewrite() {
	if len(m.stays) == 0 {
		return
	}
	m.rewriteIn(m.f.Body)
}

func (m *merger) rewriteIn(r *ir.Region) {
	ops := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		if len(op.Results) == 1 && op.Def.Name == "loop.alloc" && m.stays[op.Results[0]] != nil {
			continue
		}
		op.Values(func(v *ir.Value) *ir.Value {
			for m.stays[v] != nil {
				v = m.stays[v]
			}
			return v
		})
		ops = append(ops, op)
		for _, in := range op.Regions() {
			m.rewriteIn(in)
		}
	}
	r.Ops = ops
}
