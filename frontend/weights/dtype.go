package weights

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// A dtype is an element type as a file stores it. elem is num.Invalid for the
// types that a program cannot hold; the unsigned ones among those can still be
// read through a cast.
type dtype struct {
	name     string // as NumPy or safetensors spells it
	elem     num.Elem
	size     int64 // bytes, 0 if unknown
	unsigned bool  // u16, u32, u64
	big      bool  // big-endian
	why      string
}

// npyKinds holds the npy type codes after the byte-order character.
var npyKinds = map[string]dtype{
	"b1": {name: "bool", elem: num.Bool, size: 1},
	"u1": {name: "uint8", elem: num.U8, size: 1},
	"i1": {name: "int8", elem: num.I8, size: 1},
	"i2": {name: "int16", elem: num.I16, size: 2},
	"i4": {name: "int32", elem: num.I32, size: 4},
	"i8": {name: "int64", elem: num.I64, size: 8},
	"f2": {name: "float16", elem: num.F16, size: 2},
	"f4": {name: "float32", elem: num.F32, size: 4},
	"f8": {name: "float64", elem: num.F64, size: 8},
	"u2": {name: "uint16", size: 2, unsigned: true},
	"u4": {name: "uint32", size: 4, unsigned: true},
	"u8": {name: "uint64", size: 8, unsigned: true},
}

// npyRefused explains the kinds that cannot be read, by their first letter.
var npyRefused = map[byte]string{
	'O': "Python objects, which would have to be unpickled",
	'c': "complex numbers",
	'f': "an extended float",
	'V': "raw bytes (NumPy saves bfloat16 so)",
	'S': "byte strings",
	'a': "byte strings",
	'U': "strings",
	'M': "dates",
	'm': "time spans",
}

// npyDtype looks up a descr string such as "<f4".
func npyDtype(descr string) dtype {
	order, code := byte('|'), descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		order, code = descr[0], descr[1:]
	}
	d, ok := npyKinds[code]
	switch {
	case ok:
		d.big = order == '>' && d.size > 1
	case code == "":
		d = dtype{name: descr, why: "no type at all"}
	default:
		why := npyRefused[code[0]]
		if why == "" {
			why = "an unknown type"
		}
		d = dtype{name: descr[:min(len(descr), 16)], why: why}
		if n, err := strconv.ParseUint(code[1:], 10, 31); err == nil && code[0] == 'S' {
			d.size = int64(n) // csr files name their format in such a member
		}
	}
	return d
}

// stKinds holds the safetensors types. Those without an elem are known by
// size, so that the offsets of the tensors around them can be checked.
var stKinds = map[string]dtype{
	"BOOL": {elem: num.Bool, size: 1},
	"U8":   {elem: num.U8, size: 1},
	"I8":   {elem: num.I8, size: 1},
	"I16":  {elem: num.I16, size: 2},
	"I32":  {elem: num.I32, size: 4},
	"I64":  {elem: num.I64, size: 8},
	"F16":  {elem: num.F16, size: 2},
	"BF16": {elem: num.BF16, size: 2},
	"F32":  {elem: num.F32, size: 4},
	"F64":  {elem: num.F64, size: 8},
	"U16":  {size: 2, unsigned: true},
	"U32":  {size: 4, unsigned: true},
	"U64":  {size: 8, unsigned: true},
	"C64":  {size: 8, why: "complex numbers"},

	"F8_E4M3":   {size: 1, why: "8-bit floats"},
	"F8_E5M2":   {size: 1, why: "8-bit floats"},
	"F8_E8M0":   {size: 1, why: "8-bit scales"},
	"F4":        {why: "4-bit floats"},
	"F6_E2M3":   {why: "6-bit floats"},
	"F6_E3M2":   {why: "6-bit floats"},
	"F8_E4M3FN": {size: 1, why: "8-bit floats"},
}

func stDtype(name string) dtype {
	d, ok := stKinds[name]
	if !ok {
		d.why = "an unknown type"
	}
	d.name = name
	return d
}

// castHint is the cast to the wanted type, or without one to a type that holds
// every value (for u64, that of nearly every value in practice).
func (d dtype) castHint(want num.Elem) string {
	if want != num.Invalid {
		return " as " + want.String()
	}
	if d.size == 2 {
		return " as i32"
	}
	return " as i64"
}

// readable says why a member of type d cannot be read, or nil. cast is the
// element type asked for with `as` and want the parameter's, or num.Invalid.
func (d dtype) readable(what string, pos diag.Pos, cast, want num.Elem) error {
	switch {
	case d.elem != num.Invalid, d.unsigned && cast != num.Invalid:
		return nil
	case d.unsigned:
		return diag.Errorf(pos, "%sdtype %s has no counterpart in a program", what, d.name).
			WithFix("add `%s`", d.castHint(want))
	}
	return diag.Errorf(pos, "%sdtype %s is not read: %s", what, quoteShort(d.name), d.why).
		WithExpected("bool, u8, i8 to i64, f16, f32 or f64 (safetensors also bf16)").
		WithFix("save it as one of those, for example with .astype(numpy.float32)")
}

// quoteShort quotes text that comes from a file; long text is cut so that a
// hostile header cannot flood the terminal.
func quoteShort(s string) string {
	const limit = 60
	if len(s) > limit {
		return fmt.Sprintf("%q...", s[:limit])
	}
	return fmt.Sprintf("%q", s)
}
