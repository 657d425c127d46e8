package ir

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir/sym"
)

// Builder appends ops to a region. Names are the caller's; Fresh makes unused
// ones. It raises a Bug where an op's row refuses what it is given: builders
// are called by passes and front ends, which check the user's faults first.
type Builder struct {
	Region *Region
	Loc    Loc
	names  map[string]int
}

// NewBuilder builds into r.
func NewBuilder(r *Region) *Builder { return &Builder{Region: r, names: map[string]int{}} }

// In is a builder for a nested region that shares b's names and location.
func (b *Builder) In(r *Region) *Builder { return &Builder{Region: r, Loc: b.Loc, names: b.names} }

// Reserve marks names as taken.
func (b *Builder) Reserve(names ...string) {
	for _, n := range names {
		if b.names[n] == 0 {
			b.names[n] = 1
		}
	}
}

// Fresh is a name starting with base that this builder has not given out and
// that was not reserved: base itself, else base_2, base_3, ...
func (b *Builder) Fresh(base string) string {
	for {
		b.names[base]++
		n := b.names[base]
		if n == 1 {
			return base
		}
		name := fmt.Sprintf("%s_%d", base, n)
		if b.names[name] == 0 {
			b.names[name] = 1
			return name
		}
	}
}

// Add appends op, gives it results of the inferred types with the given names
// (fresh ones where missing), and returns op. declared are the types for ops
// whose types are written out; nil for inferred ones.
func (b *Builder) Add(op *Op, declared []Type, names ...string) *Op {
	if !op.Loc.IsKnown() {
		op.Loc = b.Loc
	}
	if err := Finish(op, declared, b.resultNames(op, names)); err != nil {
		diag.Bugf("building %s: %v", op.Def.Name, err)
	}
	b.Region.Ops = append(b.Region.Ops, op)
	return op
}

func (b *Builder) resultNames(op *Op, names []string) func(i int) string {
	return func(i int) string {
		if i < len(names) && names[i] != "" {
			return names[i]
		}
		return b.Fresh("v")
	}
}

// Finish infers the result types of a complete op and makes its results.
func Finish(op *Op, declared []Type, name func(i int) string) error {
	if op.Def.Infer == nil {
		if len(declared) > 0 {
			return fmt.Errorf("%s has no results", op.Def.Name)
		}
		return nil
	}
	types, err := op.Def.Infer(op, declared)
	if err != nil {
		return err
	}
	op.Results = nil
	for i, t := range types {
		op.Results = append(op.Results, &Value{Name: name(i), Type: t, Def: op})
	}
	return nil
}

// Scalar appends a scalar op such as add or select and returns its result.
func (b *Builder) Scalar(name string, args ...*Value) *Value {
	ops := &Operands{}
	for _, a := range args {
		ops.Args = append(ops.Args, ValueArg(a))
	}
	return b.Add(NewOp(name, b.Loc, ops), nil).Results[0]
}

// Cast appends a conversion of v to e, or returns v if it has that type.
func (b *Builder) Cast(v *Value, e num.Elem) *Value {
	if ElemOf(v.Type) == e {
		return v
	}
	return b.Add(NewOp("cast", b.Loc, &Operands{Args: []Arg{ValueArg(v)}}), []Type{Scalar{e}}).Results[0]
}

// Const appends a constant.
func (b *Builder) Const(e num.Elem, c num.Cell) *Value {
	return b.Add(NewOp("const", b.Loc, &Literal{Elem: e, Cell: c}), []Type{Scalar{e}}).Results[0]
}

// Idx appends the value of an index expression as a scalar of type e.
func (b *Builder) Idx(x sym.Expr, e num.Elem) *Value {
	return b.Add(NewOp("idx", b.Loc, &Operands{Args: []Arg{ExprArg(x)}}), []Type{Scalar{e}}).Results[0]
}

// Yield and Return append terminators.
func (b *Builder) Yield(vs ...*Value) *Op  { return b.terminator("yield", vs) }
func (b *Builder) Return(vs ...*Value) *Op { return b.terminator("return", vs) }

func (b *Builder) terminator(name string, vs []*Value) *Op {
	ops := &Operands{}
	for _, v := range vs {
		ops.Args = append(ops.Args, ValueArg(v))
	}
	return b.Add(NewOp(name, b.Loc, ops), nil)
}
