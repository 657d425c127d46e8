package vec

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// loop is an innermost loop that can be made of vectors.
type loop struct {
	op *ir.Op
	r  *ir.Range
	m  machine
	// stream says which stores may go around the caches; nil: none.
	stream *streaming
	facts  *sym.Facts
	folds  []fold

	lanes   int
	columns map[*ir.Op]*columns // accesses that are done in columns
	masked  bool                // the rest goes through a masked step
	varying map[*ir.Value]bool
	trips   sym.Expr // how many iterations, not negative

	row   *ir.Range       // of the loop around
	ahead map[*ir.Op]bool // loads that fetch from the next row, see aheadOf
}

// shape is how an access moves with the loop.
type shape int

const (
	same   shape = iota // one element for all lanes
	row                 // neighbours in a row
	picked              // elements of a row that a vector of numbers picks
	spread              // anything else
)

// analyse says whether op can be made of vectors, or why it stays.
func (v *vectoriser) analyse(op *ir.Op, facts *sym.Facts) (*loop, string) {
	l := &loop{op: op, r: rangeOf(op), m: v.m, stream: v.stream, facts: facts, varying: map[*ir.Value]bool{}}
	if one, ok := l.r.Step.IsConst(); !ok || one != 1 || l.r.Size != "" {
		return nil, "it goes by steps"
	}
	if op.Def.Name != "loop.parallel" {
		if why := l.findFolds(); why != "" {
			return nil, why
		}
	}
	if len(op.Results) != len(carryOf(op).Params) {
		return nil, "it collects its values in a tensor"
	}
	for _, p := range carryOf(op).Params {
		l.varying[p] = true
	}
	if why := l.spreadOver(bodyOf(op)); why != "" {
		return nil, why
	}
	l.trips = sym.Sub(l.r.Hi, l.r.Lo)
	if !facts.Prove(sym.Ge(l.trips, sym.Const(0))) {
		l.trips = sym.Max(l.trips, sym.Const(0))
	}
	if why := l.chooseLanes(); why != "" {
		return nil, why
	}
	l.findColumns()
	return l, l.profit()
}

// spreadOver finds the values that differ from iteration to iteration, and what
// has no form on vectors.
func (l *loop) spreadOver(r *ir.Region) string {
	for _, op := range r.Ops {
		if !l.varies(op) {
			if op.Def.Name != "load" && !op.Def.Traits.Has(ir.Pure) && op.Def.Name != "yield" {
				return op.Def.Name + " would run once for several iterations"
			}
			continue
		}
		for _, v := range op.Results {
			l.varying[v] = true
		}
		if why := l.canSpread(op); why != "" {
			return why
		}
	}
	return ""
}

// varies reports that op depends on the iteration.
func (l *loop) varies(op *ir.Op) bool {
	found := op.Def.Name == "loop.if" || op.Def.Name == "store"
	op.Values(func(v *ir.Value) *ir.Value {
		found = found || l.varying[v]
		return v
	})
	op.Exprs(func(e sym.Expr) sym.Expr {
		found = found || l.moves(e)
		return e
	})
	return found
}

// moves reports that e changes with the loop.
func (l *loop) moves(e sym.Expr) bool {
	if e.Uses(l.r.Name) {
		return true
	}
	for _, ref := range e.Refs() {
		if v, ok := ref.(*ir.Value); ok && l.varying[v] {
			return true
		}
	}
	return false
}

// canSpread says why op has no form on vectors.
func (l *loop) canSpread(op *ir.Op) string {
	switch op.Def.Name {
	case "yield", "select", "cast", "bitcast":
		return ""
	case "load":
		return ""
	case "store":
		if s := l.shapeOf(op.Args("")[1]); s == same {
			return "every iteration stores to the same element"
		}
		return ""
	case "idx":
		if _, _, ok := l.linear(*op.Args("")[0].Expr); !ok {
			return "a number is no multiple of the index"
		}
		return ""
	case "loop.if":
		return l.canMask(op)
	}
	if ir.LookupOp("vec."+op.Def.Name) == nil || len(op.Results) != 1 || len(op.Regions()) > 0 {
		return op.Def.Name + " has no form on vectors"
	}
	return ""
}

// canMask wants branches whose conditions can be compared lane by lane.
func (l *loop) canMask(op *ir.Op) string {
	for _, c := range condsOf(op) {
		for _, e := range []sym.Expr{c.L, c.R} {
			if _, _, ok := l.linear(e); !ok && l.moves(e) {
				return "a condition is not linear in the index"
			}
		}
	}
	for _, in := range op.Regions() {
		if why := l.spreadOver(in); why != "" {
			return why
		}
		for _, op := range in.Ops {
			if (op.Def.Name == "load" || op.Def.Name == "store") && !l.m.masked {
				return "a guarded access needs masked memory"
			}
			// A uniform load under a guard must not run where the guard fails.
			if op.Def.Name == "load" && l.shapeOf(op.Args("")[0]) != row {
				return "a guarded access is not to neighbours"
			}
			if op.Def.Name == "store" && l.shapeOf(op.Args("")[1]) != row {
				return "a guarded access is not to neighbours"
			}
		}
	}
	return ""
}

