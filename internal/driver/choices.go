package driver

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes"
	"tenon/passes/pass"
)

// Choosing is what a function chooses at run time, and which of its comps reached
// a micro-kernel.
type Choosing struct {
	Comps   []CompInfo `json:"comps"`
	Choices []Choice   `json:"choices"`
}

// CompInfo is a comprehension before tiles are made.
type CompInfo struct {
	At          string `json:"at"`           // LINE:COLUMN
	MicroKernel bool   `json:"micro_kernel"` // it has variants that call one
	Choice      *int   `json:"choice,omitempty"`
	Reason      string `json:"reason,omitempty"` // why it has none
}

// Choice is a choice at given sizes. Where a size that it depends on is not
// given, Unknown says so, and nothing is picked.
type Choice struct {
	Number   int           `json:"choice"`
	At       string        `json:"at"`
	Dims     string        `json:"dims"` // as an expression, and its value
	Variants []VariantInfo `json:"variants"`
	Picked   string        `json:"picked,omitempty"`
	Why      string        `json:"why,omitempty"`
	Unknown  string        `json:"unknown,omitempty"`
}

// VariantInfo is a variant of a choice.
type VariantInfo struct {
	Name   string   `json:"name"`
	Cycles *float64 `json:"cycles,omitempty"` // as predicted; absent where the pick compares none
	Layers *Layers  `json:"by_layer,omitempty"`
	Guard  string   `json:"guard,omitempty"` // what must hold for it to run
	Fails  bool     `json:"guard_fails,omitempty"`
}

// Layers are the predicted cycles by layer of the machine: those of a core whose
// first cache holds everything, and what each further layer adds where the one
// before it holds only what it does. Blocks are cut as the caches are large, so a
// layer may take a little away as well.
type Layers struct {
	Core   float64 `json:"core"`
	Second float64 `json:"second_cache"`
	Last   float64 `json:"last_cache"`
	Memory float64 `json:"memory"`
}

