package driver

import (
	"fmt"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// Call is a function with the arguments of one run.
type Call struct {
	Module *ir.Module
	Func   *ir.Func
	Args   []Arg            // one a parameter
	Sizes  map[string]int64 // of the dims, nnz#p among them

	extents []extent
}

// Arg is an argument: one of the fields, by the parameter's type. Array is nil
// for an out buffer until its size is known.
type Arg struct {
	Array   *weights.Array
	Cell    num.Cell
	Pattern *sparse
	Parts   []*weights.Array // of an encoded tensor
}

// Bind loads the values of inputs, each NAME=VALUE, and gives them to f's
// parameters. What is missing, unknown or given twice is one usage error that
// lists what f takes.
func Bind(m *ir.Module, f *ir.Func, inputs []string) (*Call, error) {
	g, err := parseInputs(inputs)
	if err != nil {
		return nil, err
	}
	takers := takersOf(f)
	if err := g.check(f, takers); err != nil {
		return nil, err
	}
	c := &Call{Module: m, Func: f, Args: make([]Arg, len(f.Params)), Sizes: map[string]int64{}}
	var errs diag.List
	for _, t := range takers {
		if err := t.load(c, g); err != nil {
			e, ok := err.(*diag.Error)
			if !ok {
				return nil, err
			}
			errs = append(errs, e)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return c, c.bindSizes(g)
}

// given is what the command line gives, by name.
type given struct {
	names  []string
	values map[string]weights.Value
}

func parseInputs(inputs []string) (*given, error) {
	g := &given{values: map[string]weights.Value{}}
	for _, in := range inputs {
		name, text, err := weights.SplitBinding(in)
		if err != nil {
			return nil, err
		}
		if _, twice := g.values[name]; twice {
			return nil, diag.Usagef("--in %s is given twice", name)
		}
		v, err := weights.ParseValue(text)
		if err != nil {
			return nil, diag.Usagef("--in %s: %v", name, err)
		}
		g.names = append(g.names, name)
		g.values[name] = v
	}
	return g, nil
}

func (g *given) has(name string) bool { _, ok := g.values[name]; return ok }

// check compares the names given with those that the parameters take.
func (g *given) check(f *ir.Func, takers []taker) error {
	known := map[string]bool{}
	var names []string
	know := func(list []string) {
		for _, n := range list {
			known[n] = true
			names = append(names, n)
		}
	}
	var faults []string
	for _, t := range takers {
		know(t.names())
	}
	know(f.Dims)
	for _, n := range g.names {
		if !known[n] {
			faults = append(faults, unknownInput(f, n, names))
		}
	}
	for _, t := range takers {
		if miss := t.missing(g); miss != "" {
			faults = append(faults, miss)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return diag.Usagef("%s\n%s", strings.Join(faults, "\n"), describe(f, takers))
}

func unknownInput(f *ir.Func, name string, names []string) string {
	for _, p := range f.Params {
		if p.Mode == ir.ModeOut && p.Value.Name == name {
			return fmt.Sprintf("%s of %s is written, not read: name its file with --out %s=FILE", name, f.Name, name)
		}
	}
	return fmt.Sprintf("%s has no input %s%s", f.Name, name, didYouMean(name, names))
}

// describe lists what f takes, and its dims.
func describe(f *ir.Func, takers []taker) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s takes:", f.Name)
	for _, t := range takers {
		b.WriteString("\n  " + t.describe())
	}
	if len(takers) == 0 {
		b.WriteString(" nothing")
	}
	if len(f.Dims) > 0 {
		fmt.Fprintf(&b, "\nSizes (%s) follow from the arrays, or are given as --in %s=...", strings.Join(f.Dims, ", "), f.Dims[0])
	}
	return b.String()
}
