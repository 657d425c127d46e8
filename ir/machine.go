package ir

import (
	"tenon/internal/num"
	"tenon/ir/sym"
)

// Step runs one staged op in a frame.
type Step func(*Frame)

// Frame holds the values of one activation of a function. Scalars and symbols
// (dims, axes, loop indices) live in S, with their shadows in E when the run
// has shadows; arrays, patterns, vectors and the like in O. Slots are handed
// out by the Machine while it stages.
type Frame struct {
	S []num.Cell
	E []num.Shadow // nil in a run without shadows
	O []any
	T *Thread // who runs this frame
}

// Thread identifies the runner of a frame: a rank of a grid, a thread of a GPU
// block, or (all zero) the only one there is.
type Thread struct {
	Rank  int
	Ranks int
	Sync  Syncer // nil outside dist and gpu
}

// Syncer lets a coroutine wait for its peers.
type Syncer interface {
	// Barrier returns when every live peer has called it with the same key;
	// peers at different keys, or one that has ended, are an error (a trap).
	Barrier(key string)
	// Exchange is a Barrier at which each peer hands in a value and gets those
	// of all, by rank.
	Exchange(key string, mine any) []any
}

// Machine is what an op's Eval needs to stage itself. The interpreter
// implements it. Slots given for a value or symbol stay the same all over one
// function.
type Machine interface {
	Module() *Module
	Func() *Func

	// Shadowed reports whether frames carry shadows.
	Shadowed() bool
	// Scalar is the slot of a scalar value in S (and E).
	Scalar(v *Value) int
	// Object is the slot in O of any other value. Arrays are *Array, patterns
	// *PatternValue, vectors and masks *Lanes, encoded tensors *Encoded.
	Object(v *Value) int
	// Symbol is the slot in S of a name.
	Symbol(name string) int
	// Temp is a fresh slot in S, TempObject one in O (nil at first, kept between
	// activations of an op in one frame).
	Temp() int
	TempObject() int

	// Shared is the slot in O that all ops of the function mean by one number.
	Shared(n int64) int

	// Expr stages an index expression; overflow traps.
	Expr(e sym.Expr) func(*Frame) int64
	// Cond stages a comparison.
	Cond(c sym.Cond) func(*Frame) bool
	// Region stages the ops of r in order, its terminator left out: its owner
	// takes the yielded values from their slots.
	Region(r *Region) Step
	// Element stages the read of one element of src, an array or an encoded
	// tensor, into slot dst (and its shadow), by the policy.
	Element(op *Op, src *Value, subs []sym.Expr, policy Policy, dst int) Step
	// Combine stages acc = acc (monoid) x. acc and x are slots of the
	// components. Identity stages acc = identity.
	Combine(m *Monoid, acc, x []int) Step
	Identity(m *Monoid, acc []int) Step

	// Array makes a fresh array filled with poison; too large traps.
	Array(f *Frame, e num.Elem, shape []int64) *Array
	// Parallel runs body for lo <= i < hi in an order drawn from the run's
	// seed, and traps if two iterations make conflicting accesses.
	Parallel(f *Frame, op *Op, lo, hi, step int64, body func(i int64))
	// Coroutines runs body in n copies of f, by turns from barrier to barrier,
	// and returns when all have ended; conflicting accesses between two
	// barriers trap where shared is set.
	Coroutines(f *Frame, op *Op, n int, shared bool, body func(f *Frame, rank int))
	// Call stages a call of the function named callee.
	Call(op *Op, callee string, args []*Value, results []*Value) Step
	// Invoke runs the function named callee on objects and cells directly (a
	// kernel's body).
	Invoke(f *Frame, op *Op, callee string, args []any) []any

	// Data is the array of a data item.
	Data(op *Op, name string) *Array
	// Poll counts n evaluations of a loop's body, and stops a run that was
	// cancelled or reached its limit.
	Poll(op *Op, n int64)

	// Extern draws (or is given) the value of an extern for the given sizes.
	Extern(name string, args []int64) []float64
	// Variant is the variant that a tile.choose shall return, or -1 for the
	// one that its pick region names.
	Variant() int
	// Agree says how two results of the same computation differ by more than
	// the program allows (their shadows' bounds, or equality of integers); nil
	// if they agree. Shapes are equal.
	Agree(a, b *Array) error
	// GridShape is the number of ranks along each axis of a grid.
	GridShape(name string) []int64

	// Trap stops the run with the user's fault at op. It does not return.
	Trap(op *Op, code TrapCode, format string, args ...any)
}

