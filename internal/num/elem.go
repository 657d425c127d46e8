package num

// Elem is an element type.
type Elem uint8

// The element types, in the order of the language reference. Index is the type
// of sizes and subscripts: a signed 64-bit integer.
const (
	Invalid Elem = iota
	F64
	F32
	F16
	BF16
	I64
	I32
	I16
	I8
	U8
	Bool
	Index
)

type elemInfo struct {
	name  string
	bytes int
	bits  int // significant: 53, 24, 11, 8 for floats, the width for integers
	float bool
	sign  bool
}

var elems = [...]elemInfo{
	Invalid: {"invalid", 0, 0, false, false},
	F64:     {"f64", 8, 53, true, true},
	F32:     {"f32", 4, 24, true, true},
	F16:     {"f16", 2, 11, true, true},
	BF16:    {"bf16", 2, 8, true, true},
	I64:     {"i64", 8, 64, false, true},
	I32:     {"i32", 4, 32, false, true},
	I16:     {"i16", 2, 16, false, true},
	I8:      {"i8", 1, 8, false, true},
	U8:      {"u8", 1, 8, false, false},
	Bool:    {"bool", 1, 1, false, false},
	Index:   {"index", 8, 64, false, true},
}

// Elems lists every element type.
var Elems = []Elem{F64, F32, F16, BF16, I64, I32, I16, I8, U8, Bool, Index}

// ElemByName returns the element type spelled s, or Invalid.
func ElemByName(s string) Elem {
	for _, e := range Elems {
		if elems[e].name == s {
			return e
		}
	}
	return Invalid
}

func (e Elem) String() string { return elems[e].name }

// Bytes is the size of an element in memory (bool is one byte).
func (e Elem) Bytes() int { return elems[e].bytes }

// Bits is the precision of a float in bits, hidden one included, or the width
// of an integer.
func (e Elem) Bits() int { return elems[e].bits }

// IsFloat reports f64, f32, f16 and bf16.
func (e Elem) IsFloat() bool { return elems[e].float }

// IsInt reports the integer types and index; bool is neither.
func (e Elem) IsInt() bool { return e >= I64 && e <= U8 || e == Index }

// IsSigned reports floats, signed integers and index.
func (e Elem) IsSigned() bool { return elems[e].sign }
