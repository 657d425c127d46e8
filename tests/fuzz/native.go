package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"tenon/codegen/cpu"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/runtime"
	"tenon/targets"
)

// native compiles programs, many at a time, and holds what the code computes
// against the interpreter.
type native struct {
	tools *targets.Toolchain
	desc  *targets.Desc
	batch []lowered
	procs int
}

// batchProcs is how many procs are compiled in one run of LLVM's tools, each of
// which costs a good part of a second to start.
const batchProcs = 60

// optLevels are the levels of optimisation that are compared.
var optLevels = []int{0, 3}

// findNative looks for LLVM's tools; the error says what to install.
func findNative() (*native, error) {
	tools, err := targets.FindToolchain()
	if err != nil {
		return nil, err
	}
	desc, err := targets.Native()
	if err != nil {
		return nil, err
	}
	return &native{tools: tools, desc: desc}, nil
}

// add takes a lowered program into the batch, without the procs that have no
// native form: those are refused by name, which is counted.
func (c *checker) add(l *lowered) *Mismatch {
	n := c.native
	if n == nil || l == nil {
		return nil
	}
	for _, f := range slices.Clone(l.module.Funcs()) {
		alone := &ir.Module{Items: []ir.Item{f}}
		_, err, bad := lowerProcs(l.program, alone, n.desc)
		if bad != nil {
			return bad
		}
		if err == nil {
			n.procs++
			continue
		}
		if bad := c.refused(l.program, "codegen", err); bad != nil {
			return bad
		}
		l.runs = slices.DeleteFunc(l.runs, func(r Run) bool { return r.Func.Name == f.Name })
		l.module.Items = slices.DeleteFunc(l.module.Items, func(it ir.Item) bool { return it == ir.Item(f) })
	}
	n.batch = append(n.batch, *l)
	if n.procs < batchProcs {
		return nil
	}
	return c.flush()
}

func lowerProcs(p *Program, m *ir.Module, desc *targets.Desc) (text []byte, err error, bad *Mismatch) {
	defer func() {
		if r := recover(); r != nil {
			bad = mismatch(p, "codegen", "", "crashed: %v\n%s\n%s", r, trace(), ir.Print(m))
		}
	}()
	low, err := cpu.Lower(m, desc, "fuzz.tnir", cpu.Options{})
	if err != nil {
		return nil, err, nil
	}
	return low.Text(), nil, nil
}

// flush compiles the batch at each level and runs it.
func (c *checker) flush() *Mismatch {
	n := c.native
	if n == nil || n.procs == 0 {
		return nil
	}
	batch := n.batch
	n.batch, n.procs = nil, 0
	whole := &ir.Module{}
	for i, l := range batch {
		for _, f := range l.module.Funcs() {
			g := *f
			g.Name = exported(i, f.Name)
			whole.Items = append(whole.Items, &g)
		}
	}
	text, err, bad := lowerProcs(batch[0].program, whole, n.desc)
	if err != nil {
		bad = mismatch(batch[0].program, "codegen", "", "refuses procs together that it compiles alone: %v", err)
	}
	if bad != nil {
		return bad
	}
	for _, opt := range optLevels {
		lib, err := n.compile(text, opt)
		if err != nil {
			return c.blame(batch, opt, err)
		}
		for i, l := range batch {
			if bad := c.compare(l, lib, i, opt); bad != nil {
				return bad
			}
		}
		lib.Close()
	}
	return nil
}

func exported(i int, name string) string { return fmt.Sprintf("q%d_%s", i, name) }

func (n *native) compile(text []byte, opt int) (*runtime.Lib, error) {
	ctx := context.Background()
	obj, err := n.tools.Compile(ctx, text, targets.CompileOpts{Opt: opt})
	if err != nil {
		return nil, err
	}
	so, err := n.tools.Link(ctx, n.desc, obj)
	if err != nil {
		return nil, err
	}
	return runtime.OpenBytes(so)
}

