package memory

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/passes/analysis"
)

// life is an allocation with the part of the function in which its buffer is
// used: from the op of its region that touches it first to the one that does
// last, by their numbers in the text. A loop is one op: what an iteration leaves
// another may read.
type life struct {
	alloc       *ir.Op
	buf         *ir.Value
	depth       int // ops around the allocation
	path        []analysis.Step
	from, to    *ir.Op
	first, last int
}

// livesIn lists the lives of f's plain buffers in the order of the text; one that
// nothing uses, that another value may stand for, or that outlives a run because
// it is prepared, is left out.
func livesIn(f *ir.Func, acc *analysis.Accesses) (lives []*life) {
	prepared := loop.Prepared(f)
	f.Body.Walk(func(op *ir.Op) bool {
		if op.Def.Name != "loop.alloc" {
			return true
		}
		buf := op.Results[0]
		if !loop.Dense(buf.Type.(ir.Buf)) || acc.Aliased[buf] || len(acc.Of[buf]) == 0 || prepared[buf] != nil {
			return true
		}
		path := acc.Place[op].Path
		l := &life{alloc: op, buf: buf, depth: len(path), path: path}
		l.span(acc)
		lives = append(lives, l)
		return true
	})
	return lives
}

// span finds the ends of l.
func (l *life) span(acc *analysis.Accesses) {
	of := acc.Of[l.buf]
	l.from, l.to = of[0].Child(l.depth), of[len(of)-1].Child(l.depth)
	l.first, l.last = acc.Place[l.from].First, acc.Place[l.to].Last
}

// region identifies the region that l is allocated in.
func (l *life) region(f *ir.Func) *ir.Region {
	if l.depth == 0 {
		return f.Body
	}
	return l.path[l.depth-1].Region
}

// bytes is the size of a buffer of type t.
func bytes(t ir.Buf) sym.Expr {
	n := sym.Const(int64(t.Elem.Bytes()))
	for _, d := range t.Dims {
		n = sym.Mul(n, d)
	}
	return n
}

// inWorkspace reports that l can be a part of the workspace: it is made at most
// once at a time, and its size follows from what is known at entry. What may not
// be reached must have a size in any case.
func (l *life) inWorkspace(known []string, facts *sym.Facts) bool {
	for _, s := range l.path {
		if n := s.Op.Def.Name; n != "loop.for" && n != "loop.if" {
			return false
		}
	}
	for _, d := range l.buf.Type.(ir.Buf).Dims {
		if len(d.Refs()) > 0 || l.depth > 0 && !facts.Prove(sym.Ge(d, sym.Const(0))) {
			return false
		}
		for _, n := range d.Names() {
			if !slices.Contains(known, n) {
				return false
			}
		}
	}
	return true
}
