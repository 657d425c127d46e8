package fuzz

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
)

// Mismatch is a disagreement: what was compared, and how it differs. It is
// always a fault of Tenon or of the generator.
type Mismatch struct {
	Program *Program
	Stage   string // parse, verify, print, interpret, a pass, native -O0, ...
	Func    string
	Detail  string
}

func (m *Mismatch) Error() string {
	at := ""
	if m.Func != "" {
		at = " @" + m.Func
	}
	return fmt.Sprintf("%s, seed %d, size %d: %s%s: %s", m.Program.Category, m.Program.Seed, m.Program.Size, m.Stage, at, m.Detail)
}

// Kind is what the mismatch has in common with others of its cause, by guess.
func (m *Mismatch) Kind() string {
	first, _, _ := strings.Cut(m.Detail, "\n")
	stage, _, _ := strings.Cut(m.Stage, "{") // options of a pass
	return stage + ": " + kind(first)
}

func mismatch(p *Program, stage, fn, format string, args ...any) *Mismatch {
	return &Mismatch{p, stage, fn, fmt.Sprintf(format, args...)}
}

// Parse reads the program's text and verifies it: the generator writes only
// well-typed programs.
func Parse(p *Program) *Mismatch {
	const name = "fuzz.tnir"
	m, err := ir.Parse(name, p.Text)
	if err != nil {
		return mismatch(p, "parse", "", "%s", diag.Render(err, diag.Sources{name: p.Text}, false))
	}
	if err := ir.Verify(m); err != nil {
		return mismatch(p, "verify", "", "%s", diag.Render(err, diag.Sources{name: p.Text}, false))
	}
	p.Module = m
	return nil
}

// RoundTrip holds that printing is a fixed point and that what is printed is
// the same module; at names the level.
func RoundTrip(p *Program, m *ir.Module, at string) *Mismatch {
	for _, opts := range [][]ir.PrintOption{nil, {ir.WithLocations()}} {
		text := ir.Print(m, opts...)
		again, err := ir.Parse("printed.tnir", text)
		if err != nil {
			return mismatch(p, "text at "+at, "", "%s\n%s", diag.Render(err, diag.Sources{"printed.tnir": text}, false), text)
		}
		if !ir.Equal(m, again) {
			return mismatch(p, "text at "+at, "", "Parse(Print(m)) is not m:\n%s", text)
		}
		if second := ir.Print(again, opts...); second != text {
			return mismatch(p, "text at "+at, "", "printing is no fixed point:\n%s\nthen\n%s", text, second)
		}
		if err := ir.Verify(again); err != nil {
			return mismatch(p, "text at "+at, "", "what was printed does not verify: %v\n%s", err, text)
		}
		if copied := ir.Print(ir.Clone(m), opts...); copied != text {
			return mismatch(p, "clone at "+at, "", "a clone prints otherwise:\n%s\nthen\n%s", text, copied)
		}
	}
	return nil
}

// Outcome is a run of the interpreter: results, or the fault that the program
// or its data have.
type Outcome struct {
	Results []any
	Fault   *interp.Fault
}

// run runs a function; an error that is no fault of the program's is a
// mismatch, as is a crash.
func run(p *Program, m *ir.Module, fn string, args []any, o interp.Options) (out Outcome, bad *Mismatch) {
	defer func() {
		if r := recover(); r != nil {
			bad = mismatch(p, "interpreter", fn, "crashed: %v\n%s", r, trace())
		}
	}()
	o.MaxEvals = maxEvals
	results, err := interp.New(m, o).Run(fn, args)
	if err == nil {
		return Outcome{Results: results}, nil
	}
	if f, ok := err.(*interp.Fault); ok {
		return Outcome{Fault: f}, nil
	}
	return Outcome{}, mismatch(p, "interpreter", fn, "%v", err)
}

// maxEvals stops a program that computes too much; it is far above what a
// generated one does.
const maxEvals = 20_000_000

// interpret runs every function at all its sizes: twice, in different orders
// and with and without shadows, which must give the same bits. It gives the
// outcomes with shadows.
func (c *checker) interpret(p *Program) ([]Run, *Mismatch) {
	var runs []Run
	for _, info := range p.Funcs {
		f := ir.Lookup[*ir.Func](p.Module, info.Name)
		for _, sizes := range info.Sizes {
			for _, ranks := range info.ranks() {
				r := Run{Func: f, Info: info, Sizes: sizes, Ranks: ranks}
				if bad := c.once(p, &r); bad != nil {
					return nil, bad
				}
				if bad := sameOnRanks(p, runs, r); bad != nil {
					return nil, bad
				}
				runs = append(runs, r)
			}
		}
	}
	return runs, nil
}

