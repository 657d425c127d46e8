package ir

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/diag"
	"tenon/ir/sym"
)

// Verify checks the invariants of the IR that hold at every point of a
// compilation. The error is a diag.List; each message names the op and its
// source line. Rows check their own ops, after what is common to all.
func Verify(m *Module) error { return VerifyExcept(m, nil) }

// VerifyExcept is Verify without the insides of some functions, which are known
// to be good.
func VerifyExcept(m *Module, known map[*Func]bool) error {
	v := &verifier{Checker: &Checker{Module: m}}
	v.itemNames()
	for _, it := range m.Items {
		if f, ok := it.(*Func); !ok || !known[f] {
			v.item(it)
		}
	}
	v.calls()
	return v.Errs.Err()
}

// VerifyFunc checks one function of m.
func VerifyFunc(m *Module, f *Func) error {
	v := &verifier{Checker: &Checker{Module: m}}
	v.item(f)
	return v.Errs.Err()
}

// verifier walks a module. Checker.Facts is what is known where it stands.
type verifier struct {
	*Checker
	loc      Loc                 // of the item in hand
	values   map[*Value]bool     // visible
	syms     map[string]*binding // visible, nnz#p among them
	undo     []func()            // takes back what came into scope
	bound    map[*Value]bool     // bound anywhere in the item
	patterns map[string]bool     // bound anywhere in the item
	exdims   map[string]int      // dims of the header that wait: how often bound
	params   map[*Value]*Param
	stack    []*Op // the op in hand, last, and those around it
}

// binding is what a name stands for.
type binding struct {
	axis    bool   // not a dim: at most one factor of a product
	entryOf string // the name numbers entries of this pattern
	varying bool   // differs between ranks of a grid or threads of a block
}

func (v *verifier) itemError(format string, args ...any) {
	v.Errs = append(v.Errs, diag.Errorf(v.loc.First(), format, args...))
}

func (v *verifier) itemNames() {
	seen := map[string]bool{}
	for _, it := range v.Module.Items {
		if seen[it.ItemName()] {
			v.itemError("@%s is defined twice", it.ItemName())
		}
		if !isName(it.ItemName()) {
			v.itemError("@%s is no name: letters, digits and _ only", it.ItemName())
		}
		seen[it.ItemName()] = true
	}
}

func (v *verifier) item(it Item) {
	v.loc, v.Func = Loc{}, nil
	v.values, v.syms, v.bound = map[*Value]bool{}, map[string]*binding{}, map[*Value]bool{}
	v.patterns, v.exdims, v.params = map[string]bool{}, map[string]int{}, map[*Value]*Param{}
	v.undo, v.stack, v.Facts = nil, nil, sym.NewFacts()
	switch it := it.(type) {
	case *Func:
		v.function(it)
	case *Monoid:
		v.monoid(it)
	case *Encoding:
		v.encoding(it)
	case *Kernel:
		v.kernel(it)
	case *Data:
		v.data(it)
	case *Extern:
		v.loc = it.Loc
		if it.What != "cost" && it.What != "sizes" {
			v.itemError("extern @%s is %q; an extern is cost or sizes", it.Name, it.What)
		}
	}
}

func (v *verifier) function(f *Func) {
	v.Func, v.loc = f, f.Loc
	spec := SpecOf(f.Level)
	if spec == nil {
		v.itemError("@%s: there is no level %s", f.Name, f.Level)
		return
	}
	v.header(f.Dims, f.Params, f.Where)
	for _, d := range f.ExDims {
		v.exdims[d] = 0
	}
	for _, p := range f.Params {
		if !f.IsProc && p.Mode != ModeIn && p.Mode != "" {
			v.itemError("@%s: %%%s is %s; a func only has values in", f.Name, p.Value.Name, p.Mode)
		}
		if f.IsProc && p.Mode != ModeIn && !isBuf(p.Value.Type) {
			v.itemError("@%s: %%%s is %s, but only buffers are; its type is %v", f.Name, p.Value.Name, p.Mode, p.Value.Type)
		}
		v.levelType(spec, p.Value.Type, "parameter %"+p.Value.Name)
	}
	if _, err := Entry(f); err != nil {
		v.Errs = append(v.Errs, err.(diag.List)...)
	}
	v.region(f.Body)
	v.ending(f.Body, "return")
	v.unboundDims(f)
	v.checkBounds(f)
	v.checkInPlace(f)
}

