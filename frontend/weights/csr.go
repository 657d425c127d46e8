package weights

import (
	"bytes"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// A CSR is a sparse matrix in compressed rows: the columns of row i are
// Indices[Indptr[i]:Indptr[i+1]]. Index types are i32 or i64, as found, and
// may differ from each other.
type CSR struct {
	Indptr, Indices *Array
	Data            *Array  // values, first axis as Indices; nil if absent
	Shape           []int64 // rows and columns; nil if the file does not say
	Source          string
}

// A CSRWant is what a csr parameter needs.
type CSRWant struct {
	Name    string
	Elem    num.Elem // of the values; num.Invalid takes any, or none
	Pattern bool     // a csr without values: data is not read
}

// LoadCSR reads the members indptr, indices, data and shape of an npz or
// safetensors file; the value's member, if named, is a prefix of those names.
// A cast applies to data. Files of scipy.sparse.save_npz are read too and must
// hold format csr. The sizes of the parts are checked against each other;
// the range of the indices is not (programs check it at entry).
func (v Value) LoadCSR(want CSRWant) (*CSR, error) {
	w := Want{Name: want.Name}
	if v.File == "" || len(v.Slice.items) > 0 {
		return nil, v.fault(w, "%s is not a csr matrix", v.Text).
			WithExpected("a file with the members indptr, indices, data and shape, without a slice")
	}
	f, err := Open(v.File)
	if err != nil {
		return nil, named(err, w)
	}
	c, err := f.csr(v, want)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		f.Close()
		return nil, named(err, w)
	}
	return c, nil
}

func (f *File) csr(v Value, want CSRWant) (*CSR, error) {
	c := &CSR{Source: f.Path}
	if v.Member != "" {
		c.Source += ":" + v.Member
	}
	if err := f.csrFormat(v.Member); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		to   **Array
	}{{"indptr", &c.Indptr}, {"indices", &c.Indices}} {
		if !f.Has(v.Member + part.name) {
			return nil, f.noPart(v.Member, part.name)
		}
		var err error
		if *part.to, err = f.Get(v.Member + part.name); err != nil {
			return nil, err
		}
	}
	if err := f.csrShape(c, v.Member); err != nil {
		return nil, err
	}
	return c, f.csrData(c, v, want)
}

func (f *File) csrData(c *CSR, v Value, want CSRWant) error {
	name := v.Member + "data"
	switch {
	case want.Pattern:
		return nil
	case !f.Has(name) && want.Elem == num.Invalid:
		return nil
	case !f.Has(name):
		return f.fault("there is no member %s with values", quoteShort(name)).
			WithFix("add it, or declare the parameter without values: csr[N, N]")
	}
	a, err := f.get(name, Slice{}, v.As, want.Elem)
	if err != nil {
		return err
	}
	if want.Elem != num.Invalid && a.Elem != want.Elem {
		if !sameBits(a.Elem, want.Elem) {
			return f.fault("member %s is %s", quoteShort(name), a.Elem).
				WithExpected("%s", want.Elem).WithFix("add ` as %s`", want.Elem)
		}
		a.Elem = want.Elem
	}
	c.Data = a
	return nil
}

func (f *File) csrShape(c *CSR, prefix string) error {
	if !f.Has(prefix + "shape") {
		return nil
	}
	a, err := f.Get(prefix + "shape")
	if err != nil {
		return err
	}
	if !a.Elem.IsInt() || a.Rank() != 1 || a.Shape[0] != 2 {
		return f.fault("member %s is %s of shape %s", quoteShort(prefix+"shape"), a.Elem, shapeString(a.Shape)).
			WithExpected("two integers, rows and columns")
	}
	c.Shape = a.ints()
	return nil
}

// csrFormat refuses the other formats of scipy.sparse.save_npz, whose parts
// have the same names and another meaning.
func (f *File) csrFormat(prefix string) error { return f.CheckFormat(prefix, "csr") }

// CheckFormat refuses a file that scipy.sparse.save_npz wrote in another format
// than want; a file that does not say its format passes.
func (f *File) CheckFormat(prefix, want string) error {
	if f.Format != "npz" || !f.Has(prefix+"format") {
		return nil
	}
	st, err := f.member(prefix + "format")
	if err != nil {
		return err
	}
	got := strings.ToLower(string(bytes.ReplaceAll(st.data, []byte{0}, nil)))
	if len(got) > 16 || got == want || !strings.HasPrefix(st.dt.name, "|S") && !strings.Contains(st.dt.name, "U") {
		return nil
	}
	return f.fault("the sparse matrix has format %s", quoteShort(got)).WithExpected("%s", want).
		WithFix("convert it with .to%s() before it is saved", want)
}

func (f *File) noPart(prefix, part string) error {
	e := f.fault("there is no member %s", quoteShort(prefix+part)).
		WithExpected("a csr matrix: the members %sindptr, %sindices, data and shape", prefix, prefix)
	for _, n := range f.names {
		if p, ok := strings.CutSuffix(n, "indptr"); ok && p != prefix {
			return e.WithFix("name the prefix %s: %s:%s", quoteShort(p), f.Path, p)
		}
	}
	return e.WithFix("the file has: %s", f.someNames())
}

// Check holds the parts against each other. It is for matrices that were put
// together from single arrays; LoadCSR has done it.
func (c *CSR) Check() error {
	for _, p := range []struct {
		name string
		a    *Array
	}{{"indptr", c.Indptr}, {"indices", c.Indices}} {
		if p.a.Rank() != 1 || p.a.Elem != num.I32 && p.a.Elem != num.I64 {
			return c.fault("%s is %s of shape %s", p.name, p.a.Elem, shapeString(p.a.Shape)).
				WithExpected("i32 or i64 of rank 1")
		}
	}
	rows, nnz := c.Indptr.Len()-1, c.Indices.Len()
	switch {
	case rows < 0:
		return c.fault("indptr is empty").WithExpected("one entry more than there are rows")
	case num.Int(c.Indptr.At(0)) != 0 || num.Int(c.Indptr.At(rows)) != nnz:
		return c.fault("indptr runs from %d to %d", num.Int(c.Indptr.At(0)), num.Int(c.Indptr.At(rows))).
			WithExpected("0 to the %d entries of indices", nnz)
	case c.Data != nil && (c.Data.Rank() == 0 || c.Data.Shape[0] != nnz):
		return c.fault("data has shape %s", shapeString(c.Data.Shape)).WithExpected("%d values, one an entry of indices", nnz)
	case c.Shape != nil && (len(c.Shape) != 2 || c.Shape[0] != rows || c.Shape[1] < 0):
		return c.fault("shape is %s, indptr has %d rows", shapeString(c.Shape), rows).
			WithFix("write the file again; its members do not belong together")
	}
	return nil
}

func (c *CSR) fault(format string, args ...any) *diag.Error {
	return diag.Errorf(diag.Pos{File: c.Source}, format, args...)
}