func condsOf(op *ir.Op) []sym.Cond {
	if c := ir.GetClause[*ir.Conds](op, ""); c != nil {
		return c.List
	}
	return nil
}

// linear splits e into coef*index + rest, with rest the same for all lanes.
func (l *loop) linear(e sym.Expr) (coef int64, rest sym.Expr, ok bool) {
	c, rest, ok := e.Linear(l.r.Name)
	coef, isConst := c.IsConst()
	return coef, rest, ok && isConst && !l.moves(rest)
}

// shapeOf says how the element a moves.
func (l *loop) shapeOf(a ir.Arg) shape {
	subs := subsOf(a)
	for _, s := range subs[:max(0, len(subs)-1)] {
		if l.moves(s) {
			return spread
		}
	}
	if len(subs) == 0 || !l.moves(subs[len(subs)-1]) {
		return same
	}
	last := subs[len(subs)-1]
	strides := a.Value.Type.(ir.Buf).Strides
	if strides != nil {
		if c, ok := strides[len(strides)-1].IsConst(); !ok || c != 1 {
			return spread
		}
	}
	if coef, _, ok := l.linear(last); ok && coef == 1 {
		return row
	}
	if _, _, ok := l.pickedBy(last); ok {
		return picked
	}
	return spread
}

// pickedBy splits a subscript into a varying integer value and a rest that is
// the same for all lanes.
func (l *loop) pickedBy(e sym.Expr) (*ir.Value, sym.Expr, bool) {
	var at *ir.Value
	for _, ref := range e.Refs() {
		if v, ok := ref.(*ir.Value); ok && l.varying[v] {
			if at != nil {
				return nil, e, false
			}
			at = v
		}
	}
	if at == nil {
		return nil, e, false
	}
	rest := sym.Sub(e, sym.Val(at))
	return at, rest, !l.moves(rest)
}

// accesses are the elements of buffers that op reads or writes.
func accesses(op *ir.Op) []ir.Arg {
	switch op.Def.Name {
	case "load":
		return op.Args("")[:1]
	case "store":
		return op.Args("")[1:]
	}
	return nil
}

func subsOf(a ir.Arg) []sym.Expr {
	if a.View == nil {
		return nil
	}
	subs := make([]sym.Expr, len(a.View.Dims))
	for i, d := range a.View.Dims {
		subs[i] = d.Start
	}
	return subs
}

// chooseLanes fills a register with the widest elements that the loop reads,
// writes or computes. Numbers of elements are computed in several registers.
func (l *loop) chooseLanes() string {
	widest, access := 0, true
	bodyOf(l.op).Walk(func(op *ir.Op) bool {
		for _, a := range accesses(op) {
			s := l.shapeOf(a)
			if s != same || op.Def.Name == "store" {
				widest = max(widest, ir.ElemOf(a.Value.Type).Bytes())
			}
			access = access && (s == same || s == row)
		}
		for _, v := range op.Results {
			if e := ir.ElemOf(v.Type); l.varying[v] && e.IsFloat() {
				widest = max(widest, e.Bytes())
			}
		}
		return true
	})
	if widest == 0 {
		widest = 8
	}
	l.masked = l.m.masked && access
	l.lanes = l.m.bytes / widest
	if n, ok := l.trips.IsConst(); ok {
		if n < 4 {
			return "it has fewer than four iterations"
		}
		for int64(l.lanes/2) >= n {
			l.lanes /= 2
		}
		if n < int64(l.lanes) && !l.masked {
			l.lanes /= 2
		}
	}
	if l.lanes < 2 {
		return "a register holds one element"
	}
	return ""
}

// profit weighs one step over all lanes against as many scalar iterations, in
// instructions.
func (l *loop) profit() string {
	scalar, vector := 0, 0
	bodyOf(l.op).Walk(func(op *ir.Op) bool {
		if !l.varies(op) || op.Def.Name == "yield" {
			return true
		}
		scalar += l.lanes
		vector++
		if l.columns[op] != nil { // with a part of the accesses to its rows
			vector += 3
			return true
		}
		for _, a := range accesses(op) {
			if s := l.shapeOf(a); s == spread || s == picked {
				vector += 2 * l.lanes
			}
		}
		return true
	})
	if vector >= scalar {
		return "its accesses are not to neighbours"
	}
	if l.lanes > 16 && vector > scalar/2 {
		return "its accesses are not to neighbours"
	}
	return ""
}
