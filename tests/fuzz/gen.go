package fuzz

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Program is one generated program.
type Program struct {
	Category string
	Seed     uint64
	Size     int
	Text     string
	Source   bool       // the text is in the language, not the IR's text form
	Module   *ir.Module // nil until it is parsed
	Funcs    []*FuncInfo
}

// FuncInfo is what the generator knows of a function: sizes to run it with, and
// what its arguments must look like.
type FuncInfo struct {
	Name  string
	Sizes []map[string]int64 // the first are those it was designed for
	Roles map[string]Role    // by parameter; none: any values
	Keep  bool               // may be called by others
	Ranks []int              // how many ranks to run on; none: 1
	// Reference computes the function directly, where the generator knows what
	// it means; stopped: the data are at fault.
	Reference func(args []any, sizes map[string]int64) (results []any, stopped bool)

	level  string // of a proc
	dims   []string
	parms  []tval
	rets   []tval
	exdims []string
	where  []sym.Cond
}

// Role restricts the values of an integer argument.
type Role struct {
	Bound  sym.Expr // values lie in 0..Bound-1, now and then outside
	Values []int64  // or these
	Stray  bool     // with Bound: let some values lie outside
}

// gen writes one program.
type gen struct {
	*rand.Rand
	size    int
	native  bool // only what has native code
	items   []string
	funcs   []*FuncInfo
	monoids []monoid
	encs    []encoding
	unique  int
}

// tval is a tensor (or buffer, or scalar parameter) in scope.
type tval struct {
	name   string
	elem   num.Elem
	dims   []sym.Expr
	exact  bool      // any implementation gives these very values
	bound  *sym.Expr // an integer tensor with values in 0..bound-1
	enc    string
	scalar bool
	mode   string   // of a proc's parameter
	dist   string   // of a buffer: its distribution
	owned  []string // of a buffer: the parallel indices that its first subscripts must be
	frozen bool     // of a buffer: may not be written here
}

func (t tval) rank() int { return len(t.dims) }

func (t tval) typ() string {
	if t.scalar {
		return t.elem.String()
	}
	s := t.elem.String() + "[" + exprs(t.dims) + "]"
	if t.enc != "" {
		s += " enc @" + t.enc
	}
	return s
}

func exprs(es []sym.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

func (g *gen) fresh(prefix string) string {
	g.unique++
	return fmt.Sprintf("%s%d", prefix, g.unique)
}

// chance is true with probability 1/n.
func (g *gen) chance(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *gen, list []T) T { return list[g.IntN(len(list))] }

// weighted is a maker of ops; make reports false where it found nothing to
// work on, and wrote nothing.
type weighted[T any] struct {
	name   string
	weight int
	make   func(T) bool
	noCode bool // runs in the interpreter only, so far
}

// choose tries makers by weight until one works; it reports whether one did.
func choose[T any](g *gen, list []weighted[T], on T) bool {
	total := 0
	for _, w := range list {
		total += w.weight
	}
	for range 8 {
		n := g.IntN(total)
		for _, w := range list {
			if n -= w.weight; n < 0 {
				if !(w.noCode && g.native) && w.make(on) {
					return true
				}
				break
			}
		}
	}
	return false
}

// elems in the order of their weight in programs.
var commonElems = []num.Elem{num.F32, num.F32, num.F32, num.F64, num.F64, num.I64, num.I64, num.I32, num.F16, num.BF16, num.I16, num.I8, num.U8, num.Bool, num.Index}

func (g *gen) elem() num.Elem { return pick(g, commonElems) }

func (g *gen) floatElem() num.Elem {
	return pick(g, []num.Elem{num.F32, num.F32, num.F64, num.F16, num.BF16})
}

// dimSizes are the sizes of dims: 0, 1, primes and a power of two.
var dimSizes = []int64{0, 1, 2, 3, 3, 4, 5, 5, 7, 7, 8, 11}

// drawSizes gives every dim a size; few are 0, or nothing would be computed.
func (g *gen) drawSizes(dims []string) map[string]int64 {
	env := map[string]int64{}
	for _, d := range dims {
		env[d] = pick(g, dimSizes)
		if env[d] == 0 && !g.chance(3) {
			env[d] = 3
		}
	}
	return env
}

// otherSizes are sizes that a program was not designed for: greater ones, at
// which it mostly runs too, or any.
func (g *gen) otherSizes(sizes map[string]int64) map[string]int64 {
	dims := slices.Sorted(maps.Keys(sizes))
	env := g.drawSizes(dims)
	if g.chance(3) {
		return env
	}
	for _, d := range dims {
		env[d] = sizes[d] + g.Int64N(4)
	}
	return env
}

var dimNames = []string{"M", "N", "K", "L"}

// eval is the value of e at the given sizes; ok is false if it has names
// without one.
func eval(e sym.Expr, env map[string]int64) (int64, bool) {
	v, err := e.Eval(sym.Names(env))
	return v, err == nil
}

func holds(c sym.Cond, env map[string]int64) bool {
	ok, err := c.Eval(sym.Names(env))
	return err == nil && ok
}

// Generate makes the program of a category, seed and size. The text is not
// parsed yet.
func Generate(category string, seed uint64, size int) *Program {
	c := categoryNamed(category)
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 0x66757a7a)), size: size}
	g.native = !g.chance(3)
	p := &Program{Category: category, Seed: seed, Size: size}
	c.fill(g, p)
	p.Funcs = g.funcs
	if p.Text == "" {
		p.Text = "tenon ir 1\n" + strings.Join(g.items, "\n") + "\n"
	}
	return p
}

// Category is a kind of program.
type Category struct {
	Name string
	Doc  string
	fill func(*gen, *Program)
}

// Categories lists the kinds of programs. A later level or front end adds a row.
func Categories() []Category {
	return []Category{
		{"source", "programs of the language, with what they mean: fns and procs", sourceProgram},
		{"tensor", "funcs of the tensor level: comps, control flow, calls, dims known only while running", tensorProgram},
		{"sparse", "funcs over patterns, edge tensors and encoded tensors", sparseProgram},
		{"loop", "procs of the loop level: loop nests, parallel loops, branches, memory, comps on buffers, calls", loopProgram},
		{"vec", "procs of the vec level: vectors, masks, the instructions of targets", vecProgram},
		{"tile", "procs of the tile level: tile loops, packing, micro-kernels, variants", tileProgram},
		{"gpu", "launches: shared memory, barriers, asynchronous copies", gpuProgram},
		{"dist", "procs over distributed buffers, on several numbers of ranks", distProgram},
	}
}

func categoryNamed(name string) Category {
	for _, c := range Categories() {
		if c.Name == name {
			return c
		}
	}
	return Category{}
}
