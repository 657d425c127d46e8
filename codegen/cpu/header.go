package cpu

import (
	"fmt"
	"path/filepath"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// cTypes are the C types of scalars; f16 and bf16 travel as their bits.
var cTypes = map[num.Elem]string{
	num.F64: "double", num.F32: "float", num.F16: "uint16_t", num.BF16: "uint16_t", num.I64: "int64_t", num.I32: "int32_t",
	num.I16: "int16_t", num.I8: "int8_t", num.U8: "uint8_t", num.Bool: "bool", num.Index: "int64_t",
}

const preamble = `/* Written by Tenon: the C interface of %s.

   Each function NAME takes one struct with its arguments: the parameters in
   order, tensors as tenon_tensor and scalars by value, then the results.
   NAME(&args, &error) is a whole call. The full form binds constants once, and
   says what a call needs before it is made:

     NAME_open(folder, &state, &error)             constants, from files, and
                                                   what follows from them alone
     NAME_plan(state, &args, threads, &plan, &error)      sizes, memory
     NAME_run(state, &args, &plan, workspace, &error)     the call
     NAME_close(state)

   All return a code, TENON_OK if it is done, and say in *error which argument
   was at fault; error may be NULL. There is no other state: functions may run
   at the same time, on different results. */
#ifndef %s
#define %s

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TENON_TYPES
#define TENON_TYPES

/* An array. data points to the element whose subscripts are all 0, at a multiple
   of the size of an element; it may be NULL if there are no elements. shape has
   one size a dim. strides count elements and may be negative; NULL is C order,
   the last dim innermost. Other strides cost a copy and change no result. At
   rank 0 there is one element, and shape and strides may be NULL. The caller
   allocates outputs and fills in their shape; they are written completely, but
   for a dim whose size is an upper bound (see the plan), and hold nothing of use
   after an error. An output may be the very array of an input: one type of
   elements, data, shape and strides. The input is then donated, and lost after an
   error too; the result is that of two arrays. Where the comment of a function does
   not say "in place" the library copies the input first. An output that shares
   memory with another argument in any other way is refused. */
typedef struct {
  void *data;
  const int64_t *shape, *strides;
} tenon_tensor;

/* What was wrong: a code, the number of the argument, and that of its dim,
   either -1 where there is none. */
typedef struct {
  int32_t code, arg, dim;
} tenon_error;

enum {
  TENON_OK,       /* done */
  TENON_SHAPE,    /* a size is negative or not what the function asks for, or
                     the plan is that of smaller arguments */
  TENON_NULL,     /* args, the plan, a shape, or the data of an array with
                     elements is NULL */
  TENON_ALIAS,    /* arg shares memory with another argument, one is written, and
                     they are not an input and an output that is the same array */
  TENON_INDEX,    /* a subscript found while running lies outside dim of arg */
  TENON_MEMORY,   /* there is no memory for temporaries, or for what
                     NAME_open prepares */
  TENON_OVERFLOW, /* a product of sizes exceeds 64 bits */
  TENON_ALIGN,    /* arg does not begin at a multiple of its element's size */
  TENON_FILE,     /* NAME_open: the file of arg is missing, or is no array of its
                     type and rank in C order */
  TENON_BOUNDS,   /* built with --sanitize: an access leaves arg (-1: a temporary
                     array); dim is the line of the source */
  TENON_UNDEFINED /* built with --sanitize: an element of arg is read that nothing
                     has written; dim is the line of the source */
};

/* Constants that NAME_open has bound, and what it has prepared from them. */
typedef struct tenon_state tenon_state;

/* Threads of the caller's: parallel_for(pool, parts, task, context) must call
   task(context, part) once for each part from 0 below parts, in any order, on
   any threads, and return when all calls have. */
typedef void (*tenon_task)(void *context, int64_t part);
typedef void (*tenon_parallel_for)(void *pool, int64_t parts, tenon_task task, void *context);

#endif

/* A plan begins with

     int64_t workspace          bytes of the memory that NAME_run may be given,
                                at any address; NULL: it allocates them itself.
                                The size depends on sizes of arguments alone
     parallel_for, pool         NULL from NAME_plan; set parallel_for before the
                                run to use threads of your own
     int32_t threads            at most so many; 0: as OpenMP would choose

   and has for each output of rank 1 and more its shape, with a bit set in
   NAME_bounded for each dim of which the size is an upper bound: the size that was
   found is then an output of its own, named as the dim is. A plan holds
   for all arguments of the same sizes; it is never written by NAME_run, so that
   several runs may use it at the same time. */
`

const closing = `
#ifdef __cplusplus
}
#endif

#endif
`

// Header is the C header of a module's procs. name is that of the source, used
// in a comment and the include guard.
func Header(m *ir.Module, name string) (string, error) {
	guard := "TENON_" + strings.Map(guardRune, strings.ToUpper(name)) + "_H"
	var b strings.Builder
	fmt.Fprintf(&b, preamble, name, guard, guard)
	faults, bodies := twice(m), m.Bodies()
	for _, f := range m.Funcs() {
		if bodies[f.Name] {
			continue
		}
		if err := writePrototype(&b, f); err != nil {
			faults = append(faults, err)
		}
	}
	b.WriteString(closing)
	return b.String(), faults.Err()
}

func guardRune(r rune) rune {
	if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '_'
}

func writePrototype(b *strings.Builder, f *ir.Func) *diag.Error {
	fields, err := exported(f)
	if err != nil {
		return err
	}
	if err := describe(b, f, fields); err != nil {
		return err
	}
	fmt.Fprintf(b, "struct %s_args {\n", f.Name)
	for _, x := range fields {
		typ := cTypes[x.Elem]
		if x.Tensor {
			typ = "tenon_tensor"
		}
		fmt.Fprintf(b, "  %s %s;\n", typ, fieldName(x.Name))
	}
	if len(fields) == 0 {
		b.WriteString("  char unused;\n")
	}
	fmt.Fprintf(b, "};\nstruct %s_plan {\n  int64_t workspace;\n  tenon_parallel_for parallel_for;\n  void *pool;\n  int32_t threads, unused;\n", f.Name)
	for _, x := range planned(fields) {
		fmt.Fprintf(b, "  int64_t %s_shape[%d], %s_bounded;\n", x.Name, x.Rank, x.Name)
	}
	b.WriteString("};\n")
	fmt.Fprint(b, strings.ReplaceAll(prototypes, "NAME", f.Name))
	return nil
}

const prototypes = `int NAME(const struct NAME_args *args, tenon_error *error);
int NAME_open(const char *folder, tenon_state **state, tenon_error *error);
int NAME_plan(const tenon_state *state, const struct NAME_args *args, int32_t threads, struct NAME_plan *plan, tenon_error *error);
int NAME_run(const tenon_state *state, const struct NAME_args *args, const struct NAME_plan *plan, void *workspace, tenon_error *error);
void NAME_close(tenon_state *state);
`

// describe writes the comment of a function: its arguments, where its sizes come
// from, and what it checks.
func describe(b *strings.Builder, f *ir.Func, fields []Field) *diag.Error {
	plan, err := ir.Entry(f)
	if err != nil {
		return failure(err)[0]
	}
	fmt.Fprintf(b, "\n/* %s%s\n", f.Name, origin(f))
	for i, x := range fields {
		fmt.Fprintf(b, "     %d %-10s %s\n", i, fieldName(x.Name), x.doc())
	}
	for _, c := range ir.Bounds(f) {
		name := fieldName(f.Params[c.Param].Value.Name)
		fmt.Fprintf(b, "   of dim %d of %s the first %s are written\n", c.Dim, name, c.Size)
	}
	if planned := ir.PlannedDims(f); len(planned) > 0 {
		fmt.Fprintf(b, "   %s: found from what arguments hold; %s_plan gives the shapes\n", strings.Join(planned, ", "), f.Name)
	}
	for _, x := range fields {
		if x.Param.Const {
			fmt.Fprintf(b, "   %s_open reads %s from folder/%s.npy, %s of rank %d\n", f.Name, fieldName(x.Name), x.Name, descr(x.Elem)[:3], x.Rank)
		}
	}
	describePrepared(b, f, fields)
	describeDonations(b, f, fields)
	shapes := newShapeNames(fields, plan)
	for i, d := range plan.Bindings {
		fmt.Fprintf(b, "   %-6s %s = %s\n", [...]string{"sizes:", ""}[min(i, 1)], d.Dim, shapes.Replace(d.Value.String()))
	}
	for i, c := range plan.Checks {
		where := ""
		if c.Source >= 0 {
			where = fmt.Sprintf(" (arg %d, dim %d)", c.Param, c.Dim)
		}
		fmt.Fprintf(b, "   %s %s%s\n", [...]string{"TENON_SHAPE unless", "            unless"}[min(i, 1)], shapes.Replace(c.Cond.String()), where)
	}
	b.WriteString("*/\n")
	return nil
}

// describePrepared says what is computed when the function is opened.
func describePrepared(b *strings.Builder, f *ir.Func, fields []Field) {
	if !keepsPrepared(f, fields) {
		return
	}
	var names []string
	bytes := sym.Const(0)
	for _, slot := range preparedOf(f) {
		v := slot[0].Results[0]
		names = append(names, v.Name)
		bytes = sym.Add(bytes, bytesOf(v.Type.(ir.Buf)))
	}
	fmt.Fprintf(b, "   %s_open prepares %s, which the state keeps: %s bytes, rounded\n"+
		"   up to cache lines; without a state every call does it, in its workspace\n", f.Name, strings.Join(names, " and "), bytes)
}

// describeDonations says for each output which inputs it can be, and what that
// costs.
func describeDonations(b *strings.Builder, f *ir.Func, fields []Field) {
	inPlace := map[[2]int]bool{}
	for _, p := range ir.InPlace(f) {
		inPlace[p] = true
	}
	for i, x := range fields {
		if !x.Tensor || x.Param.Mode != ir.ModeIn {
			continue
		}
		for j, y := range fields {
			if !y.Tensor || y.Param.Mode != ir.ModeOut || !ir.SameType(x.Param.Value.Type, y.Param.Value.Type) {
				continue
			}
			how := "by way of a copy"
			if inPlace[[2]int{i, j}] {
				how = "in place"
			}
			fmt.Fprintf(b, "   %s may be %s: %s\n", fieldName(y.Name), fieldName(x.Name), how)
		}
	}
}

func origin(f *ir.Func) string {
	if p := f.Loc.First(); p.IsValid() {
		return fmt.Sprintf(", line %d of %s", p.Line, filepath.Base(p.File))
	}
	return ""
}

// doc is the kind and type of an argument.
func (x Field) doc() string {
	dims, _ := ir.DimsOf(x.Param.Value.Type)
	switch {
	case x.Tensor:
		text := fmt.Sprintf("%s %s[%s]", x.Param.Mode, x.Elem, joinExprs(dims))
		if x.Elem == num.F16 || x.Elem == num.BF16 {
			text += ", as bits"
		}
		return text
	case x.Elem == num.F16 || x.Elem == num.BF16:
		return fmt.Sprintf("%s, its bits", x.Elem)
	}
	return x.Elem.String()
}

// newShapeNames replaces the plan's names of extents by those that C has.
func newShapeNames(fields []Field, plan *ir.EntryPlan) *strings.Replacer {
	var pairs []string
	for _, s := range plan.Sources {
		pairs = append(pairs, s.Name, fmt.Sprintf("%s.shape[%d]", fieldName(fields[s.Param].Name), s.Dim))
	}
	return strings.NewReplacer(pairs...)
}

func joinExprs[E fmt.Stringer](es []E) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

// exported is the signature of a proc that C may call by its names.
func exported(f *ir.Func) ([]Field, *diag.Error) {
	for _, n := range exportsOf(f.Name) {
		if reserved(n) {
			return nil, diag.Errorf(f.Loc.First(), "%s is a name of C or its library, so no function can be exported under it", n).WithFix("rename the function")
		}
	}
	fields, err := Signature(f)
	if err != nil {
		return nil, err.(*diag.Error)
	}
	return fields, nil
}

// twice refuses functions whose exported names meet, such as f_run beside f.
func twice(m *ir.Module) (faults diag.List) {
	owner := map[string]string{}
	for _, f := range m.Funcs() {
		owner[f.Name] = f.Name
	}
	for _, f := range m.Funcs() {
		for _, n := range exportsOf(f.Name)[1:] {
			if g := owner[n]; g != "" {
				faults = append(faults, diag.Errorf(f.Loc.First(), "%s and %s would both export %s", f.Name, g, n).WithFix("rename one of the functions"))
			}
		}
	}
	return faults
}

// fieldName is a parameter's name in C: a keyword gets a trailing underscore.
func fieldName(name string) string {
	if keywords[name] {
		return name + "_"
	}
	return name
}