// Choices tells of each function of m, by name, what it chooses at the sizes of
// dims and of scalar parameters, by name. forced are wishes as of --variant.
func Choices(m *ir.Module, sizes map[string]int64, forced []Forced, o Options) (map[string]*Choosing, error) {
	desc, err := o.machine()
	if err != nil {
		return nil, err
	}
	all, err := choicesOn(m, sizes, forced, machineOf(desc))
	if err == nil && desc.GPU == nil {
		err = addLayers(all, m, sizes, machineOf(desc))
	}
	if err != nil {
		return nil, err
	}
	for _, w := range forced {
		if err := all[w.Func].meets(w); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// boundless is more than any cache has to hold.
const boundless = 1 << 40

// addLayers splits what is predicted on a machine by asking the same of machines
// whose caches hold everything, from the first on, from the second on, and so on.
func addLayers(all map[string]*Choosing, m *ir.Module, sizes map[string]int64, on passes.Machine) error {
	if len(sizes) == 0 {
		return nil
	}
	ideal := [3]passes.Machine{on, on, on}
	ideal[0].FirstBytes, ideal[0].NearBytes, ideal[0].LastBytes = boundless, boundless, boundless
	ideal[1].NearBytes, ideal[1].LastBytes = boundless, boundless
	ideal[2].LastBytes = boundless
	var by [3]map[string]*Choosing
	for i, x := range ideal {
		var err error
		if by[i], err = choicesOn(m, sizes, nil, x); err != nil {
			return err
		}
	}
	for name, c := range all { // each by itself: no order enters
		for i, x := range c.Choices {
			for k, v := range x.Variants {
				a, b, d := by[0][name].cycles(i, v.Name), by[1][name].cycles(i, v.Name), by[2][name].cycles(i, v.Name)
				if v.Cycles != nil && a != nil && b != nil && d != nil {
					c.Choices[i].Variants[k].Layers = &Layers{*a, *b - *a, *d - *b, *v.Cycles - *d}
				}
			}
		}
	}
	return nil
}

// cycles are those of a variant of choice i, nil where there are none.
func (c *Choosing) cycles(i int, variant string) *float64 {
	if c == nil || i >= len(c.Choices) {
		return nil
	}
	for _, v := range c.Choices[i].Variants {
		if v.Name == variant {
			return v.Cycles
		}
	}
	return nil
}

// choicesOn is Choices for a machine.
func choicesOn(m *ir.Module, sizes map[string]int64, forced []Forced, on passes.Machine) (map[string]*Choosing, error) {
	g := &pass.Manager{}
	low, err := untilLoops(g, m, on)
	if err != nil {
		return nil, err
	}
	all, bodies := map[string]*Choosing{}, low.Bodies()
	for _, f := range low.Funcs() {
		if bodies[f.Name] {
			continue
		}
		c := &chooser{m: low, f: f, sizes: sizes, forced: forced, reasons: map[string]string{}, out: &Choosing{Comps: []CompInfo{}, Choices: []Choice{}}}
		for _, r := range g.Remarks {
			if r.Func == f.Name && r.Pass == "helix" && !r.Done {
				c.reasons[r.Loc.First().String()] = r.Reason
			}
		}
		c.region(f.Body)
		all[f.Name] = c.out
	}
	return all, nil
}

// meets refuses a wish that no choice can meet.
func (c *Choosing) meets(w Forced) error {
	if c == nil {
		return diag.Usagef("--variant %s=%s: the program has no such function", w.Func, w.Variant)
	}
	var names [][]string
	for _, x := range c.Choices {
		names = append(names, x.names())
	}
	return checkForced([]Forced{w}, w.Func, names)
}

func (c Choice) names() (list []string) {
	for _, v := range c.Variants {
		list = append(list, v.Name)
	}
	return list
}

// untilLoops takes a copy of m down to where comps and choices become loops.
func untilLoops(g *pass.Manager, m *ir.Module, on passes.Machine) (*ir.Module, error) {
	m = ir.Clone(m)
	for _, s := range passes.Pipeline(passes.EntryLevel(m), on) {
		list := s.Passes
		i := slices.IndexFunc(list, func(in pass.Instance) bool { return in.Pass.Name == "lower-comps" })
		if i >= 0 {
			list = list[:i]
		}
		if err := g.Run(m, list); err != nil || i >= 0 {
			return m, err
		}
	}
	return m, nil
}

// chooser looks through one function. Choices are numbered as lower-comps numbers
// them: those inside of a variant first.
type chooser struct {
	m       *ir.Module
	f       *ir.Func
	sizes   map[string]int64
	forced  []Forced
	reasons map[string]string // of what helix declined, by place
	out     *Choosing
}

func (c *chooser) region(r *ir.Region) {
	for _, op := range r.Ops {
		switch {
		case op.Def.Name == "tile.choose":
			c.choose(op)
		case tensor.IsComp(op):
			reason := c.reasons[op.Loc.First().String()]
			if reason == "" {
				reason = "no contraction: it sums no products"
			}
			c.out.Comps = append(c.out.Comps, CompInfo{At: lineColumn(op), Reason: reason})
		default:
			for _, in := range op.Regions() {
				c.region(in)
			}
		}
	}
}

func lineColumn(op *ir.Op) string {
	at := op.Loc.First()
	return fmt.Sprintf("%d:%d", at.Line, at.Col)
}

// choose tells of a choice. The comps of its last variant, which is the program
// as it is, are those that reached a micro-kernel.
func (c *chooser) choose(op *ir.Op) {
	vs := ir.GetClause[*ir.Variants](op, "")
	first := len(c.out.Comps)
	for i, v := range vs.List {
		kept := c.out.Comps
		c.region(v.Region)
		if i < len(vs.List)-1 {
			c.out.Comps = kept
		}
	}
	x := Choice{Number: len(c.out.Choices), At: lineColumn(op)}
	for i := first; i < len(c.out.Comps); i++ {
		c.out.Comps[i] = CompInfo{At: c.out.Comps[i].At, MicroKernel: true, Choice: &x.Number}
	}
	var dims []string
	for _, a := range op.Args("dims") {
		dims = append(dims, c.dim(a))
	}
	x.Dims = strings.Join(dims, ", ")
	for _, v := range vs.List {
		x.Variants = append(x.Variants, c.variant(v))
	}
	c.pick(&x, vs)
	c.out.Choices = append(c.out.Choices, x)
}

func (c *chooser) dim(a ir.Arg) string {
	if a.Expr == nil {
		return "?"
	}
	text := a.Expr.String()
	if n, err := a.Expr.Eval(c.env()); err == nil && fmt.Sprint(n) != text {
		return fmt.Sprintf("%s=%d", text, n)
	}
	return text
}

func (c *chooser) variant(v ir.Variant) VariantInfo {
	x := VariantInfo{Name: v.Name}
	var guard []string
	for _, w := range v.Where {
		guard = append(guard, w.Cond.String())
		if holds, err := w.Cond.Eval(c.env()); err == nil && !holds {
			x.Fails = true
		}
	}
	x.Guard = strings.Join(guard, " and ")
	return x
}

// env gives dims and scalar parameters their sizes.
func (c *chooser) env() sym.Env {
	env := sym.Names(c.sizes)
	env.Val = func(r sym.Ref) (int64, bool) {
		for v, cell := range c.given() {
			if sym.Ref(v) == r {
				return num.Int(cell), true
			}
		}
		return 0, false
	}
	return env
}

// given are the scalar parameters that have a size.
func (c *chooser) given() map[*ir.Value]num.Cell {
	out := map[*ir.Value]num.Cell{}
	for _, p := range c.f.Params {
		t, ok := p.Value.Type.(ir.Scalar)
		if n, known := c.sizes[p.Value.Name]; ok && known && t.Elem.IsInt() {
			out[p.Value] = num.FromInt(n)
		}
	}
	return out
}

// pick evaluates the region that picks, and says what it compared.
func (c *chooser) pick(x *Choice, vs *ir.Variants) {
	if x.Unknown = c.missing(vs.Pick); x.Unknown != "" {
		return
	}
	value, err := interp.Scalars(c.m, c.f, vs.Pick, c.sizes, c.given())
	if err != nil {
		x.Unknown = err.Error()
		return
	}
	at := vs.Pick.Yields()[0]
	k, last := int(num.Int(value(at))), len(vs.List)-1
	costs := costsOf(at, last)
	for i, v := range costs {
		cycles := num.Float(value(v))
		x.Variants[i].Cycles = &cycles
	}
	x.Why = x.comparison(k)
	if w := pickForced(c.forced, c.f.Name, x.Number, x.names()); w >= 0 {
		k, x.Why = w, "forced"
	}
	if k < 0 || k > last || x.Variants[k].Fails {
		k, x.Why = last, "the guard of the picked variant fails"
	}
	x.Picked = x.Variants[k].Name
}

// missing says which size the region needs that is not given.
func (c *chooser) missing(r *ir.Region) (why string) {
	inside, given := map[*ir.Value]bool{}, c.given()
	r.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results {
			inside[v] = true
		}
		op.Values(func(v *ir.Value) *ir.Value {
			if _, ok := given[v]; !ok && !inside[v] {
				why = v.Name + " is not given"
			}
			return v
		})
		for _, n := range namesIn(op) {
			if _, ok := c.sizes[n]; !ok {
				why = n + " is not given"
			}
		}
		return true
	})
	return why
}

