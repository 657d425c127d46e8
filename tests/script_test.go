package tests

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/num"
)

// commands are those that a session may use beside tenon.
var commands = map[string]func(dir string, args []string) (string, error){
	"npy":      writeNpy,
	"npz":      writeNpz,
	"show":     show,
	"truncate": truncate,
	"cmp":      compareFiles,
	"ls":       list,
	"cat":      cat,
	"repeat":   repeatText,
	"damage":   damage,
}

// split cuts a line into words; quotes hold words together.
func split(line string) ([]string, error) {
	var words []string
	var word []byte
	quote, in := byte(0), false
	for i := range len(line) {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && c == ' ':
			if in {
				words, word, in = append(words, string(word)), nil, false
			}
		default:
			word, in = append(word, c), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed")
	}
	if in {
		words = append(words, string(word))
	}
	return words, nil
}

// writeNpy: npy FILE [fortran|big] DTYPE [2,3] VALUE... writes an array; `big`
// stores it big-endian, `fortran` column by column. Values are given in C order.
func writeNpy(dir string, args []string) (string, error) {
	path, layout := filepath.Join(dir, args[0]), ""
	if args[1] == "fortran" || args[1] == "big" {
		layout = args[1]
		args = args[1:]
	}
	a, err := array(args[1:])
	if err != nil || layout == "" {
		if err == nil {
			err = weights.WriteNpy(path, a)
		}
		return "", err
	}
	cells, width := a.Cells(), a.Elem.Bytes()
	descr := map[num.Elem]string{num.F32: "f4", num.F64: "f8", num.I32: "i4", num.I64: "i8"}[a.Elem]
	order, fortran := "<", "False"
	if layout == "fortran" {
		fortran, cells = "True", columns(cells, a.Shape)
	}
	data := make([]byte, len(cells)*width)
	num.EncodeSlice(a.Elem, cells, data)
	if layout == "big" {
		order = ">"
		for at := 0; at < len(data); at += width {
			slices.Reverse(data[at : at+width])
		}
	}
	head := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': %s, 'shape': (%s), }\n", order, descr, fortran, tuple(a.Shape))
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(head)))
	b.WriteString(head)
	b.Write(data)
	return "", os.WriteFile(path, b.Bytes(), 0o666)
}

// columns puts the elements of a matrix in column order.
func columns(cells []num.Cell, shape []int64) []num.Cell {
	rows, cols := int(shape[0]), int(shape[1])
	var out []num.Cell
	for j := range cols {
		for i := range rows {
			out = append(out, cells[i*cols+j])
		}
	}
	return out
}

func tuple(shape []int64) string {
	s := ""
	for _, d := range shape {
		s += fmt.Sprintf("%d,", d)
	}
	return s
}

// array reads DTYPE [2,3] VALUE...
func array(words []string) (*weights.Array, error) {
	e := num.ElemByName(words[0])
	var shape []int64
	for _, d := range strings.Split(strings.Trim(words[1], "[]"), ",") {
		if d != "" {
			n, err := strconv.ParseInt(d, 10, 64)
			if err != nil {
				return nil, err
			}
			shape = append(shape, n)
		}
	}
	var cells []num.Cell
	for _, w := range words[2:] {
		if e.IsFloat() && !strings.ContainsAny(w, ".en") {
			w += ".0"
		}
		c, err := num.Parse(e, w)
		if err != nil {
			return nil, err
		}
		cells = append(cells, c)
	}
	return weights.FromCells(e, shape, cells), nil
}

// writeNpz: npz FILE NAME DTYPE [2] VALUE... + NAME ... writes several arrays.
func writeNpz(dir string, args []string) (string, error) {
	var names []string
	var arrays []*weights.Array
	for rest := args[1:]; len(rest) > 0; {
		end := slices.Index(rest, "+")
		if end < 0 {
			end = len(rest)
		}
		a, err := array(rest[1:end])
		if err != nil {
			return "", err
		}
		names, arrays = append(names, rest[0]), append(arrays, a)
		rest = rest[min(end+1, len(rest)):]
	}
	return "", weights.WriteNpz(filepath.Join(dir, args[0]), names, arrays)
}

// show FILE [MEMBER] prints an array.
func show(dir string, args []string) (string, error) {
	f, err := weights.Open(filepath.Join(dir, args[0]))
	if err != nil {
		return "", err
	}
	defer f.Close()
	member := ""
	if len(args) > 1 {
		member = args[1]
	}
	a, err := f.Get(member)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%v %s\n", a.Elem, a.Shape, a.Text()), nil
}

// truncate FILE N cuts a file to N bytes.
func truncate(dir string, args []string) (string, error) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return "", err
	}
	return "", os.Truncate(filepath.Join(dir, args[0]), n)
}

// cmp A B says whether two files are equal.
func compareFiles(dir string, args []string) (string, error) {
	var data [2][]byte
	for i := range data {
		var err error
		if data[i], err = os.ReadFile(filepath.Join(dir, args[i])); err != nil {
			return "", err
		}
	}
	if !bytes.Equal(data[0], data[1]) {
		return "", fmt.Errorf("%s and %s differ", args[0], args[1])
	}
	return "", nil
}

// ls [FOLDER] lists the names of files.
func list(dir string, args []string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(append([]string{dir}, args...)...))
	out := ""
	for _, e := range entries {
		out += e.Name() + "\n"
	}
	return out, err
}

// cat FILE prints a text file.
func cat(dir string, args []string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, args[0]))
	return string(data), err
}

// repeat FILE PREFIX TEXT N SUFFIX writes N copies of a text between two others.
func repeatText(dir string, args []string) (string, error) {
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(filepath.Join(dir, args[0]), []byte(args[1]+strings.Repeat(args[2], n)+args[4]+"\n"), 0o666)
}

// damage FOLDER flips a bit at the end of every file.
func damage(dir string, args []string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, args[0], "*"))
	for _, f := range files {
		var data []byte
		if data, err = os.ReadFile(f); err == nil {
			data[len(data)-1] ^= 1
			err = os.WriteFile(f, data, 0o666)
		}
	}
	return "", err
}
