package run

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// Call is a line of a corpus file: written inputs, and what must come of them.
type Call struct {
	Func  string
	Args  []any
	Want  []string // results as literals; nil: those of the interpreter
	Error string   // "index", "shape", ..: the code that is returned; "" for none
	Arg   string   // the argument that the error names, "" if not said
}

// ParseCall reads `f x=[[1, nan], [2, 3]] n=4 -> [1, 2]; [3]`. Names are those of
// the parameters of the source function; an array without elements has its
// shape before it: `x=(0, 3)[]`.
func ParseCall(m *ir.Module, low *ir.Module, line string) (*Call, error) {
	left, right, said := strings.Cut(line, "->")
	name, rest, _ := strings.Cut(strings.TrimSpace(left), " ")
	f := ir.Lookup[*ir.Func](m, name)
	if f == nil {
		return nil, fmt.Errorf("%q calls no function of the program", line)
	}
	c := &Call{Func: name, Args: make([]any, len(f.Params))}
	for i, p := range f.Params {
		text, ok := argument(rest, p.Value.Name)
		if !ok {
			if p.Mode != ir.ModeOut {
				return nil, fmt.Errorf("%q gives no %s", line, p.Value.Name)
			}
			continue
		}
		_, isArray := ir.DimsOf(p.Value.Type)
		a, err := readLiteral(ir.ElemOf(p.Value.Type), text)
		if err != nil {
			return nil, fmt.Errorf("%q, %s: %w", line, p.Value.Name, err)
		}
		c.Args[i] = a
		if !isArray {
			c.Args[i] = interp.Scalar{Elem: a.Elem, Cell: a.Mem.Cells[0]}
		}
	}
	right = strings.TrimSpace(right)
	switch {
	case !said:
	case strings.HasPrefix(right, "error "):
		words := append(strings.Fields(right), "")
		c.Error, c.Arg = words[1], words[2]
	default:
		for _, w := range strings.Split(right, ";") {
			c.Want = append(c.Want, strings.TrimSpace(w))
		}
	}
	return c, nil
}

// argument finds NAME=VALUE; a value ends where the next name begins.
func argument(text, name string) (value string, ok bool) {
	_, after, ok := strings.Cut(" "+text, " "+name+"=")
	if !ok {
		return "", false
	}
	if before, _, more := strings.Cut(after, "="); more {
		after = before[:strings.LastIndex(before, " ")]
	}
	return strings.TrimSpace(after), true
}

// readLiteral reads nested brackets of elements.
func readLiteral(e num.Elem, text string) (*ir.Array, error) {
	if strings.HasPrefix(text, "(") {
		return emptyLiteral(e, text)
	}
	r := &literal{elem: e, text: text}
	if err := r.value(0); err != nil {
		return nil, err
	}
	if r.text = strings.TrimSpace(r.text); r.text != "" {
		return nil, fmt.Errorf("%q is left over", r.text)
	}
	a := ir.NewArray(e, r.shape...)
	if len(a.Mem.Cells) != len(r.cells) {
		return nil, fmt.Errorf("%q is not rectangular", text)
	}
	copy(a.Mem.Cells, r.cells)
	return a, nil
}

func emptyLiteral(e num.Elem, text string) (*ir.Array, error) {
	var shape []int64
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("()[], ", r) }) {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return nil, err
		}
		shape = append(shape, n)
	}
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = zeroCell(e)
	}
	return a, nil
}

type literal struct {
	elem  num.Elem
	text  string
	shape []int64
	cells []num.Cell
}

func (r *literal) value(depth int) error {
	r.text = strings.TrimLeft(r.text, " ")
	if !strings.HasPrefix(r.text, "[") {
		end := strings.IndexAny(r.text+",", ",]")
		word := strings.TrimSpace(r.text[:end])
		r.text = r.text[end:]
		cell, err := parseElement(r.elem, word)
		r.cells = append(r.cells, cell)
		return err
	}
	r.text = r.text[1:]
	n := int64(0)
	for ; ; n++ {
		r.text = strings.TrimLeft(r.text, " ")
		if strings.HasPrefix(r.text, "]") {
			break
		}
		if r.text == "" {
			return fmt.Errorf("a bracket is not closed")
		}
		if len(r.shape) <= depth {
			r.shape = append(r.shape, 0)
		}
		if err := r.value(depth + 1); err != nil {
			return err
		}
		r.text = strings.TrimPrefix(strings.TrimLeft(r.text, " "), ",")
	}
	r.text = r.text[1:]
	if len(r.shape) <= depth {
		r.shape = append(r.shape, 0)
	}
	r.shape[depth] = max(r.shape[depth], n)
	return nil
}

// parseElement reads an element; a float may be written as an integer.
func parseElement(e num.Elem, word string) (num.Cell, error) {
	if e == num.Bool {
		return num.FromBool(word == "true"), nil
	}
	if e.IsFloat() && !strings.ContainsAny(word, ".en") {
		word += ".0"
	}
	return num.Parse(e, word)
}