// namesIn are the names in the expressions that are operands of op.
func namesIn(op *ir.Op) (names []string) {
	for _, clause := range op.Clauses {
		list, ok := clause.(*ir.Operands)
		if !ok {
			continue
		}
		for _, a := range list.Args {
			if a.Expr != nil {
				names = append(names, a.Expr.Names()...)
			}
		}
	}
	return names
}

// costsOf are the costs that a pick compares: it yields a chain of selects of
// variants' numbers, each where a cost is less than the best so far.
func costsOf(at *ir.Value, last int) map[int]*ir.Value {
	costs := map[int]*ir.Value{}
	for is(at, "select") {
		args := at.Def.Args("")
		less, number := args[0].Value, args[1].Value
		if !is(less, "lt") || !is(number, "const") {
			return nil
		}
		sides := less.Def.Args("")
		k := num.Int(ir.GetClause[*ir.Literal](number.Def, "").Cell)
		costs[int(k)] = sides[0].Value
		costs[last] = sides[1].Value // of the first comparison, met last
		at = args[2].Value
	}
	if !is(at, "const") {
		return nil
	}
	return costs
}

func is(v *ir.Value, op string) bool { return v != nil && v.Def != nil && v.Def.Def.Name == op }

// comparison says why variant k is picked.
func (x *Choice) comparison(k int) string {
	next := -1
	for i, v := range x.Variants {
		if v.Cycles == nil {
			return "no costs are compared"
		}
		if i != k && (next < 0 || *v.Cycles < *x.Variants[next].Cycles) {
			next = i
		}
	}
	switch {
	case next < 0 || k < 0 || k >= len(x.Variants):
		return "there is no other"
	case *x.Variants[k].Cycles == 0:
		return "there is nothing to do"
	}
	return fmt.Sprintf("least predicted cycles; next %s with %.2f times as many", x.Variants[next].Name, *x.Variants[next].Cycles / *x.Variants[k].Cycles)
}
