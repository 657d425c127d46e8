package runtime

import (
	"fmt"

	"tenon/internal/diag"
)

// Status is tenon_error of the C interface: a code, and for most codes the
// number of the argument and of its dim.
type Status struct {
	Code     Code
	Arg, Dim int32
}

// Code says what a compiled function found wrong.
type Code int32

// The codes of the C interface.
const (
	OK        Code = iota
	Shape          // a size is not what the program asks for
	Null           // a null pointer
	Alias          // two arguments overlap and one of them is written
	Index          // a subscript that was read is out of range
	Memory         // no memory for temporaries
	Overflow       // a product of sizes overflows
	Align          // an array begins between two of its elements
	File           // a file of constants cannot be used
	Bounds         // sanitized code: an access leaves its array; Dim is the line
	Undefined      // sanitized code: an element is read that nothing wrote; Dim is the line
)

// codeTexts say what each code means of an argument, and what to do about it.
var codeTexts = [...]struct{ name, what, fix string }{
	OK:        {"ok", "", ""},
	Shape:     {"shape", "has a size that does not fit the others or a declared fact", "see the sizes that the function declares"},
	Null:      {"null", "is a null pointer", "pass memory of the full size"},
	Alias:     {"alias", "overlaps another argument that is written", "pass separate memory"},
	Index:     {"index", "holds or is read at a subscript out of range", "check the values that serve as subscripts"},
	Memory:    {"memory", "needs more memory for temporaries than there is", "use smaller sizes"},
	Overflow:  {"overflow", "has sizes whose product overflows", "use smaller sizes"},
	Align:     {"align", "does not begin at a multiple of its element's size", "pass memory that is aligned as its elements are"},
	Bounds:    {"bounds", "is accessed outside of its elements", "check the subscripts; tenon run --interp shows the values"},
	Undefined: {"undefined", "is read where nothing has been written", "write the element first"},
	File:      {"file", "has no file of its type and rank in the folder", "save it with numpy.save, in C order"},
}

func (c Code) String() string {
	if c < 0 || int(c) >= len(codeTexts) {
		return fmt.Sprintf("code %d", int32(c))
	}
	return codeTexts[c].name
}

// Err is nil for OK, else the user's error. names are those of the arguments.
func (s Status) Err(function string, names []string) error {
	if s.Code == OK {
		return nil
	}
	if s.Code < 0 || int(s.Code) >= len(codeTexts) {
		return &diag.Bug{Msg: fmt.Sprintf("%s returned the unknown code %d", function, int32(s.Code)), Func: function}
	}
	who, pos := function, diag.Pos{}
	if s.Code == Bounds || s.Code == Undefined {
		who, pos.Line, pos.Col = "a temporary array of "+function, int(s.Dim), 1
	}
	if s.Arg >= 0 && int(s.Arg) < len(names) {
		who = fmt.Sprintf("argument %s of %s", names[s.Arg], function)
	}
	if s.Dim >= 0 && s.Code == Shape {
		who += fmt.Sprintf(", dim %d,", s.Dim)
	}
	text := codeTexts[s.Code]
	return diag.Errorf(pos, "%s %s", who, text.what).WithFix("%s", text.fix)
}