// header binds dims and parameters and adds what holds at entry.
func (v *verifier) header(dims []string, params []*Param, where []Fact) {
	for _, d := range dims {
		v.bindSym(nil, d, &binding{})
		v.Facts.Add(sym.Ge(sym.Name(d), sym.Const(0)))
	}
	for _, p := range params {
		if t, ok := p.Value.Type.(Pattern); ok {
			v.bindPattern(nil, t)
		}
	}
	for _, p := range params {
		v.params[p.Value] = p
		v.paramType(p)
		v.bindValue(nil, p.Value)
		addExtents(v.Facts, p.Value.Type)
	}
	v.where(where, Declared)
}

// paramType checks the type of a parameter. An out parameter may have sizes that
// the shape program finds: it runs before there is need for the buffer.
func (v *verifier) paramType(p *Param) {
	if p.Mode != ModeOut || v.Func == nil || len(v.Func.ExDims) == 0 {
		v.typ(nil, p.Value.Type)
		return
	}
	v.scoped(func() {
		for _, d := range PlannedDims(v.Func) {
			v.bindSym(nil, d, &binding{})
		}
		v.typ(nil, p.Value.Type)
	})
}

// where adds facts; free is the provenance that needs no proof here.
func (v *verifier) where(fs []Fact, free Provenance) {
	dead := v.Facts.Contradiction() // a loop around that never runs: no fault of these facts
	for _, f := range fs {
		v.expr(nil, f.Cond.L)
		v.expr(nil, f.Cond.R)
		switch f.Provenance {
		case free:
			v.Facts.Add(f.Cond)
		case Proved:
		default:
			v.fault(nil, "fact %s is %s; here facts are %s or proved", f.Cond, f.Provenance, free)
		}
	}
	for _, c := range proveFacts(v.Facts, fs) {
		v.fault(nil, "fact %s is marked proved, but no proof is found", c)
	}
	if len(fs) > 0 && !dead && v.Facts.Contradiction() {
		v.fault(nil, "the facts contradict each other: nothing satisfies %s", condsText(v.Facts.Conds()))
	}
}

func condsText(cs []sym.Cond) string { return joined(cs, sym.Cond.String) }

// fault reports at op or, where op is nil, at the op in hand or the item.
func (v *verifier) fault(op *Op, format string, args ...any) {
	if op == nil && len(v.stack) > 0 {
		op = v.stack[len(v.stack)-1]
	}
	if op == nil {
		v.itemError(format, args...)
		return
	}
	v.Errorf(op, format, args...)
}

// ending wants region r to end in the terminator of that name.
func (v *verifier) ending(r *Region, word string) {
	last := r.Last()
	if last == nil {
		v.fault(nil, "a region does not end in %s", word)
	} else if last.Def.Name != word {
		v.Errorf(last, "ends a region that ends in %s", word)
	}
}

func (v *verifier) unboundDims(f *Func) {
	for _, d := range f.ExDims {
		if n := v.exdims[d]; n != 1 {
			v.itemError("@%s: the existential dim %s is bound by %d ops; one must bind it, with exists(%s: ..)", f.Name, d, n, d)
		}
	}
	for _, r := range f.Results {
		for _, n := range typeNames(r.Type) {
			if v.syms[n] == nil && !slices.Contains(f.ExDims, n) {
				v.itemError("@%s: %s in the result type %s is not defined", f.Name, n, r.Type)
			}
		}
	}
}

