package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// npyDescr is how npy spells an element type. bf16 is absent: npy has no such
// type, and writing another in its place would be a silent conversion.
var npyDescr = map[num.Elem]string{
	num.F64: "<f8", num.F32: "<f4", num.F16: "<f2",
	num.I64: "<i8", num.I32: "<i4", num.I16: "<i2", num.I8: "|i1",
	num.U8: "|u1", num.Bool: "|b1", num.Index: "<i8",
}

func checkOutName(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".npz", ".npy":
		return nil
	case "":
		if strings.HasPrefix(path, "/dev/") {
			return nil
		}
		return diag.Usagef("--out %s: expected a file name that ends in .npy or .npz", path)
	default:
		return diag.Usagef("--out %s: results are written as .npy or .npz, not %s", path, ext)
	}
}

// Write writes one array to an npy file, or arrays to an npz file, as the
// extension says; a device takes npy.
func Write(path string, names []string, arrays []*Array) error {
	return WriteThen(path, names, arrays, nil)
}

// WriteThen is Write that calls then once the data are on disk, before the file
// takes its name; if then fails, the file is not written. So several files are
// written all or none: each in the then of the one before.
func WriteThen(path string, names []string, arrays []*Array, then func() error) error {
	if strings.EqualFold(filepath.Ext(path), ".npz") {
		return writeNpz(path, names, arrays, then)
	}
	if len(arrays) != 1 {
		return diag.Errorf(diag.Pos{File: path}, "an npy file holds one array, there are %d results", len(arrays)).
			WithFix("write an .npz file, or each result to its own file")
	}
	return writeNpy(path, arrays[0], then)
}

// WriteNpy writes a in C order (npy version 1.0), whole or not at all. index
// is written as int64; bf16, which npy lacks, is an error.
func WriteNpy(path string, a *Array) error { return writeNpy(path, a, nil) }

// WriteConst writes a as the open function of compiled code reads a const
// parameter: an npy file in which bf16 are their bits, as `<u2`.
func WriteConst(path string, a *Array) error {
	descr, ok := npyDescr[a.Elem]
	if !ok {
		descr = "<u2"
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = writeParts(file, npyHeadOf(descr, a.Shape), a.Contiguous())
	return errors.Join(err, file.Close())
}

func writeNpy(path string, a *Array, then func() error) error {
	head, err := npyHead(path, a)
	if err != nil {
		return err
	}
	return WriteWholeThen(path, func(w io.Writer) error { return writeParts(w, head, a.Contiguous()) }, then)
}

// WriteNpz writes an uncompressed npz file, whole or not at all. The array
// names[i] becomes the member names[i]; two equal names are an error.
func WriteNpz(path string, names []string, arrays []*Array) error {
	return writeNpz(path, names, arrays, nil)
}

func writeNpz(path string, names []string, arrays []*Array, then func() error) error {
	if len(names) != len(arrays) {
		diag.Bugf("weights.WriteNpz: %d names for %d arrays", len(names), len(arrays))
	}
	heads := make([][]byte, len(arrays))
	seen := map[string]bool{}
	for i, a := range arrays {
		if seen[names[i]] {
			return diag.Errorf(diag.Pos{File: path}, "two results are named %q", names[i])
		}
		seen[names[i]] = true
		var err error
		if heads[i], err = npyHead(path, a); err != nil {
			return err
		}
	}
	return WriteWholeThen(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for i, a := range arrays {
			entry, err := z.CreateHeader(&zip.FileHeader{Name: names[i] + ".npy", Method: zip.Store})
			if err == nil {
				err = writeParts(entry, heads[i], a.Contiguous())
			}
			if err != nil {
				return err
			}
		}
		return z.Close()
	}, then)
}

func writeParts(w io.Writer, parts ...[]byte) error {
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// npyHead is the header of an npy file, padded so that the data are aligned
// to 64 bytes, as NumPy does for memory mapping.
func npyHead(path string, a *Array) ([]byte, error) {
	descr, ok := npyDescr[a.Elem]
	if !ok {
		return nil, diag.Errorf(diag.Pos{File: path}, "the result is %s, which npy cannot hold", a.Elem).
			WithFix("add ` as f32` behind the file's name, or cast in the program")
	}
	return npyHeadOf(descr, a.Shape), nil
}

func npyHeadOf(descr string, dims []int64) []byte {
	var shape strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&shape, "%d, ", d)
	}
	text := strings.TrimSuffix(shape.String(), " ")
	if len(dims) > 1 {
		text = strings.TrimSuffix(text, ",")
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, text)
	const fixed = 10
	pad := 63 - (fixed+len(dict))%64
	var b bytes.Buffer
	b.WriteString(npyMagic + "\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(dict)+pad+1))
	b.WriteString(dict + strings.Repeat(" ", pad) + "\n")
	return b.Bytes()
}
