package ir

import (
	"sort"

	"tenon/internal/diag"
	"tenon/ir/sym"
)

// OpDef is the row of an op: all that Tenon knows about it. Passes ask for
// traits and effects, never for names.
type OpDef struct {
	Name    string // "tensor.comp"; scalar ops, load, store, yield, return print bare
	Doc     string // one line, then the text form
	Clauses []ClauseSpec
	Traits  Traits

	// Infer gives the result types. declared are the types written after the
	// colon (nil if none); an op whose types follow from its operands ignores
	// them, and the verifier compares. Nil: the op has no results.
	Infer func(op *Op, declared []Type) ([]Type, error)

	// TypesInferred: types are not printed, since Infer needs none.
	TypesInferred bool

	// Bind types what the clause at index i of op binds (block parameters),
	// once the clauses before it are complete. Carried values take their
	// inits' types and reads their source's element without it.
	Bind func(op *Op, i int) error

	// Verify checks what the clause kinds cannot. Faults go to c.Errorf.
	Verify func(c *Checker, op *Op)

	// Effects lists what op does to memory and other ranks, regions left out.
	Effects func(op *Op) []Effect

	// Eval stages the op: called once, it gives the closure that runs it.
	Eval func(m Machine, op *Op) Step
}

// Traits is a set of facts about an op.
type Traits uint32

// The traits.
const (
	Pure        Traits = 1 << iota // no effects, no traps: may be removed, duplicated, moved
	Elementwise                    // a scalar op: result depends on the operands' elements alone
	Commutative
	Associative // for integers and bools; floats re-associate only where the program allows
	Reduces     // may fold many points into one
	Linear      // linear in each operand
	Idempotent  // f(x, x) = x
	Comparison
	Terminator
	Isolated   // its regions see no values from outside
	ParallelOK // iterations may run in any order
	Allocates
	Call
	Collective // every rank must reach it
	Barrier    // every thread of a block must reach it
	Apart      // its regions may run at another time than what is around: nothing is shared across their border
	Costly     // many times the cost of an addition: computing it again does not pay
)

// Has reports whether t has all of u.
func (t Traits) Has(u Traits) bool { return t&u == u }

// EffectKind is what an op does to a value's memory.
type EffectKind uint8

// The effects.
const (
	EffectRead EffectKind = iota
	EffectWrite
	EffectAlloc
	EffectSync // communication, barrier: nothing moves across it
	EffectTrap // may stop the program (a checked subscript)
)

// Effect is one effect; Value is nil when it concerns no one buffer.
type Effect struct {
	Kind  EffectKind
	Value *Value
}

var registry = map[string]*OpDef{}

// Register adds a row; op packages do so in package-level variables, as passes
// are registered. Registering a name twice is a bug.
func Register(d *OpDef) *OpDef {
	if registry[d.Name] != nil {
		diag.Bugf("op %s registered twice", d.Name)
	}
	registry[d.Name] = d
	return d
}

// LookupOp returns the row named name, or nil.
func LookupOp(name string) *OpDef { return registry[name] }

// MustOp returns the row named name; that it exists is the caller's promise
// (package tenon/ir/ops imports them all).
func MustOp(name string) *OpDef {
	d := registry[name]
	if d == nil {
		diag.Bugf("no op %q is registered", name)
	}
	return d
}

// AllOps lists every row by name.
func AllOps() []*OpDef {
	var ds []*OpDef
	for _, d := range registry {
		ds = append(ds, d)
	}
	sort.Slice(ds, func(i, j int) bool { return ds[i].Name < ds[j].Name })
	return ds
}

// Family is the part of the name before the dot, "scalar" for bare names.
func (d *OpDef) Family() string {
	for i := range d.Name {
		if d.Name[i] == '.' {
			return d.Name[:i]
		}
	}
	return "scalar"
}

// HasEffects reports whether op, regions included, may do anything beside
// giving its results.
func (op *Op) HasEffects() bool {
	if op.Def.Effects != nil && len(op.Def.Effects(op)) > 0 {
		return true
	}
	for _, r := range op.Regions() {
		for _, in := range r.Ops {
			if in.HasEffects() {
				return true
			}
		}
	}
	return false
}

func (d *OpDef) clauseIndex(kw string, kind ClauseKind) int {
	for i, s := range d.Clauses {
		if s.KW == kw && s.Kind == kind {
			return i
		}
	}
	return -1
}

// Checker collects an op row's complaints, and knows where it stands.
type Checker struct {
	Module *Module
	Func   *Func
	Facts  *sym.Facts // what is known at the op: entry facts, enclosing ranges
	Around []*Op      // the ops around it, outermost first
	Errs   diag.List
}

// Errorf reports a fault of op; the message names the op and its source line.
func (c *Checker) Errorf(op *Op, format string, args ...any) {
	e := diag.Errorf(op.Loc.First(), format, args...)
	if !e.Pos.IsValid() {
		e.Pos.File = op.Loc.String() // a node of a model, or nothing
	}
	e.Msg = op.Def.Name + ": " + e.Msg
	c.Errs = append(c.Errs, e)
}

// OnlyReads reports that op is a call that passes x to `in` parameters alone:
// the row, which does not know the callee, counts every buffer as written.
func (c *Checker) OnlyReads(op *Op, x *Value) bool {
	if !op.Def.Traits.Has(Call) {
		return false
	}
	callee := Lookup[*Func](c.Module, GetClause[*Attr](op, "").Str)
	if callee == nil {
		return false // reported as a call of nothing
	}
	for i, a := range op.Args("") {
		if a.Value == x && i < len(callee.Params) && callee.Params[i].Mode != ModeIn {
			return false
		}
	}
	return true
}
