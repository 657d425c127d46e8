package weights

import (
	"regexp"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// A Value is a parsed VALUE of the command line. Exactly one of File, Number
// and Gen is set.
type Value struct {
	Text   string // as written
	File   string
	Member string   // of the file, "" if not named
	Slice  Slice    // empty for the whole array
	As     num.Elem // of ` as DTYPE`, or num.Invalid

	Number string // a literal: integer, float, true, false

	Gen     string // rand, zeros or iota
	Dims    []int64
	Seed    uint64
	HasSeed bool
}

var (
	asPattern     = regexp.MustCompile(`(?:^|\s+)as(?:\s+(\w+))?$`)
	numberPattern = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$|^[+-]?0[xX][0-9a-fA-F]+$|(?i)^[+-]?(inf|nan)$(?-i)|^(true|false)$`)
	genPattern    = regexp.MustCompile(`^([A-Za-z_]\w*)\s*\(([^()]*)\)(?::(.*))?$`)
	filePattern   = regexp.MustCompile(`(?i)\.(npy|npz|safetensors)(:|$)`)
)

// ParseValue reads VALUE = FILE[:MEMBER][slice][ as DTYPE], a number, or
// rand(...), zeros(...) or iota(...) with an optional :seed, slice and cast.
// It looks at the text alone; no file is opened. A number or a generator wins
// over a file of the same name, which can be written ./37.
func ParseValue(text string) (Value, error) {
	v := Value{Text: text}
	s := strings.TrimSpace(text)
	s, as, err := cutCast(s)
	if err != nil {
		return Value{}, err
	}
	v.As = as
	if numberPattern.MatchString(s) {
		v.Number = s
		return v, nil
	}
	if s, err = v.cutSlice(s); err != nil {
		return Value{}, err
	}
	if m := genPattern.FindStringSubmatch(s); m != nil {
		err := v.parseGen(m[1], m[2], m[3], strings.Contains(s, "):"))
		return v, err
	}
	if s == "" || numberPattern.MatchString(s) {
		return Value{}, diag.Usagef("%q: expected FILE[:MEMBER][slice][ as DTYPE], a number, rand(2,3), zeros(2,3) or iota(6)", text)
	}
	v.File, v.Member = splitMember(s)
	if v.File == "" {
		return Value{}, diag.Usagef("%q: no file before the colon; expected FILE:MEMBER", text)
	}
	return v, nil
}

// cutCast takes ` as DTYPE` off the end.
func cutCast(s string) (string, num.Elem, error) {
	m := asPattern.FindStringSubmatch(s)
	if m == nil {
		return s, num.Invalid, nil
	}
	e := num.ElemByName(m[1])
	if e == num.Invalid {
		return "", e, diag.Usagef("%s: %q is not a dtype; write ` as` and one of %s", s, m[1], elemNames())
	}
	return strings.TrimSuffix(s, m[0]), e, nil
}

// cutSlice takes [...] off the end. A file whose name ends in ] can be read
// with a slice that takes everything: x[1][...].
func (v *Value) cutSlice(s string) (string, error) {
	if !strings.HasSuffix(s, "]") {
		return s, nil
	}
	from := strings.LastIndexByte(s, '[')
	if from < 0 {
		return "", diag.Usagef("%s: there is a ] without its [; a slice is written FILE[:100, ::2]", v.Text)
	}
	var err error
	v.Slice, err = ParseSlice(s[from:])
	if err != nil {
		return "", diag.Usagef("%s: %s", v.Text, err)
	}
	return strings.TrimSpace(s[:from]), nil
}

// splitMember cuts FILE:MEMBER at the colon after a known extension; tensor
// names may contain colons and so may folders. Without an extension the first
// colon counts.
func splitMember(s string) (file, member string) {
	if m := filePattern.FindStringIndex(s); m != nil {
		if m[1] == len(s) {
			return strings.TrimSuffix(s, ":"), ""
		}
		return s[:m[1]-1], s[m[1]:]
	}
	file, member, _ = strings.Cut(s, ":")
	return file, member
}

var generators = map[string]func(w *genWork){"rand": genRand, "zeros": func(*genWork) {}, "iota": genIota}

func (v *Value) parseGen(name, dims, seed string, hasSeed bool) error {
	if generators[name] == nil {
		return diag.Usagef("%s: %s(...) is not known; expected rand(2,3), zeros(2,3) or iota(6), or ./%s for a file of that name", v.Text, name, v.Text)
	}
	v.Gen = name
	for _, d := range strings.Split(dims, ",") {
		if d = strings.TrimSpace(d); d == "" && strings.TrimSpace(dims) == "" {
			break // rank 0
		}
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil || n < 0 {
			return diag.Usagef("%s: %q is not a size; expected sizes of 0 or more, such as %s(2,3)", v.Text, d, name)
		}
		v.Dims = append(v.Dims, n)
	}
	if !hasSeed {
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimSpace(seed), 10, 64)
	if err != nil {
		return diag.Usagef("%s: seed %q is not a number; expected 0 or more, such as %s(2,3):7", v.Text, seed, name)
	}
	v.Seed, v.HasSeed = n, true
	return nil
}

func elemNames() string {
	names := make([]string, len(num.Elems))
	for i, e := range num.Elems {
		names[i] = e.String()
	}
	return strings.Join(names, ", ")
}

// SplitBinding cuts NAME=VALUE, the argument of --in, at the first =.
func SplitBinding(s string) (name, value string, err error) {
	name, value, ok := strings.Cut(s, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || value == "" {
		return "", "", diag.Usagef("--in %s: expected NAME=VALUE, such as x=data.npy", s)
	}
	return name, value, nil
}

// An Out is the argument of --out: NAME=FILE, or FILE for the only result,
// with an optional ` as DTYPE`.
type Out struct {
	Name string // "" for the only result
	File string
	As   num.Elem
}

var outName = regexp.MustCompile(`^[\pL_\d][\pL\pN_.]*$`)

// ParseOut reads the argument of --out.
func ParseOut(s string) (Out, error) {
	out := Out{File: strings.TrimSpace(s)}
	if name, file, ok := strings.Cut(out.File, "="); ok && outName.MatchString(strings.TrimSpace(name)) {
		out.Name, out.File = strings.TrimSpace(name), strings.TrimSpace(file)
	}
	var err error
	if out.File, out.As, err = cutCast(out.File); err != nil {
		return Out{}, err
	}
	if out.File == "" {
		return Out{}, diag.Usagef("--out %s: expected FILE or NAME=FILE, such as y=out.npy", s)
	}
	return out, checkOutName(out.File)
}
