package tile

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// Choose runs one of several regions that mean the same.
var Choose = ir.Register(&ir.OpDef{
	Name: "tile.choose",
	Doc: "Runs one of several variants that mean the same; pick yields the number of the one to run, from 0.\n" +
		"[%r, .. =] tile.choose dims(M, N, ..) [stats(%p, ..)] variant a [where(..)] {..} variant b {..} pick {..} [: types]\n" +
		"If the picked variant's guard fails the last one runs, which has none. pick reads only the dims, statistics of\n" +
		"the patterns and cost tables. The interpreter runs every variant whose guard holds and compares.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindOperands, KW: "dims"},
		{Kind: ir.KindOperands, KW: "stats", Optional: true},
		{Kind: ir.KindVariants},
	},
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		vs := variants(op)
		if len(vs.List) == 0 {
			return nil, errors.New("there is no variant")
		}
		return access.YieldTypes(vs.List[0].Region.Yields()), nil
	},
	Verify: access.Report(checkChoose),
	Eval:   evalChoose,
})

func variants(op *ir.Op) *ir.Variants { return ir.GetClause[*ir.Variants](op, "") }

func checkChoose(op *ir.Op) error {
	vs := variants(op)
	if len(vs.List) == 0 {
		return errors.New("there is no variant")
	}
	first, seen := vs.List[0], map[string]bool{}
	for _, v := range vs.List {
		if seen[v.Name] {
			return fmt.Errorf("two variants are called %s", v.Name)
		}
		seen[v.Name] = true
		a, b := access.YieldTypes(first.Region.Yields()), access.YieldTypes(v.Region.Yields())
		if !access.SameTypes(a, b) {
			return fmt.Errorf("variant %s yields %v, variant %s %v", first.Name, a, v.Name, b)
		}
		for _, w := range v.Where {
			if w.Provenance != ir.Guarded {
				return fmt.Errorf("variant %s: a fact of a variant is written guarded, not %s", v.Name, w.Provenance)
			}
		}
	}
	if last := vs.List[len(vs.List)-1]; len(last.Where) > 0 {
		return fmt.Errorf("the last variant, %s, must have no guard: it runs when no other may", last.Name)
	}
	return checkPick(op, vs)
}

func checkPick(op *ir.Op, vs *ir.Variants) error {
	ys := vs.Pick.Yields()
	if len(ys) != 1 || !access.IsScalar(ys[0]) || !ir.ElemOf(ys[0].Type).IsInt() {
		return errors.New("pick must yield one integer, a variant's number")
	}
	var err error
	vs.Pick.Walk(func(in *ir.Op) bool {
		in.Values(func(v *ir.Value) *ir.Value {
			switch v.Type.(type) {
			case ir.Buf, ir.Tensor:
				err = fmt.Errorf("pick reads %%%s; it may read dims, statistics and cost tables only", v.Name)
			}
			return v
		})
		return err == nil
	})
	for _, a := range op.Args("dims") {
		if !access.IsInt(a) {
			return errors.New("dims lists integers")
		}
	}
	for _, v := range op.OperandValues("stats") {
		if _, ok := v.Type.(ir.Pattern); !ok {
			return fmt.Errorf("stats lists patterns, and %%%s is a %s", v.Name, v.Type)
		}
	}
	return err
}

// choice is a staged tile.choose.
type choice struct {
	m       ir.Machine
	op      *ir.Op
	bodies  []ir.Step
	guards  []func(*ir.Frame) bool
	yields  [][]*ir.Value
	moves   []ir.Step
	pick    ir.Step
	picked  int   // slot of the number that pick yields
	written []int // slots of the arrays that variants may write
	reads   []func(f *ir.Frame) *ir.Array
}

func evalChoose(m ir.Machine, op *ir.Op) ir.Step {
	vs := variants(op)
	c := &choice{m: m, op: op, pick: m.Region(vs.Pick), picked: m.Scalar(vs.Pick.Yields()[0])}
	for _, v := range vs.List {
		c.bodies = append(c.bodies, m.Region(v.Region))
		c.guards = append(c.guards, guard(m, v))
		c.yields = append(c.yields, v.Region.Yields())
		c.moves = append(c.moves, access.Moves(m, v.Region.Yields(), op.Results))
	}
	for _, v := range Written(vs) {
		c.written = append(c.written, m.Object(v))
	}
	for _, r := range op.Results {
		c.reads = append(c.reads, resultArray(m, r))
	}
	return c.run
}

