package weights

import (
	"encoding/binary"
	"fmt"
)

const (
	npyMagic = "\x93NUMPY"

	// maxNpyHeader bounds the header. NumPy itself refuses more than 10,000
	// bytes; only structured types, which are not read, need more.
	maxNpyHeader = 128 << 10
)

// An npyHeader says how the bytes after it are to be read.
type npyHeader struct {
	dt    dtype
	shape []int64
	fort  bool
	bytes int64 // of the data; 0 if the type's size is not known
	start int64 // where the data begins
}

func (f *File) readNpy() error {
	st, err := parseNpy(f.data)
	if err != nil {
		return f.fault("%s", err)
	}
	return f.add("", func() (stored, error) { return st, nil })
}

// parseNpy reads a whole npy file. Bytes after the array are ignored, as NumPy
// does: several arrays may be saved to one file.
func parseNpy(data []byte) (stored, error) {
	need, err := npyHeaderLen(data)
	if err != nil {
		return stored{}, err
	}
	if need > int64(len(data)) {
		return stored{}, fmt.Errorf("the file is truncated: its header has %d bytes, the file %d", need, len(data))
	}
	h, err := parseNpyHeader(data[:need])
	if err != nil {
		return stored{}, err
	}
	if have := int64(len(data)) - h.start; h.bytes > have {
		return stored{}, fmt.Errorf("the file is truncated: shape %s of %s needs %d bytes, there are %d",
			shapeString(h.shape), h.dt.name, h.bytes, have)
	}
	return h.stored(data[h.start : h.start+h.bytes]), nil
}

func (h npyHeader) stored(data []byte) stored {
	strides := cStrides(h.shape)
	if h.fort {
		strides = fStrides(h.shape)
	}
	return stored{dt: h.dt, view: view{shape: h.shape, strides: strides}, data: data}
}

// npyPrelude is the longest fixed part: magic, version, 4-byte length.
const npyPrelude = 12

// npyHeaderLen reads the fixed part and returns where the data begins, which
// may lie behind the end of data.
func npyHeaderLen(data []byte) (int64, error) {
	if len(data) < npyPrelude || string(data[:6]) != npyMagic {
		return 0, fmt.Errorf("the npy header is truncated or damaged")
	}
	var n int64
	switch major := data[6]; major {
	case 1:
		n = 10 + int64(binary.LittleEndian.Uint16(data[8:]))
	case 2, 3:
		n = 12 + int64(binary.LittleEndian.Uint32(data[8:]))
	default:
		return 0, fmt.Errorf("npy version %d.%d is not known; expected 1, 2 or 3", major, data[7])
	}
	if n > maxNpyHeader {
		return 0, fmt.Errorf("the npy header claims %d bytes, more than the %d that are allowed", n, maxNpyHeader)
	}
	return n, nil
}

// parseNpyHeader reads the dictionary of a header that is complete.
func parseNpyHeader(data []byte) (npyHeader, error) {
	text := data[10:]
	if data[6] != 1 {
		text = data[npyPrelude:]
	}
	v, err := parseLiteral(string(text))
	if err != nil {
		return npyHeader{}, fmt.Errorf("npy header: %w", err)
	}
	dict, ok := v.(map[string]any)
	if !ok {
		return npyHeader{}, fmt.Errorf("npy header: expected a dictionary")
	}
	h := npyHeader{start: int64(len(data))}
	if err := h.fill(dict); err != nil {
		return npyHeader{}, fmt.Errorf("npy header: %w", err)
	}
	h.bytes, err = byteSize(h.shape, h.dt.size)
	return h, err
}

func (h *npyHeader) fill(dict map[string]any) error {
	descr, hasDescr := dict["descr"]
	fort, isBool := dict["fortran_order"].(bool)
	shape, isTuple := dict["shape"].([]any)
	switch {
	case !hasDescr || len(dict) != 3:
		return fmt.Errorf("expected the keys descr, fortran_order and shape")
	case !isBool:
		return fmt.Errorf("fortran_order is neither True nor False")
	case !isTuple || len(shape) > maxRank:
		return fmt.Errorf("shape is not a tuple of at most %d integers", maxRank)
	}
	h.fort = fort
	h.shape = make([]int64, len(shape))
	for i, d := range shape {
		n, ok := d.(int64)
		if !ok || n < 0 {
			return fmt.Errorf("dim %d of the shape is not a size: %s", i, quoteShort(fmt.Sprint(d)))
		}
		h.shape[i] = n
	}
	switch d := descr.(type) {
	case string:
		h.dt = npyDtype(d)
	case []any:
		h.dt = dtype{name: "structured", why: "records with several fields; save each field as its own array"}
	default:
		return fmt.Errorf("descr is not a type")
	}
	return nil
}
