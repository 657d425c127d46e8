package driver

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// Result is one result of a run: a fn's result, or a buffer that a proc wrote.
type Result struct {
	Name  string // as --out may call it; "" for an unnamed one of several
	Array *weights.Array
	File  string // that it was written to, "" if none
}

// Label is what messages and listings call the result.
func (r *Result) Label(i int) string {
	if r.Name != "" {
		return r.Name
	}
	return strconv.Itoa(i)
}

// ResultNames lists the names of f's results; an unnamed only result of a fn is
// `result`, unnamed ones of several are "".
func ResultNames(f *ir.Func) []string {
	var names []string
	if f.IsProc {
		for _, p := range f.Params {
			if p.Mode != ir.ModeIn {
				names = append(names, p.Value.Name)
			}
		}
		return names
	}
	for _, r := range f.Results {
		names = append(names, r.Name)
	}
	if len(names) == 1 && names[0] == "" {
		names[0] = "result"
	}
	return names
}

// Out is where a result goes.
type Out struct {
	Index int // of the result
	File  string
	As    num.Elem
}

// ParseOuts reads the arguments of --out against the results of f: FILE alone
// for the only result, NAME=FILE, or NUMBER=FILE. Several may name one npz file.
func ParseOuts(f *ir.Func, outs []string) ([]Out, error) {
	names := ResultNames(f)
	var list []Out
	taken := map[string]string{}
	for _, text := range outs {
		o, err := weights.ParseOut(text)
		if err != nil {
			return nil, err
		}
		i, err := resultIndex(f, names, o.Name)
		if err != nil {
			return nil, err
		}
		file := filepath.Clean(o.File)
		if other, twice := taken[file]; twice && filepath.Ext(file) == ".npy" {
			return nil, diag.Usagef("--out %s: --out %s names the same file; an npz file holds several results", text, other)
		}
		taken[file] = text
		list = append(list, Out{i, file, o.As})
	}
	return list, nil
}

func resultIndex(f *ir.Func, names []string, name string) (int, error) {
	for i, n := range names {
		if name == "" && len(names) == 1 || name != "" && n == name {
			return i, nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(names) {
		return n, nil
	}
	var known []string
	for i, n := range names {
		if n == "" {
			n = strconv.Itoa(i)
		}
		known = append(known, n)
	}
	switch {
	case len(names) == 0:
		return 0, diag.Usagef("%s has no results, so --out has nothing to write", f.Name)
	case name == "":
		return 0, diag.Usagef("%s has the results %s; write --out NAME=FILE", f.Name, strings.Join(known, ", "))
	}
	return 0, diag.Usagef("%s has no result %s%s; it has %s", f.Name, name, didYouMean(name, known), strings.Join(known, ", "))
}

// file is one file to be written, and what it holds.
type file struct {
	path   string
	names  []string
	arrays []*weights.Array
}

// WriteOuts writes results to their files: all of them, or none.
func WriteOuts(results []Result, outs []Out) error {
	var files []*file
	at := map[string]*file{}
	for _, o := range outs {
		a := results[o.Index].Array
		if o.As != num.Invalid {
			var err error
			if a, err = a.As(o.As); err != nil {
				return err
			}
		}
		f := at[o.File]
		if f == nil {
			f = &file{path: o.File}
			at[o.File], files = f, append(files, f)
		}
		f.names, f.arrays = append(f.names, results[o.Index].Label(o.Index)), append(f.arrays, a)
	}
	if err := writeAll(files); err != nil {
		return err
	}
	for _, o := range outs {
		results[o.Index].File = o.File
	}
	return nil
}

// writeAll writes each file within the write of the one before, so that the
// first takes its name only when the last is complete.
func writeAll(files []*file) error {
	if len(files) == 0 {
		return nil
	}
	f := files[0]
	return weights.WriteThen(f.path, f.names, f.arrays, func() error { return writeAll(files[1:]) })
}

// PrintText shows results as text, each under its name and type where there are
// several.
func PrintText(w io.Writer, results []Result) {
	for i, r := range results {
		if len(results) > 1 {
			fmt.Fprintf(w, "%s: %s%s\n", r.Label(i), r.Array.Elem, shapeText(r.Array.Shape))
		}
		fmt.Fprintln(w, r.Array.Text())
	}
}

func shapeText(shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
