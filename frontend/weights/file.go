package weights

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// A File is an open npy, npz or safetensors file. Its arrays point into the
// mapping of the file and are valid until Close.
type File struct {
	Path   string
	Format string // "npy", "npz" or "safetensors"

	names  []string // in file order
	load   map[string]func() (stored, error)
	data   []byte
	mapped bool
}

// formats are told apart by their first bytes, not by the file's name.
var formats = []struct {
	name  string
	match func(data []byte) bool
	read  func(f *File) error
}{
	{"npy", func(d []byte) bool { return bytes.HasPrefix(d, []byte(npyMagic)) }, (*File).readNpy},
	{"npz", func(d []byte) bool {
		return bytes.HasPrefix(d, []byte("PK\x03\x04")) || bytes.HasPrefix(d, []byte("PK\x05\x06"))
	}, (*File).readNpz},
	{"safetensors", func(d []byte) bool { return len(d) > 8 && d[8] == '{' }, (*File).readSafetensors},
}

// foreign formats are recognised for the sake of the message.
var foreign = []struct{ magic, name, fix string }{
	{"GGUF", "a GGUF file", "convert it to safetensors"},
	{"\x80", "a Python pickle, which is never loaded because it can run code", "save it with numpy.save or as safetensors"},
	{"\x89HDF", "an HDF5 file", "save the arrays with numpy.savez"},
	{"\x1f\x8b", "a gzip file", "unpack it first"},
}

// Open maps the file at path and reads its header.
func Open(path string) (*File, error) {
	data, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	f, err := openBytes(path, data)
	if err != nil {
		unmap(data)
		return nil, err
	}
	f.mapped = true
	return f, nil
}

// openBytes reads a file that is already in memory.
func openBytes(path string, data []byte) (*File, error) {
	f := &File{Path: path, data: data, load: map[string]func() (stored, error){}}
	for _, format := range formats {
		if !format.match(data) {
			continue
		}
		f.Format = format.name
		if err := format.read(f); err != nil {
			return nil, err
		}
		return f, nil
	}
	if len(data) == 0 {
		return nil, f.fault("the file is empty").WithExpected("an npy, npz or safetensors file")
	}
	for _, g := range foreign {
		if bytes.HasPrefix(data, []byte(g.magic)) {
			return nil, f.fault("this is %s", g.name).WithExpected("an npy, npz or safetensors file").WithFix("%s", g.fix)
		}
	}
	return nil, f.fault("the file is neither npy, npz nor safetensors").
		WithFix("save it with numpy.save, numpy.savez or safetensors")
}

func (f *File) pos() diag.Pos { return diag.Pos{File: f.Path} }

func (f *File) fault(format string, args ...any) *diag.Error {
	e := diag.Errorf(f.pos(), format, args...)
	if strings.Contains(e.Msg, "truncated") {
		return e.WithFix("copy or save the file again; this one is incomplete")
	}
	return e
}

// add registers a member; two of one name are refused, because whichever was
// taken could be the wrong one.
func (f *File) add(name string, load func() (stored, error)) error {
	if _, ok := f.load[name]; ok {
		return f.fault("there are two members named %s", quoteShort(name)).WithFix("write the file again with one of them")
	}
	f.names = append(f.names, name)
	f.load[name] = load
	return nil
}

// Names lists the members in file order. An npy file has one, named "".
func (f *File) Names() []string { return append([]string(nil), f.names...) }

// Has reports whether the file has a member of that name.
func (f *File) Has(name string) bool { return f.load[name] != nil }

// Get returns a member. For an npy file and for a file with a single member
// the name may be "". A type that programs cannot hold is an error that says
// what to do; GetAs converts.
func (f *File) Get(name string) (*Array, error) {
	return f.get(name, Slice{}, num.Invalid, num.Invalid)
}

