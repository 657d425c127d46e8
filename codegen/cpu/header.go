package cpu

import (
	"fmt"
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

const preamble = `/* Written by Tenon: the C interface of %s. */
#ifndef %s
#define %s

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TENON_TYPES
#define TENON_TYPES
/* data points to the element whose subscripts are all 0; strides count
   elements, and NULL means C order. The caller allocates outputs and fills in
   their shape. */
typedef struct { void *data; const int64_t *shape, *strides; } tenon_tensor;
/* What was wrong: a code, the number of the argument and of its dim (-1: none). */
typedef struct { int32_t code, arg, dim; } tenon_error;
enum { TENON_OK, TENON_SHAPE, TENON_NULL, TENON_ALIAS, TENON_INDEX, TENON_MEMORY, TENON_OVERFLOW };
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
	fmt.Fprintf(b, "\nstruct %s_args {\n", f.Name)
	for _, x := range fields {
		typ, note := cTypes[x.Elem], ""
		if x.Tensor {
			dims, _ := ir.DimsOf(x.Param.Value.Type)
			typ, note = "tenon_tensor", fmt.Sprintf(" /* %s %s[%s] */", x.Param.Mode, x.Elem, joinExprs(dims))
		} else if x.Elem == num.F16 || x.Elem == num.BF16 {
			note = fmt.Sprintf(" /* the bits of a %s */", x.Elem)
		}
		fmt.Fprintf(b, "  %s %s;%s\n", typ, fieldName(x.Name), note)
	}
	if len(fields) == 0 {
		b.WriteString("  char unused;\n")
	}
	b.WriteString("};\n")
	for _, w := range f.Where {
		fmt.Fprintf(b, "/* needs %s */\n", w.Cond)
	}
	fmt.Fprintf(b, "int %s(const struct %s_args *args, tenon_error *error);\n", f.Name, f.Name)
	return nil
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
