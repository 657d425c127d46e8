package ir

import (
	"slices"
	"strings"
)

// A caller may give one array as an `in` and as an `out` parameter: the argument
// is donated. What is computed is the same as with two arrays. The directive
// `inplace(x, y)` of a proc says that its body may then work on the one array: it
// is through with each element of x when it writes that of y. Without it the
// body gets a copy of x. The directive `copies(x, y)` of a loop in the body says
// that it does nothing but copy x to y, so that it can be left out.

// InPlace lists the pairs of numbers of parameters that may be one array.
func InPlace(f *Func) (pairs [][2]int) {
	for _, d := range f.Directives {
		if a := directiveArgs(d, "inplace"); len(a) == 2 {
			pairs = append(pairs, [2]int{paramNamed(f, a[0]), paramNamed(f, a[1])})
		}
	}
	return pairs
}

// Copies is the pair of parameters that a loop with these directives copies.
func Copies(f *Func, directives []string) (from, to *Value) {
	for _, d := range directives {
		if a := directiveArgs(d, "copies"); len(a) == 2 {
			i, j := paramNamed(f, a[0]), paramNamed(f, a[1])
			if i >= 0 && j >= 0 {
				return f.Params[i].Value, f.Params[j].Value
			}
		}
	}
	return nil, nil
}

// InPlaceDirective and CopiesDirective write the directives.
func InPlaceDirective(in, out string) string { return "inplace(" + in + ", " + out + ")" }

func CopiesDirective(in, out string) string { return "copies(" + in + ", " + out + ")" }

// WithoutDirective is list without the directives of one word.
func WithoutDirective(list []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(d string) bool { return strings.HasPrefix(d, word+"(") })
}

// checkInPlace holds the directives of a proc against its parameters.
func (v *verifier) checkInPlace(f *Func) {
	for _, p := range InPlace(f) {
		if p[0] < 0 || p[1] < 0 || f.Params[p[0]].Mode != ModeIn || f.Params[p[1]].Mode != ModeOut ||
			!SameType(f.Params[p[0]].Value.Type, f.Params[p[1]].Value.Type) {
			v.itemError("@%s: inplace(..) names no `in` and `out` parameter of one type", f.Name)
		}
	}
}
