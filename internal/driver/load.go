package driver

import (
	"os"
	"path/filepath"
	"strings"

	"tenon/frontend/tn"
	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops" // the rows of all ops
)

// Version is the version of Tenon; artifacts and `tenon version` name it.
const Version = "0.1.0"

// laterFormats are program files that this version does not read yet.
var laterFormats = map[string]string{
	".c":    "C loop nests (the front end cloop)",
	".h":    "C loop nests (the front end cloop)",
	".onnx": "ONNX models (the front end onnx)",
	".ptx":  "PTX kernels (the target nvptx)",
}

// Load reads the program at path, a .tn or .tnir file, and verifies it.
func Load(path string) (*ir.Module, error) {
	if err := knownFormat(path); err != nil {
		return nil, err
	}
	text, err := readProgram(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

func knownFormat(path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	if later, ok := laterFormats[ext]; ok {
		return diag.Usagef("%s: %s come with a later version of Tenon; this one reads .tn and .tnir", path, later)
	}
	if ext != ".tn" && ext != ".tnir" {
		return diag.Usagef("%s: expected a program, a .tn or .tnir file", path)
	}
	return nil
}

// maxProgramBytes keeps a device or a data file named by mistake out.
const maxProgramBytes = 256 << 20

func readProgram(path string) (string, error) {
	pos := diag.Pos{File: path}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", diag.Errorf(pos, "this is a folder").WithExpected("a .tn or .tnir file")
	case err == nil && info.Size() > maxProgramBytes:
		return "", diag.Errorf(pos, "the file has %d bytes, too many for a program", info.Size()).WithExpected("a .tn or .tnir file")
	case err == nil:
		var data []byte
		if data, err = os.ReadFile(path); err == nil {
			return string(data), nil
		}
	}
	if os.IsNotExist(err) {
		return "", diag.Errorf(pos, "there is no such file").WithFix("check the path")
	}
	return "", diag.Errorf(pos, "the file cannot be read: %s", reason(err)).WithFix("check its permissions")
}

// reason is the cause in err without the path, which the message has already.
func reason(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Parse reads a program from memory; name says which language it is in and
// where imports are looked for.
func Parse(name, text string) (*ir.Module, error) {
	if err := knownFormat(name); err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(name), ".tn") {
		m, err := tn.Parse(name, text)
		if err == nil {
			mustVerify(m)
		}
		return m, err
	}
	m, err := ir.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return m, ir.Verify(m)
}

// mustVerify: what the front end made of a program without faults is valid, or
// the fault is ours.
func mustVerify(m *ir.Module) {
	if err := ir.Verify(m); err != nil {
		diag.Bugf("the front end made an invalid module:\n%v", err)
	}
}

// Entry finds the function that is meant: the named one, or the only one.
func Entry(m *ir.Module, name string) (*ir.Func, error) {
	bodies := m.Bodies()
	var funcs []*ir.Func
	var names []string
	for _, f := range m.Funcs() {
		if f.Name == name {
			return f, nil
		}
		if !bodies[f.Name] {
			funcs, names = append(funcs, f), append(names, f.Name)
		}
	}
	switch {
	case len(funcs) == 0:
		return nil, diag.Usagef("the program has no function")
	case name != "":
		return nil, diag.Usagef("there is no function %s%s; the program has %s", name, didYouMean(name, names), strings.Join(names, ", "))
	case len(funcs) > 1:
		return nil, diag.Usagef("the program has several functions: %s; choose one with --entry", strings.Join(names, ", "))
	}
	return funcs[0], nil
}
