package ir

import (
	"tenon/internal/num"
	"tenon/ir/sym"
)

// Version is the version of the text form.
const Version = 1

// Module is a list of items in textual order; names are unique over all kinds.
type Module struct{ Items []Item }

// Item is a Func, Monoid, Encoding, Kernel, Grid, Data or Extern.
type Item interface{ ItemName() string }

// Level is the level of a function: which ops it may hold. See levels.go.
type Level string

// The levels.
const (
	LevelTensor Level = "tensor"
	LevelTile   Level = "tile"
	LevelLoop   Level = "loop"
	LevelVec    Level = "vec"
	LevelDist   Level = "dist"
	LevelGPU    Level = "gpu"
)

// Mode is how a proc uses a parameter.
type Mode string

// The modes; a func's parameters have ModeIn.
const (
	ModeIn    Mode = "in"
	ModeOut   Mode = "out"
	ModeInOut Mode = "inout"
)

// Param is a parameter of a func, proc, kernel or encoding (a part).
type Param struct {
	Mode  Mode
	Const bool // bound once, when the compiled function is opened
	Value *Value
}

// Provenance says how a fact is known.
type Provenance string

// The provenances: checked at entry, proved, or holding in its variant.
const (
	Declared Provenance = "declared"
	Proved   Provenance = "proved"
	Guarded  Provenance = "guarded"
)

// Fact is a condition over dims.
type Fact struct {
	Provenance Provenance
	Cond       sym.Cond
}

// Result is a result of a func: its type and, if the source names it, a name.
type Result struct {
	Name string
	Type Type
}

// Func is a func (values in, values out, no effects) or, when IsProc, a proc
// (buffers, by mode).
type Func struct {
	IsProc     bool
	Level      Level
	Name       string
	Dims       []string // bound at entry
	ExDims     []string // existential: bound inside, may stand in result types
	Params     []*Param
	Results    []Result // func only
	Where      []Fact
	Directives []string
	Loc        Loc
	Body       *Region
}

// Monoid is a reduction over k-tuples. Plain: Identity yields the k-tuple and
// Combine, with parameters CombineParams (2k), the combination. Rescaled: Base
// over Over with Act; see the text form's page for T and its laws.
type Monoid struct {
	Name          string
	Builtin       bool
	Params        []*Value // k components and their types
	Assoc, Comm   bool
	Identity      *Region
	CombineParams []*Value
	Combine       *Region

	Base, Over *MonoidUse // rescaled form
	ActParams  []*Value   // v.., from b.., to b..
	Act        *Region
	Loc        Loc
}

// MonoidUse is a monoid applied to components of the one being defined.
type MonoidUse struct {
	Monoid *Monoid
	Params []*Value
}

// Elems are the component types.
func (m *Monoid) Elems() []num.Elem {
	es := make([]num.Elem, len(m.Params))
	for i, p := range m.Params {
		es[i] = ElemOf(p.Type)
	}
	return es
}

// Encoding is a way of storing a tensor of Elem: its parts, and the pure
// decoder of one element whose subscripts are Subs.
type Encoding struct {
	Name   string
	Dims   []string
	Elem   num.Elem
	Where  []Fact
	Parts  []*Param
	Subs   []string
	Decode *Region
	Loc    Loc
}

// Kernel is a micro-kernel: Meaning is what it computes, the proc named Body
// does so for a full tile.
type Kernel struct {
	Name    string
	Dims    []string
	Tile    []int64
	Needs   []string // target features
	Cost    string   // extern
	Body    string   // proc
	Params  []*Param
	Meaning *Region
	Loc     Loc
}

// Grid is an arrangement of ranks with named axes sizes.
type Grid struct {
	Name string
	Axes []string
}

// Extern is something known only when running: a cost table or block sizes.
type Extern struct {
	Name string
	What string // cost or sizes
	Loc  Loc
}

// Data is a constant tensor, written out or kept in a file.
type Data struct {
	Name string
	Type Type
	List []Literal // nil when in a file
	File string
	Key  string
	Loc  Loc
}

// ItemName makes the module's items Items.
func (f *Func) ItemName() string     { return f.Name }
func (m *Monoid) ItemName() string   { return m.Name }
func (e *Encoding) ItemName() string { return e.Name }
func (k *Kernel) ItemName() string   { return k.Name }
func (g *Grid) ItemName() string     { return g.Name }
func (e *Extern) ItemName() string   { return e.Name }
func (d *Data) ItemName() string     { return d.Name }

// Lookup returns the item of that kind and name, or nil.
func Lookup[T Item](m *Module, name string) T {
	for _, it := range m.Items {
		if t, ok := it.(T); ok && it.ItemName() == name {
			return t
		}
	}
	var none T
	return none
}

// Funcs lists the module's funcs and procs in order.
func (m *Module) Funcs() []*Func {
	var fs []*Func
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok {
			fs = append(fs, f)
		}
	}
	return fs
}

// Bodies are the names of the procs that are bodies of micro-kernels: parts of
// what calls them, not functions of the program.
func (m *Module) Bodies() map[string]bool {
	bodies := map[string]bool{}
	for _, it := range m.Items {
		if k, ok := it.(*Kernel); ok {
			bodies[k.Body] = true
		}
	}
	return bodies
}
