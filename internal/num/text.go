package num

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// FormatFloat is the shortest decimal that ParseFloat turns back into the same
// bits of type e; it holds a point or an exponent. Others: inf, -inf, nan for
// the quiet NaN without sign or payload, nan(0x7fc00001) for the bits of others.
func FormatFloat(e Elem, c Cell) string {
	f := Float(c)
	switch {
	case f != f:
		if bits := Bits(e, c); bits != quietNaN(e) {
			return fmt.Sprintf("nan(0x%0*x)", 2*e.Bytes(), bits)
		}
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return withPoint(shortest(e, f))
}

// quietNaN is what `nan` denotes: the exponent and the highest fraction bit.
func quietNaN(e Elem) uint64 {
	return Bits(e, 0x7ff8<<48)
}

func withPoint(s string) string {
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}

func shortest(e Elem, f float64) string {
	switch e {
	case F64:
		return strconv.FormatFloat(f, 'g', -1, 64)
	case F32:
		return strconv.FormatFloat(f, 'g', -1, 32)
	}
	for digits := 0; ; digits++ {
		for _, s := range candidates(f, digits) {
			if g, err := nearest(e, s); err == nil && g == f {
				d, _ := strconv.ParseFloat(s, 64)
				return strconv.FormatFloat(d, 'g', -1, 64)
			}
		}
	}
}

// candidates are the decimal nearest to f with so many digits after the first,
// and, since at a power of two it may lie below the values that round to f while
// the next decimal does not lie above them, that one.
func candidates(f float64, digits int) []string {
	s := strconv.FormatFloat(f, 'e', digits, 64)
	mant, exp, _ := strings.Cut(s, "e")
	n, err := strconv.ParseInt(strings.Replace(mant, ".", "", 1), 10, 64)
	x, err2 := strconv.Atoi(exp)
	if err != nil || err2 != nil || n == 0 {
		return []string{s}
	}
	next := n + 1
	if n < 0 {
		next = n - 1
	}
	return []string{s, fmt.Sprintf("%de%d", next, x-digits)}
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$`)

// ParseFloat reads what FormatFloat writes, and any other decimal, rounded once
// to type e. A decimal too great for e is an error: an infinity is written inf.
func ParseFloat(e Elem, s string) (Cell, error) {
	switch {
	case !e.IsFloat():
		return 0, fmt.Errorf("%s is not a float type", e)
	case s == "inf":
		return FromFloat(math.Inf(1)), nil
	case s == "-inf":
		return FromFloat(math.Inf(-1)), nil
	case s == "nan":
		return FromBits(e, quietNaN(e)), nil
	case strings.HasPrefix(s, "nan("):
		return parseNaN(e, s)
	case !decimal.MatchString(s):
		return 0, fmt.Errorf("%q is not a number", s)
	}
	f, err := nearest(e, s)
	if err != nil || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%s does not fit %s (the greatest is %.5g; infinity is written inf)",
			s, e, formats[e].max)
	}
	return FromFloat(f), nil
}

func parseNaN(e Elem, s string) (Cell, error) {
	hex, ok := strings.CutPrefix(s, "nan(0x")
	hex, ok2 := strings.CutSuffix(hex, ")")
	bits, err := strconv.ParseUint(hex, 16, 8*e.Bytes())
	if c := FromBits(e, bits); ok && ok2 && err == nil && Float(c) != Float(c) {
		return c, nil
	}
	return 0, fmt.Errorf("%q does not hold the bits of an %s NaN, such as nan(0x%x)", s, e, quietNaN(e)+1)
}

// nearest is the decimal s rounded once to e.
func nearest(e Elem, s string) (float64, error) {
	if e == F64 || e == F32 {
		return strconv.ParseFloat(s, 8*e.Bytes())
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	below := Round(e, math.Nextafter(f, math.Inf(-1)))
	above := Round(e, math.Nextafter(f, math.Inf(1)))
	if below == above {
		return math.Copysign(below, f), nil
	}
	// The float64 lies on a border between two values of e: the decimal decides.
	exact, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	switch exact.Cmp(new(big.Rat).SetFloat64(f)) {
	case -1:
		return math.Copysign(below, f), nil
	case 1:
		return math.Copysign(above, f), nil
	}
	return Round(e, f), nil
}

// FormatInt is the decimal of an integer or index Cell, true or false of a bool.
func FormatInt(e Elem, c Cell) string {
	if e == Bool {
		return strconv.FormatBool(c != 0)
	}
	return strconv.FormatInt(Int(c), 10)
}

// ParseInt reads what FormatInt writes and refuses what e does not hold.
func ParseInt(e Elem, s string) (Cell, error) {
	if e == Bool {
		switch s {
		case "true", "1":
			return 1, nil
		case "false", "0":
			return 0, nil
		}
		return 0, fmt.Errorf("%q is neither true nor false", s)
	}
	if !e.IsInt() {
		return 0, fmt.Errorf("%s is not an integer type", e)
	}
	if !integer.MatchString(s) {
		return 0, fmt.Errorf("%q is not an integer", s)
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if lo, hi := IntRange(e); err != nil || v < lo || v > hi {
		return 0, fmt.Errorf("%s does not fit %s (%d to %d)", s, e, lo, hi)
	}
	return FromInt(v), nil
}

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// Format is the text of a Cell of any type, Parse its inverse.
func Format(e Elem, c Cell) string {
	if e.IsFloat() {
		return FormatFloat(e, c)
	}
	return FormatInt(e, c)
}

// Parse reads a literal of type e.
func Parse(e Elem, s string) (Cell, error) {
	if e.IsFloat() {
		return ParseFloat(e, s)
	}
	return ParseInt(e, s)
}
