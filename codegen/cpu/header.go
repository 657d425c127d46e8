package cpu

import (
	"fmt"
	"path/filepath"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// cTypes are the C types of scalars; f16 and bf16 travel as their bits.
var cTypes = map[num.Elem]string{
	num.F64: "double", num.F32: "float", num.F16: "uint16_t", num.BF16: "uint16_t", num.I64: "int64_t", num.I32: "int32_t",
	num.I16: "int16_t", num.I8: "int8_t", num.U8: "uint8_t", num.Bool: "bool", num.Index: "int64_t",
}

const preamble = `/* Written by Tenon: the C interface of %s.

   Each function takes one struct with its arguments: the parameters in order,
   tensors as tenon_tensor and scalars by value, then the results. It returns a
   code, TENON_OK if it is done, and says in *error which argument was at fault;
   error may be NULL. Functions keep no state: they may run at the same time,
   on different results. */
#ifndef %s
#define %s

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TENON_TYPES
#define TENON_TYPES

/* An array. data points to the element whose subscripts are all 0, aligned as
   an element is; it may be NULL if there are no elements. shape has one size a
   dim. strides count elements and may be negative; NULL is C order, the last
   dim innermost. Other strides cost a copy and change no result. At rank 0
   there is one element, and shape and strides may be NULL. The caller allocates
   outputs and fills in their shape; they are written completely, and hold
   nothing of use after an error. */
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
  TENON_OK,      /* done */
  TENON_SHAPE,   /* a size is negative or not what the function asks for */
  TENON_NULL,    /* args, a shape, or the data of an array with elements is NULL */
  TENON_ALIAS,   /* arg shares memory with another argument, and one is written */
  TENON_INDEX,   /* a subscript found while running lies outside dim of arg */
  TENON_MEMORY,  /* there is no memory for temporaries */
  TENON_OVERFLOW /* a product of sizes exceeds 64 bits */
};

#endif
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
	var faults diag.List
	for _, f := range m.Funcs() {
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
	fmt.Fprintf(b, "};\nint %s(const struct %s_args *args, tenon_error *error);\n", f.Name, f.Name)
	return nil
}

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

// exported is the signature of a proc that C may call by its name.
func exported(f *ir.Func) ([]Field, *diag.Error) {
	if reserved(f.Name) {
		return nil, diag.Errorf(f.Loc.First(), "%s is a name of C or its library, so no function can be exported under it", f.Name).WithFix("rename the function")
	}
	fields, err := Signature(f)
	if err != nil {
		return nil, err.(*diag.Error)
	}
	return fields, nil
}

// fieldName is a parameter's name in C: a keyword gets a trailing underscore.
func fieldName(name string) string {
	if keywords[name] {
		return name + "_"
	}
	return name
}
