package weights

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// A Want is what a parameter needs from the value that feeds it.
type Want struct {
	Name string   // of the parameter, for messages and for rand's seed
	Elem num.Elem // num.Invalid takes any type
	Rank int      // negative takes any rank
}

// Any takes a value as it comes.
var Any = Want{Rank: -1}

func (w Want) prefix() string {
	if w.Name == "" {
		return ""
	}
	return "input " + w.Name + ": "
}

// elemFor is the type that a number or a generated array takes.
func (v Value) elemFor(want Want) num.Elem {
	if v.As != num.Invalid {
		return v.As
	}
	return want.Elem
}

// Load evaluates the value for a parameter. A type or rank other than wanted
// is an error that says what to add. A mapped file stays mapped as long as the
// process lives, because the array points into it.
func (v Value) Load(want Want) (*Array, error) {
	a, err := v.read(want)
	if err != nil {
		return nil, err
	}
	if want.Elem != num.Invalid && a.Elem != want.Elem {
		if !sameBits(a.Elem, want.Elem) {
			return nil, v.mismatch(want, a.Elem)
		}
		relabelled := *a
		relabelled.Elem = want.Elem
		a = &relabelled
	}
	if want.Rank >= 0 && a.Rank() != want.Rank {
		return nil, v.fault(want, "%s has rank %d (shape %s)", v.Text, a.Rank(), shapeString(a.Shape)).
			WithExpected("rank %d", want.Rank).WithFix("%s", v.rankHint(a.Rank(), want.Rank))
	}
	return a, nil
}

// rankHint says how to give an array of rank want.
func (v Value) rankHint(have, want int) string {
	switch {
	case v.Number != "" || v.Gen != "" && have < want:
		return "write all its sizes, as in zeros(2,3), or name a file"
	case have > want:
		return "take a part of it with an index, such as FILE[0]"
	case strings.Contains(v.Text, "["):
		return "a slice keeps a dim that an index drops: [0:1] in place of [0]; else reshape the array before it is saved"
	}
	return "reshape the array before it is saved"
}

func (v Value) mismatch(want Want, have num.Elem) error {
	e := v.fault(want, "%s is %s", v.Text, have).WithExpected("%s", want.Elem)
	if v.As != num.Invalid {
		return e.WithFix("write ` as %s`", want.Elem)
	}
	return e.WithFix("add ` as %s`", want.Elem)
}

func (v Value) read(want Want) (*Array, error) {
	switch {
	case v.Number != "":
		return v.literal(want)
	case v.Gen != "":
		a, err := v.generate(want)
		if err == nil && len(v.Slice.items) > 0 {
			a, err = a.Sub(v.Slice)
		}
		if err == nil {
			a.Source = v.Text
		}
		return a, err
	}
	f, err := Open(v.File)
	if err != nil {
		return nil, named(err, want)
	}
	a, err := f.get(v.Member, v.Slice, v.As, want.Elem)
	if err != nil || !a.mapped {
		f.Close()
	}
	return a, named(err, want)
}

// named puts the parameter's name into an error about its file.
func named(err error, want Want) error {
	var e *diag.Error
	if want.Name != "" && errors.As(err, &e) {
		e.Msg = want.prefix() + e.Msg
	}
	return err
}

// literal gives a number as an array of rank 0.
func (v Value) literal(want Want) (*Array, error) {
	elem := v.elemFor(want)
	if elem == num.Invalid {
		elem = literalElem(v.Number)
	}
	cell, err := parseCell(v.Number, elem)
	if err != nil {
		return nil, v.fault(want, "%s", err)
	}
	a := FromCells(elem, []int64{}, []num.Cell{cell})
	a.Source = v.Text
	return a, nil
}

func literalElem(s string) num.Elem {
	switch {
	case s == "true" || s == "false":
		return num.Bool
	case isIntText(s):
		return num.I64
	}
	return num.F64
}

func isIntText(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && (s[1] == 'x' || s[1] == 'X') || strings.Trim(s, "0123456789") == ""
}

// parseCell reads a literal in the given type: nothing is rounded to an
// integer, nothing wraps and no finite number becomes infinite.
func parseCell(s string, elem num.Elem) (num.Cell, error) {
	switch {
	case elem == num.Bool:
		if s == "true" || s == "false" || s == "0" || s == "1" {
			return num.FromBool(s == "true" || s == "1"), nil
		}
		return 0, fmt.Errorf("%s is not a bool; expected true or false", s)
	case elem.IsInt():
		return parseInt(s, elem)
	case s == "true" || s == "false":
		return 0, fmt.Errorf("%s is a bool; expected a number of type %s", s, elem)
	}
	return parseFloat(s, elem)
}

func parseInt(s string, elem num.Elem) (num.Cell, error) {
	if !isIntText(s) {
		return 0, fmt.Errorf("%s is not an integer; expected one of type %s", s, elem)
	}
	base := 10
	if strings.ContainsAny(s, "xX") {
		base = 0
	}
	lo, hi := num.IntRange(elem)
	n, err := strconv.ParseInt(s, base, 64)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%s does not fit in %s (%d to %d)", s, elem, lo, hi)
	}
	return num.FromInt(n), nil
}

// parseFloat brings what Python and C accept into the form that num reads,
// which rounds once, from the decimal.
func parseFloat(s string, elem num.Elem) (num.Cell, error) {
	sign, digits := "", strings.ToLower(strings.TrimLeft(s, "+-"))
	if s[0] == '-' {
		sign = "-"
	}
	switch {
	case digits == "nan":
		sign = ""
	case strings.HasPrefix(digits, "0x"):
		n, err := strconv.ParseUint(digits, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%s does not fit in 64 bits", s)
		}
		digits = strconv.FormatUint(n, 10)
	case digits[0] == '.':
		digits = "0" + digits
	}
	return num.ParseFloat(elem, sign+digits)
}
