package gpu

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// Launch runs a grid of blocks of threads.
var Launch = ir.Register(&ir.OpDef{
	Name: "gpu.launch",
	Doc: "Runs a region once for each thread of each block; the axes' names are the ids, the last one fastest.\n" +
		"gpu.launch blocks(g < G, ..) threads(t < 256, ..) { .. }\n" +
		"Blocks run in any order; threads of a block meet at barriers. The number of threads is constant, at most 1024.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindAxes, KW: "blocks"},
		{Kind: ir.KindAxes, KW: "threads"},
		{Kind: ir.KindBlock},
	},
	Traits: ir.ParallelOK,
	Verify: checkLaunch,
	Eval:   evalLaunch,
})

// maxThreads is what every GPU that we know of allows in a block.
const maxThreads = 1024

func body(op *ir.Op) *ir.Region { return ir.GetClause[*ir.Block](op, "").Region }

func checkLaunch(c *ir.Checker, op *ir.Op) {
	for _, kw := range []string{"blocks", "threads"} {
		for _, a := range ir.GetClause[*ir.Axes](op, kw).List {
			if a.Pattern != nil {
				c.Errorf(op, "axis %s runs over a pattern; %s have plain extents", a.Name, kw)
			}
		}
	}
	if n, err := threadCount(op); err != nil {
		c.Errorf(op, "%v", err)
	} else if n > maxThreads {
		c.Errorf(op, "a block has %d threads; at most %d are possible", n, maxThreads)
	}
	if len(body(op).Yields()) > 0 {
		c.Errorf(op, "a launch yields nothing")
	}
	body(op).Walk(func(in *ir.Op) bool {
		if in.Def == op.Def {
			c.Errorf(in, "a launch cannot stand inside another")
		}
		return true
	})
}

func threadCount(op *ir.Op) (int64, error) {
	n := int64(1)
	for _, a := range ir.GetClause[*ir.Axes](op, "threads").List {
		k, ok := a.Extent.IsConst()
		if !ok || k <= 0 {
			return 0, fmt.Errorf("the number of threads along %s is %s, but must be a positive constant", a.Name, a.Extent)
		}
		n *= k
		if n > 1<<30 {
			return 0, errors.New("a block has too many threads")
		}
	}
	return n, nil
}

// space is the domain of a launch's blocks or threads.
type space struct {
	slots   []int
	extents []func(*ir.Frame) int64
}

func newSpace(m ir.Machine, op *ir.Op, kw string) *space {
	s := &space{}
	for _, a := range ir.GetClause[*ir.Axes](op, kw).List {
		s.slots = append(s.slots, m.Symbol(a.Name))
		s.extents = append(s.extents, m.Expr(a.Extent))
	}
	return s
}

// shape gives the extents; a later one may not depend on an earlier axis.
func (s *space) shape(m ir.Machine, op *ir.Op, f *ir.Frame) (shape []int64, size int64) {
	for _, e := range s.extents {
		shape = append(shape, max(0, e(f)))
	}
	size, ok := ir.SizeOf(shape)
	if !ok {
		m.Trap(op, ir.TrapOverflow, "a launch of %v is too large", shape)
	}
	return shape, size
}

// enter sets the ids of number i.
func (s *space) enter(f *ir.Frame, shape []int64, i int64) {
	for d := len(shape) - 1; d >= 0; d-- {
		access.SetInt(f, s.slots[d], i%shape[d])
		i /= shape[d]
	}
}

func evalLaunch(m ir.Machine, op *ir.Op) ir.Step {
	blocks, threads := newSpace(m, op, "blocks"), newSpace(m, op, "threads")
	run, shared := m.Region(body(op)), sharedArrays(m, op)
	async := m.Object(asyncQueue)
	return func(f *ir.Frame) {
		grid, nb := blocks.shape(m, op, f)
		block, nt := threads.shape(m, op, f)
		m.Parallel(f, op, 0, nb, 1, func(b int64) {
			blocks.enter(f, grid, b)
			for _, alloc := range shared {
				alloc(f)
			}
			m.Coroutines(f, op, int(nt), true, func(tf *ir.Frame, t int) {
				threads.enter(tf, block, int64(t))
				tf.O[async] = &queue{}
				run(tf)
			})
		})
	}
}

// sharedArrays stages the shared memory of a block: it is there before its
// threads start.
func sharedArrays(m ir.Machine, op *ir.Op) []ir.Step {
	var steps []ir.Step
	body(op).Walk(func(in *ir.Op) bool {
		if in.Def == Shared {
			slot, fresh := m.Object(in.Results[0]), access.Allocate(m, in, in.Results[0].Type.(ir.Buf))
			steps = append(steps, func(f *ir.Frame) { f.O[slot] = fresh(f) })
		}
		return true
	})
	return steps
}