// GetAs returns a member converted to elem, as ` as DTYPE` does.
func (f *File) GetAs(name string, elem num.Elem) (*Array, error) {
	return f.get(name, Slice{}, elem, elem)
}

// get reads a member, its slice and cast. want only serves the message: the
// cast that a type without a counterpart needs.
func (f *File) get(name string, sl Slice, cast, want num.Elem) (*Array, error) {
	st, err := f.member(name)
	if err != nil {
		return nil, err
	}
	what := ""
	if st.name != "" {
		what = "member " + quoteShort(st.name) + ": "
	}
	if err := st.dt.readable(what, f.pos(), cast, want); err != nil {
		return nil, err
	}
	if len(sl.items) > 0 {
		if st.view, err = sl.apply(st.view); err != nil {
			return nil, f.fault("%s%s", what, err)
		}
	}
	a, err := st.array(cast)
	if err != nil {
		return nil, f.fault("%s%s", what, err)
	}
	a.Source = f.Path
	if st.name != "" {
		a.Source += ":" + st.name
	}
	return a, nil
}

// member finds a member by name; x.npy names the npz member x too.
func (f *File) member(name string) (stored, error) {
	if name == "" && f.load[""] == nil && len(f.names) == 1 {
		name = f.names[0]
	}
	if f.load[name] == nil && f.Format == "npz" {
		name = strings.TrimSuffix(name, ".npy")
	}
	load := f.load[name]
	if load == nil {
		return stored{}, f.noMember(name)
	}
	st, err := load()
	st.name = name
	return st, err
}

func (f *File) noMember(name string) error {
	switch {
	case f.Format == "npy":
		return f.fault("an npy file holds one array and has no member %s", quoteShort(name)).
			WithFix("leave out `:%s`", name)
	case len(f.names) == 0:
		return f.fault("the file has no members")
	case name == "":
		return f.fault("the file has %d members and none is named", len(f.names)).
			WithFix("name one of them: %s", f.someNames())
	}
	return f.fault("there is no member %s", quoteShort(name)).WithExpected("one of: %s", f.someNames())
}

// someNames lists the members for a message, as many as fit a few lines.
func (f *File) someNames() string {
	var b strings.Builder
	for i, n := range f.names {
		if b.Len() > 200 {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if len(n) > 60 {
			n = n[:60] + "..."
		}
		b.WriteString(strings.ToValidUTF8(n, "?"))
	}
	return b.String()
}

// Close unmaps the file. Arrays that point into it must not be used any more.
func (f *File) Close() error {
	if !f.mapped {
		return nil
	}
	data := f.data
	f.mapped, f.data, f.load = false, nil, nil
	return unmap(data)
}

// mapFile maps a regular file. Pipes and devices are refused: opening one
// could wait for ever and reading one need not end. The mapping is private, so
// nothing that happens to the memory reaches the file.
func mapFile(path string) ([]byte, error) {
	pos := diag.Pos{File: path}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openFault(pos, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, diag.Errorf(pos, "cannot read: %s", reason(err))
	case info.IsDir():
		return nil, diag.Errorf(pos, "this is a folder").WithExpected("an npy, npz or safetensors file")
	case !info.Mode().IsRegular():
		return nil, diag.Errorf(pos, "this is not a regular file").WithFix("copy the data to a file first")
	case info.Size() == 0:
		return nil, nil
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, diag.Errorf(pos, "cannot map %s into memory: %s", bytesString(info.Size()), reason(err))
	}
	return data, nil
}

func unmap(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return syscall.Munmap(data)
}

func openFault(pos diag.Pos, err error) *diag.Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return diag.Errorf(pos, "there is no such file").WithFix("check the path; it is taken from the current folder")
	case errors.Is(err, fs.ErrPermission):
		return diag.Errorf(pos, "the file may not be read").WithFix("change its permissions")
	}
	return diag.Errorf(pos, "cannot open: %s", reason(err))
}

// reason strips the operation and the path from an operating system error; the
// position names the path already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}
