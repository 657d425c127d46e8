package weights

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

const (
	// maxDeflate is the best ratio that deflate can reach; a member that
	// claims more is a lie that can be seen before it is unpacked.
	maxDeflate = 1032

	// firstRead is allocated on the word of the file; beyond it a buffer
	// grows with the bytes that have really come.
	firstRead = 16 << 20

	zipEncrypted = 1
)

func (f *File) readNpz() error {
	z, err := zip.NewReader(bytes.NewReader(f.data), int64(len(f.data)))
	if err != nil {
		return f.fault("the npz file is damaged: %s", strings.TrimPrefix(err.Error(), "zip: ")).
			WithFix("write it again; a download may be incomplete")
	}
	for _, entry := range z.File {
		if strings.HasSuffix(entry.Name, "/") {
			continue // a folder
		}
		name := strings.TrimSuffix(entry.Name, ".npy")
		load := func() (stored, error) {
			st, err := f.readEntry(entry)
			if err != nil {
				return st, f.fault("member %s: %s", quoteShort(name), err)
			}
			return st, nil
		}
		if err := f.add(name, load); err != nil {
			return err
		}
	}
	return nil
}

// readEntry returns a stored member in place and unpacks a compressed one.
func (f *File) readEntry(e *zip.File) (stored, error) {
	size := e.UncompressedSize64
	start, err := e.DataOffset()
	total := uint64(len(f.data))
	switch {
	case err != nil:
		return stored{}, fmt.Errorf("the zip entry is damaged: %s", strings.TrimPrefix(err.Error(), "zip: "))
	case uint64(start) > total || e.CompressedSize64 > total-uint64(start):
		return stored{}, fmt.Errorf("the file is truncated: the member ends behind the end of the file")
	case e.Flags&zipEncrypted != 0:
		return stored{}, fmt.Errorf("the member is encrypted")
	}
	switch e.Method {
	case zip.Store:
		if e.CompressedSize64 != size {
			return stored{}, fmt.Errorf("stored with two sizes, %d and %d bytes", e.CompressedSize64, size)
		}
		return storedEntry(f.data[uint64(start):uint64(start)+size], e.CRC32)
	case zip.Deflate:
		if size/maxDeflate > e.CompressedSize64+1 {
			return stored{}, fmt.Errorf("%d compressed bytes cannot hold the %d bytes that it claims", e.CompressedSize64, size)
		}
		return inflateEntry(e)
	}
	return stored{}, fmt.Errorf("compression method %d is not supported; use numpy.savez or numpy.savez_compressed", e.Method)
}

func storedEntry(data []byte, crc uint32) (stored, error) {
	h, err := readNpyHeader(bytes.NewReader(data))
	if err != nil {
		return stored{}, err
	}
	if h.dt.size == 0 {
		return h.stored(nil), nil // a type that is refused later, by name
	}
	if err := h.fills(uint64(len(data))); err != nil {
		return stored{}, err
	}
	if crc32.ChecksumIEEE(data) != crc {
		return stored{}, fmt.Errorf("the data are damaged: wrong checksum")
	}
	return h.stored(data[h.start:]), nil
}

// fills checks that a member has the size that its header asks for.
func (h npyHeader) fills(size uint64) error {
	if uint64(h.start+h.bytes) == size {
		return nil
	}
	return fmt.Errorf("shape %s of %s needs %d bytes with its header, the member has %d",
		shapeString(h.shape), h.dt.name, h.start+h.bytes, size)
}

// inflateEntry unpacks a member. The sizes in the npy header and in the zip
// directory must agree before the data are unpacked, so that the work and the
// memory are bounded by an array that the caller could have meant.
func inflateEntry(e *zip.File) (stored, error) {
	r, err := e.Open()
	if err != nil {
		return stored{}, err
	}
	defer r.Close()
	h, err := readNpyHeader(r)
	if err != nil {
		return stored{}, err
	}
	if h.dt.size == 0 {
		return h.stored(nil), nil // a type that is refused later, by name
	}
	if err := h.fills(e.UncompressedSize64); err != nil {
		return stored{}, err
	}
	if err := fitsMemory(h.shape, h.dt.name, h.bytes); err != nil {
		return stored{}, err
	}
	data, err := readGrowing(r, h.bytes)
	if err != nil {
		return stored{}, fmt.Errorf("the data are damaged: %s", strings.TrimPrefix(err.Error(), "zip: "))
	}
	return h.stored(data), nil
}

func readNpyHeader(r io.Reader) (npyHeader, error) {
	head := make([]byte, npyPrelude)
	if _, err := io.ReadFull(r, head); err != nil {
		return npyHeader{}, fmt.Errorf("this is not an npy array: %s", err)
	}
	n, err := npyHeaderLen(head)
	if err != nil {
		return npyHeader{}, err
	}
	if n < npyPrelude {
		return npyHeader{}, fmt.Errorf("the npy header is truncated or damaged")
	}
	head = append(head, make([]byte, n-npyPrelude)...)
	if _, err := io.ReadFull(r, head[npyPrelude:]); err != nil {
		return npyHeader{}, fmt.Errorf("the npy header is truncated: %s", err)
	}
	return parseNpyHeader(head)
}

// readGrowing reads exactly n bytes, and then the end, where the zip reader
// compares length and checksum.
func readGrowing(r io.Reader, n int64) ([]byte, error) {
	data := make([]byte, min(n, firstRead))
	for done := int64(0); ; {
		if _, err := io.ReadFull(r, data[done:]); err != nil {
			return nil, err
		}
		if done = int64(len(data)); done == n {
			break
		}
		more := make([]byte, min(2*done, n))
		copy(more, data)
		data = more
	}
	if extra, err := io.CopyN(io.Discard, r, 1); extra != 0 || err != io.EOF {
		if err == nil || err == io.EOF {
			err = fmt.Errorf("more data than declared")
		}
		return nil, err
	}
	return data, nil
}
