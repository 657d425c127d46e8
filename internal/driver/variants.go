package driver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/runtime"
)

// Forced is a wish of the user: a variant of one choice of a function, or of all
// of its choices.
type Forced struct {
	Func    string
	Choice  int // -1: all that have such a variant
	Variant string
}

const variantSyntax = "FUNCTION[/N]=NAME, where N numbers the choices of the function from 0; tenon explain --shape lists both"

// ParseForced reads FUNCTION[/N]=NAME.
func ParseForced(texts []string) (list []Forced, err error) {
	for _, text := range texts {
		where, variant, ok := strings.Cut(text, "=")
		f := Forced{Choice: -1, Variant: variant}
		name, number, numbered := strings.Cut(where, "/")
		f.Func = name
		if numbered {
			n, err := strconv.Atoi(number)
			ok = ok && err == nil && n >= 0
			f.Choice = n
		}
		if !ok || name == "" || variant == "" {
			return nil, diag.Usagef("--variant %s: expected %s", text, variantSyntax)
		}
		list = append(list, f)
	}
	return list, nil
}

// pickForced is the number of the variant that the wishes name for a choice of fn, -1
// if none does.
func pickForced(list []Forced, fn string, choice int, variants []string) int {
	k := -1
	for _, f := range list {
		if f.Func == fn && (f.Choice < 0 || f.Choice == choice) {
			if i := slices.Index(variants, f.Variant); i >= 0 {
				k = i
			}
		}
	}
	return k
}

// checkForced refuses a wish that no choice of the function fn can meet.
func checkForced(list []Forced, fn string, choices [][]string) error {
	for _, f := range list {
		switch {
		case f.Func != fn:
			return diag.Usagef("--variant %s=..: the function that runs is %s", f.Func, fn)
		case len(choices) == 0:
			return diag.Usagef("--variant %s=%s: %s has no choice between variants", f.Func, f.Variant, fn)
		case f.Choice >= len(choices):
			return diag.Usagef("--variant %s/%d=%s: %s has %d choices, numbered from 0", f.Func, f.Choice, f.Variant, fn, len(choices))
		}
		var known []string
		for i, vs := range choices {
			if f.Choice < 0 || f.Choice == i {
				known = append(known, vs...)
			}
		}
		if !slices.Contains(known, f.Variant) {
			slices.Sort(known)
			return diag.Usagef("--variant %s=%s: there is no such variant; there are %s", f.Func, f.Variant, strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}

// Force makes variants of a function of watched code run. The last wish for a
// choice counts.
func Force(lib *runtime.Lib, fn string, list []Forced) error {
	choices := lib.Choices(fn)
	var names [][]string
	for _, c := range choices {
		names = append(names, c.Variants)
	}
	if err := checkForced(list, fn, names); err != nil {
		return err
	}
	for i, c := range choices {
		if k := pickForced(list, fn, i, c.Variants); k >= 0 {
			c.Force(k)
		}
	}
	return nil
}

// Force is Force for the code of l.
func (l *Loaded) Force(fn string, list []Forced) error { return Force(l.lib, fn, list) }

// Ran is which variants of one choice ran, and how often.
type Ran struct {
	Func   string
	Choice int
	At     string // LINE:COLUMN
	Names  []string
	Counts []int64
}

// Ran tells of every choice of a function what has run, in code that was built
// with Options.Watch.
func (l *Loaded) Ran(fn string) (list []Ran) {
	for i, c := range l.lib.Choices(fn) {
		list = append(list, Ran{fn, i, c.At, c.Variants, c.Counts()})
	}
	return list
}

// json leaves out what did not run.
func (r Ran) json() string {
	var ran []string
	for i, n := range r.Counts {
		if n > 0 {
			ran = append(ran, fmt.Sprintf("%s: %d", quote(r.Names[i]), n))
		}
	}
	return fmt.Sprintf(`{"func": %s, "choice": %d, "at": %s, "ran": {%s}}`, quote(r.Func), r.Choice, quote(r.At), strings.Join(ran, ", "))
}