// sameOnRanks holds a run on several ranks against the first one, on one.
func sameOnRanks(p *Program, before []Run, r Run) *Mismatch {
	for _, first := range before {
		if first.Func != r.Func || first.Ranks == r.Ranks || sizesText(first.Sizes) != sizesText(r.Sizes) {
			continue
		}
		if why := differ(first.Outcome, r.Outcome); why != "" {
			return mismatch(p, "interpreter", r.Func.Name, "on %d and %d ranks, at %s: %s", first.Ranks, r.Ranks, sizesText(r.Sizes), why)
		}
	}
	return nil
}

// Run is a function run by the interpreter.
type Run struct {
	Func  *ir.Func
	Info  *FuncInfo
	Sizes map[string]int64
	Ranks int
	Outcome
}

// Args draws the arguments for f, which is the function or what passes made of
// it, anew: a run may write into them. Parameters that passes added are out
// buffers; those are made by the run.
func (r Run) Args(p *Program, f *ir.Func) []any {
	args := Arguments(p, f, r.Info, r.Sizes)
	for i := len(r.Func.Params); i < len(args); i++ {
		args[i] = nil
	}
	return args
}

func (f *FuncInfo) ranks() []int {
	if len(f.Ranks) == 0 {
		return []int{1}
	}
	return f.Ranks
}

func (c *checker) once(p *Program, r *Run) *Mismatch {
	out, bad := run(p, p.Module, r.Func.Name, r.Args(p, r.Func), interp.Options{Shadow: true, Seed: 1, Ranks: r.Ranks})
	if bad != nil {
		return bad
	}
	r.Outcome = out
	plain, bad := run(p, p.Module, r.Func.Name, r.Args(p, r.Func), interp.Options{Seed: 2, Ranks: r.Ranks})
	if bad != nil {
		return bad
	}
	c.report.count(p, r)
	if why := differ(out, plain); why != "" {
		return mismatch(p, "interpreter, with and without shadows", r.Func.Name, "at %s: %s", sizesText(r.Sizes), why)
	}
	return nil
}

func sizesText(sizes map[string]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(sizes)) {
		parts = append(parts, fmt.Sprintf("%s=%d", k, sizes[k]))
	}
	return strings.Join(parts, " ")
}

// differ says how two runs differ in bits, "" if they do not. Two faults agree
// whatever their texts: a pass may move the op that a text names.
func differ(a, b Outcome) string {
	switch {
	case a.Fault != nil && b.Fault != nil:
		return ""
	case a.Fault != nil:
		return "stops: " + a.Fault.Error() + "; the other run does not"
	case b.Fault != nil:
		return "the other run stops: " + b.Fault.Error()
	case len(a.Results) != len(b.Results):
		return fmt.Sprintf("%d results, then %d", len(a.Results), len(b.Results))
	}
	for i := range a.Results {
		if why := differBits(a.Results[i], b.Results[i]); why != "" {
			return fmt.Sprintf("result %d: %s", i+1, why)
		}
	}
	return ""
}

func differBits(a, b any) string {
	switch x := a.(type) {
	case *ir.Array:
		y, ok := b.(*ir.Array)
		if !ok || x.Elem != y.Elem || !slices.Equal(x.Shape, y.Shape) {
			return fmt.Sprintf("%s%v is now %T", x.Elem, x.Shape, b)
		}
		cx, cy := cells(x), cells(y)
		for i := range cx {
			if !num.Same(x.Elem, cx[i], cy[i]) {
				return fmt.Sprintf("element %d of %s%v is %s, then %s", i, x.Elem, x.Shape,
					ir.FormatLiteral(x.Elem, cx[i]), ir.FormatLiteral(x.Elem, cy[i]))
			}
		}
	case interp.Scalar:
		y, ok := b.(interp.Scalar)
		if !ok || x.Elem != y.Elem || !num.Same(x.Elem, x.Cell, y.Cell) {
			return fmt.Sprintf("%v, then %v", a, b)
		}
	case *ir.PatternValue:
		y, ok := b.(*ir.PatternValue)
		if !ok || !slices.Equal(x.Ptr, y.Ptr) || !slices.Equal(x.Col, y.Col) {
			return "another pattern"
		}
	}
	return ""
}

// cells are the elements of a in C order.
func cells(a *ir.Array) []num.Cell {
	out := make([]num.Cell, 0, a.Size())
	idx := make([]int64, len(a.Shape))
	for range a.Size() {
		pos, _ := a.Cell(idx)
		out = append(out, a.Mem.Cells[pos])
		for d := len(idx) - 1; d >= 0; d-- {
			if idx[d]++; idx[d] < a.Shape[d] {
				break
			}
			idx[d] = 0
		}
	}
	return out
}