func guard(m ir.Machine, v ir.Variant) func(*ir.Frame) bool {
	var fs []func(*ir.Frame) bool
	for _, w := range v.Where {
		fs = append(fs, m.Cond(w.Cond))
	}
	return func(f *ir.Frame) bool {
		for _, holds := range fs {
			if !holds(f) {
				return false
			}
		}
		return true
	}
}

// Written lists the buffers from outside that a variant may write, each once.
func Written(vs *ir.Variants) []*ir.Value {
	inside, seen := map[*ir.Value]bool{}, map[*ir.Value]bool{}
	var out []*ir.Value
	for _, v := range vs.List {
		v.Region.Walk(func(op *ir.Op) bool {
			for _, r := range op.Results {
				inside[r] = true
			}
			if op.Def.Effects == nil {
				return true
			}
			for _, e := range op.Def.Effects(op) {
				if e.Kind == ir.EffectWrite && e.Value != nil && !inside[e.Value] && !seen[e.Value] {
					seen[e.Value] = true
					out = append(out, e.Value)
				}
			}
			return true
		})
	}
	return out
}

// resultArray stages a result as an array, to compare it; nil for what has no
// elements.
func resultArray(m ir.Machine, v *ir.Value) func(f *ir.Frame) *ir.Array {
	if access.IsScalar(v) {
		slot, e := m.Scalar(v), ir.ElemOf(v.Type)
		return func(f *ir.Frame) *ir.Array {
			a := ir.NewArray(e)
			c, s := access.Get(f, slot)
			a.Mem.Cells[0] = c
			if f.E != nil {
				a.Mem.Shadow = append(a.Mem.Shadow, s)
			}
			return a
		}
	}
	slot := m.Object(v)
	return func(f *ir.Frame) *ir.Array {
		a, _ := f.O[slot].(*ir.Array)
		return a
	}
}

// outcome is what a variant left: its written arrays' memory and its results.
type outcome struct {
	written []state
	results []*ir.Array
}

// run runs the others first, each on the state that it found, the chosen one
// last, and compares.
func (c *choice) run(f *ir.Frame) {
	c.pick(f)
	k := c.chosen(f)
	before := c.save(f)
	others := map[int]outcome{}
	for i := range c.bodies {
		if i != k && c.guards[i](f) {
			others[i] = c.variant(f, i)
			c.restore(before)
		}
	}
	want := c.variant(f, k)
	for i := range c.bodies {
		if o, ran := others[i]; ran {
			c.compare(f, i, k, o, want)
		}
	}
}

func (c *choice) variant(f *ir.Frame, i int) outcome {
	c.bodies[i](f)
	c.moves[i](f)
	return outcome{c.save(f), c.results(f)}
}

// chosen is the variant to return: the one forced, or picked, unless its guard
// fails.
func (c *choice) chosen(f *ir.Frame) int {
	k, last := int(int64(f.S[c.picked])), len(c.bodies)-1
	if v := c.m.Variant(); v >= 0 {
		k = v
	}
	if k < 0 || k > last || !c.guards[k](f) {
		return last
	}
	return k
}

func (c *choice) results(f *ir.Frame) []*ir.Array {
	var as []*ir.Array
	for _, read := range c.reads {
		as = append(as, read(f))
	}
	return as
}

func (c *choice) compare(f *ir.Frame, i, k int, other, want outcome) {
	vs := variants(c.op).List
	fail := func(what string, err error) {
		if err != nil {
			c.m.Trap(c.op, ir.TrapShape, "variants %s and %s disagree on %s: %v", vs[i].Name, vs[k].Name, what, err)
		}
	}
	for j, slot := range c.written {
		if arr, ok := f.O[slot].(*ir.Array); ok {
			fail("a buffer", c.m.Agree(other.written[j].view(arr), want.written[j].view(arr)))
		}
	}
	for j, r := range c.op.Results {
		a, b := other.results[j], want.results[j]
		if a == nil || b == nil {
			continue
		}
		if fmt.Sprint(a.Shape) != fmt.Sprint(b.Shape) {
			fail("%"+r.Name, fmt.Errorf("shapes %v and %v", a.Shape, b.Shape))
		}
		fail("%"+r.Name, c.m.Agree(a, b))
	}
}