// blame compiles the programs of a failed batch one by one to find the one at
// fault.
func (c *checker) blame(batch []lowered, opt int, whole error) *Mismatch {
	for _, l := range batch {
		text, err, bad := lowerProcs(l.program, l.module, c.native.desc)
		if bad != nil {
			return bad
		}
		if err == nil {
			var lib *runtime.Lib
			if lib, err = c.native.compile(text, opt); err == nil {
				lib.Close()
			}
		}
		if err != nil {
			return mismatch(l.program, fmt.Sprintf("LLVM at -O%d", opt), "", "%v", err)
		}
	}
	return mismatch(batch[0].program, fmt.Sprintf("LLVM at -O%d", opt), "", "a batch fails that compiles piece by piece: %v", whole)
}

// compare runs the procs of one program.
func (c *checker) compare(l lowered, lib *runtime.Lib, i, opt int) *Mismatch {
	stage := fmt.Sprintf("native -O%d", opt)
	for _, r := range l.runs {
		f := ir.Lookup[*ir.Func](l.module, r.Func.Name)
		want := r.Outcome
		if want.Fault != nil { // the passes may have dropped it
			var bad *Mismatch
			if want, bad = run(l.program, l.module, f.Name, r.Args(l.program, f), interp.Options{Shadow: true}); bad != nil {
				return bad
			}
		}
		x := newCall(l.program, f, r, want)
		c.running(l.program, stage, f.Name)
		status, err := lib.Call(exported(i, f.Name), x.args)
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case want.Fault != nil && want.Fault.Code == ir.TrapMemory:
			continue // the interpreter's own limit
		case want.Fault != nil && status.Code == runtime.OK:
			why = "runs where the interpreter stops: " + want.Fault.Error()
		case want.Fault != nil && int(status.Code) != int(want.Fault.Code) && !hasParallel(f):
			why = fmt.Sprintf("stops with code %d, the interpreter with %d: %v", status.Code, want.Fault.Code, want.Fault)
		case want.Fault == nil && status.Code != runtime.OK:
			why = fmt.Sprintf("stops with %+v, the interpreter does not", status)
		case want.Fault == nil:
			why = x.check(c.report.of(l.program.Category), want)
			if why == "" {
				why = c.donated(l, lib, exported(i, f.Name), f, r, want)
			}
		}
		if why != "" {
			return mismatch(l.program, stage, f.Name, "at %s: %s\n%s", sizesText(r.Sizes), why, ir.Print(&ir.Module{Items: []ir.Item{f}}))
		}
		c.report.of(l.program.Category).Native++
	}
	return nil
}

// donated calls a proc once for each argument that can be given as a result.
func (c *checker) donated(l lowered, lib *runtime.Lib, name string, f *ir.Func, r Run, want Outcome) string {
	for in, x := range f.Params {
		for out, y := range f.Params {
			if x.Mode != ir.ModeIn || y.Mode != ir.ModeOut {
				continue
			}
			call := newCall(l.program, f, r, want)
			if !call.donate(in, out) {
				continue
			}
			status, err := lib.Call(name, call.args)
			why := ""
			switch {
			case err != nil:
				why = err.Error()
			case status.Code != runtime.OK:
				why = fmt.Sprintf("stops with %+v, the interpreter does not", status)
			default:
				why = call.check(c.report.of(l.program.Category), want)
			}
			if why != "" {
				return fmt.Sprintf("%s given as %s: %s", x.Value.Name, y.Value.Name, why)
			}
		}
	}
	return ""
}

// hasParallel reports iterations in any order: of several at fault any may be
// the one that stops the program.
func hasParallel(f *ir.Func) bool {
	found := false
	f.Body.Walk(func(op *ir.Op) bool { found = found || op.Def.Name == "loop.parallel"; return !found })
	return found
}

// call is the arguments of one call of compiled code, each tensor between two
// guards.
type call struct {
	args    []runtime.Arg
	rooms   [][]byte
	before  [][]byte // of `in` tensors: what must still be there
	tensors []*runtime.Tensor
	f       *ir.Func
	at      map[int]int // the tensor of each parameter that is one
}

const guard = 64