// TrapCode is the kind of fault that stops a run; the same enum as the C ABI's.
type TrapCode int

// The codes, in the order of the C ABI.
const (
	TrapOK TrapCode = iota
	TrapShape
	TrapNull
	TrapAlias
	TrapIndex
	TrapMemory
	TrapOverflow
	TrapAlign     // compiled code alone: an array does not begin at a multiple of its element's size
	TrapFile      // compiled code alone: a file of constants
	TrapBounds    // sanitized programs: an access leaves its buffer
	TrapUndefined // sanitized programs: an element is read that nothing wrote
)

// Array is a view of memory: element (i, j, ..) is cell Off + i*Strides[0] + ...
type Array struct {
	Elem    num.Elem
	Shape   []int64
	Strides []int64 // in elements
	Off     int64
	Mem     *Memory
}

// Memory is one allocation, a cell an element.
type Memory struct {
	Cells  []num.Cell
	Shadow []num.Shadow // nil in a run without shadows
	Watch  Watcher      // nil: accesses need no watching
}

// Overwrite puts what n holds into the first cells of m, which grows if need be.
func (m *Memory) Overwrite(n *Memory) {
	if more := len(n.Cells) - len(m.Cells); more > 0 {
		m.Cells = append(m.Cells, make([]num.Cell, more)...)
		if m.Shadow != nil {
			m.Shadow = append(m.Shadow, make([]num.Shadow, more)...)
		}
	}
	copy(m.Cells, n.Cells)
	copy(m.Shadow, n.Shadow)
}

// Watcher sees every access to watched memory: conflict detection in parallel
// loops, races between threads of a block, ownership on a grid. It traps at op,
// the one that makes the access.
type Watcher interface {
	Access(f *Frame, op *Op, mem *Memory, cell int64, write bool)
}

// PatternValue is a sparse structure in row form: the entries of row i are
// Ptr[i] <= e < Ptr[i+1], with columns Col[e]. Row[e] is the entry's row. Other
// layouts are brought into this form when they enter; Perm maps an entry here to
// its place in the caller's storage (nil: the same).
type PatternValue struct {
	Rows, Cols int64
	Ptr        []int64
	Col        []int64
	Perm       []int64
}

// NNZ is the number of stored entries.
func (p *PatternValue) NNZ() int64 { return int64(len(p.Col)) }

// Lanes is a vector or mask value.
type Lanes struct {
	Cells  []num.Cell
	Shadow []num.Shadow
}

// Encoded is a tensor in an encoding: its parts, in order.
type Encoded struct {
	Enc   *Encoding
	Shape []int64
	Parts []*Array
}

// Size is the number of elements of a; ok is false if that overflows int64.
func (a *Array) Size() int64 {
	n, _ := SizeOf(a.Shape)
	return n
}

// SizeOf multiplies a shape. ok is false for a negative dim or an overflow; a
// zero dim gives 0 even where the others would overflow.
func SizeOf(shape []int64) (n int64, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d == 0 {
			n = 0
		}
	}
	if n == 0 {
		return 0, true
	}
	for _, d := range shape {
		if n > (1<<62)/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// NewArray makes an array in C order with every cell 0.
func NewArray(e num.Elem, shape ...int64) *Array {
	n, _ := SizeOf(shape)
	return &Array{Elem: e, Shape: append([]int64(nil), shape...), Strides: CStrides(shape),
		Mem: &Memory{Cells: make([]num.Cell, n)}}
}

// CStrides are the strides of C order for shape, in elements.
func CStrides(shape []int64) []int64 {
	s := make([]int64, len(shape))
	n := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= max(shape[i], 1)
	}
	return s
}

// Cell is the position of element idx in a.Mem; ok is false out of range.
func (a *Array) Cell(idx []int64) (pos int64, ok bool) {
	pos = a.Off
	for d, i := range idx {
		if i < 0 || i >= a.Shape[d] {
			return 0, false
		}
		pos += i * a.Strides[d]
	}
	return pos, true
}