// typeNames lists the names in the expressions of t, each once.
func typeNames(t Type) []string {
	var names []string
	MapType(t, func(e sym.Expr) sym.Expr {
		names = append(names, e.Names()...)
		return e
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// scoped runs f and takes back what it brought into scope, facts included.
func (v *verifier) scoped(f func()) {
	n, facts := len(v.undo), v.Facts
	v.Facts = facts.Clone()
	f()
	for i := len(v.undo) - 1; i >= n; i-- {
		v.undo[i]()
	}
	v.undo, v.Facts = v.undo[:n], facts
}

func (v *verifier) bindValue(op *Op, x *Value) {
	if x == nil || x.Type == nil {
		v.fault(op, "binds a value without a type")
		return
	}
	if v.bound[x] {
		v.fault(op, "%%%s is bound twice", x.Name)
	}
	v.bound[x], v.values[x] = true, true
	v.undo = append(v.undo, func() { delete(v.values, x) })
}

func (v *verifier) bindSym(op *Op, name string, b *binding) {
	if v.syms[name] != nil {
		v.fault(op, "%s is bound already where this binds it", name)
		return
	}
	if plain, edge := strings.CutPrefix(name, "nnz#"); !isName(plain) || !edge && !isLetter(plain[0]) {
		v.fault(op, "%q is no name: letters, digits and _ only, and no digit first", plain)
	}
	v.syms[name] = b
	v.undo = append(v.undo, func() { delete(v.syms, name) })
}

// bindPattern brings nnz#p into scope; #p is bound once.
func (v *verifier) bindPattern(op *Op, t Pattern) {
	if v.patterns[t.ID] {
		v.fault(op, "the pattern #%s is bound twice; each pattern has a name of its own", t.ID)
		return
	}
	v.patterns[t.ID] = true
	v.bindSym(op, "nnz#"+t.ID, &binding{})
	v.Facts.Add(sym.Ge(sym.NNZ(t.ID), sym.Const(0)))
}

// region checks the ops of r in a scope of its own.
func (v *verifier) region(r *Region) {
	if r == nil {
		v.fault(nil, "a region is missing")
		return
	}
	v.scoped(func() {
		for i, op := range r.Ops {
			if op.Def.Traits.Has(Terminator) && i != len(r.Ops)-1 {
				v.Errorf(op, "stands before the end of its region")
			}
			if op.Def.Name == "return" && len(v.stack) > 0 {
				v.Errorf(op, "stands inside an op; a function returns at its end")
			}
			v.op(op)
		}
	})
}

// calls refuses calls that form a cycle.
func (v *verifier) calls() {
	state := map[*Func]int{} // 1: being visited, 2: done
	var path []string
	var visit func(f *Func)
	visit = func(f *Func) {
		state[f] = 1
		path = append(path, "@"+f.Name)
		for _, op := range callsIn(f.Body) {
			g := Lookup[*Func](v.Module, CalleeName(op))
			switch {
			case g == nil:
			case state[g] == 1:
				v.Errorf(op, "calls form a cycle: %s", cycleText(append(path, "@"+g.Name)))
			case state[g] == 0:
				visit(g)
			}
		}
		path = path[:len(path)-1]
		state[f] = 2
	}
	for _, f := range v.Module.Funcs() {
		if state[f] == 0 {
			visit(f)
		}
	}
}

func cycleText(path []string) string {
	first := slices.Index(path, path[len(path)-1])
	return fmt.Sprint(joined(path[first:], func(s string) string { return s }))
}

func callsIn(r *Region) []*Op {
	var ops []*Op
	if r != nil {
		r.Walk(func(op *Op) bool {
			if op.Def.Traits.Has(Call) {
				ops = append(ops, op)
			}
			return true
		})
	}
	return ops
}

// CalleeName is the item that an op with the trait Call names, "" if none.
func CalleeName(op *Op) string {
	for _, c := range op.Clauses {
		if a, ok := c.(*Attr); ok && a.Value == AttrItem {
			return a.Str
		}
	}
	return ""
}