func newCall(p *Program, f *ir.Func, r Run, want Outcome) *call {
	x := &call{f: f, at: map[int]int{}}
	given := r.Args(p, f)
	results, counts, bounds := 0, ir.Counts(f), ir.Bounds(f)
	for i, prm := range f.Params {
		if s, ok := given[i].(interp.Scalar); ok {
			x.args = append(x.args, runtime.Scalar{Elem: s.Elem, Cell: s.Cell})
			continue
		}
		a, ok := given[i].(*ir.Array)
		counted := slices.Contains(counts, i)
		bounded := slices.ContainsFunc(bounds, func(b ir.Bound) bool { return b.Param == i })
		switch {
		case ok:
		case counted || bounded:
			a = ir.NewArray(ir.ElemOf(prm.Value.Type), shapeOf(prm, r.Sizes)...)
		case want.Fault == nil:
			a = want.Results[results].(*ir.Array)
		default:
			a = ir.NewArray(ir.ElemOf(prm.Value.Type), shapeOf(prm, r.Sizes)...)
		}
		if prm.Mode != ir.ModeIn && !counted {
			results++
		}
		x.at[i] = len(x.tensors)
		x.tensor(a, prm.Mode)
	}
	return x
}

// donate gives the argument of parameter in as the result of parameter out, if
// their arrays are alike and have elements.
func (x *call) donate(in, out int) bool {
	i, okIn := x.at[in]
	j, okOut := x.at[out]
	if !okIn || !okOut {
		return false
	}
	a, b := x.tensors[i], x.tensors[j]
	if a.Elem != b.Elem || !slices.Equal(a.Shape, b.Shape) || len(a.Data) == 0 {
		return false
	}
	x.args[out], x.tensors[j], x.before[i] = a, a, nil
	return true
}

func shapeOf(p *ir.Param, sizes map[string]int64) []int64 {
	dims, _ := ir.DimsOf(p.Value.Type)
	d := drawer{sizes: sizes}
	return d.shape(dims)
}

// tensor lays a out in C order between guards; an out tensor holds rubbish.
func (x *call) tensor(a *ir.Array, mode ir.Mode) {
	n := int(a.Size()) * a.Elem.Bytes()
	room := bytes.Repeat([]byte{0xA5}, n+2*guard)
	data := room[guard : guard+n]
	if mode != ir.ModeOut {
		num.EncodeSlice(a.Elem, cells(a), data)
	}
	t := &runtime.Tensor{Elem: a.Elem, Shape: slices.Clone(a.Shape), Data: data}
	x.tensors, x.rooms, x.args = append(x.tensors, t), append(x.rooms, room), append(x.args, t)
	kept := []byte(nil)
	if mode == ir.ModeIn {
		kept = slices.Clone(data)
	}
	x.before = append(x.before, kept)
}

// check holds results against the interpreter's and memory around them against
// what was there.
func (x *call) check(counts *Counts, want Outcome) string {
	for i, room := range x.rooms {
		end := len(room) - guard
		for k, b := range room {
			if (k < guard || k >= end) && b != 0xA5 {
				return fmt.Sprintf("tensor %d: wrote outside, at byte %d of %d", i+1, k-guard, end-guard)
			}
		}
		if x.before[i] != nil && !bytes.Equal(x.before[i], x.tensors[i].Data) {
			return fmt.Sprintf("tensor %d: wrote into an argument", i+1)
		}
	}
	if want.Fault != nil {
		return ""
	}
	results, err := ir.Written(x.f, x.result)
	if err != nil {
		return err.Error()
	}
	for k, got := range results {
		report, err := interp.Compare(got, want.Results[k])
		counts.Elements += report.Elements
		counts.Undecided += report.Undecided
		if err != nil {
			return fmt.Sprintf("result %d: %v", k+1, err)
		}
	}
	return ""
}

// result is what parameter i of the call holds.
func (x *call) result(i int) any {
	t := x.tensors[x.at[i]]
	a := ir.NewArray(t.Elem, t.Shape...)
	num.DecodeSlice(t.Elem, t.Data, a.Mem.Cells)
	return a
}
