package cache

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"sync"
)

// Key names what is made from the given parts: a hash in which no part can run
// into the next.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		io.WriteString(h, p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Fingerprint tells this build of the compiler from any other: the build ID
// that Go's linker puts into the running program, or the hash of the program
// where it has none. "" says that the program cannot be read; then nothing must
// be kept.
var Fingerprint = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if id := buildID(path); id != "" {
		return id
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})

// buildID reads Go's note: sizes of name and content, a type, the name, the
// content. Reading it takes microseconds, hashing the whole program 30 ms.
func buildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := f.Section(".note.go.buildid")
	if s == nil || s.Size > 1<<12 {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 16 {
		return ""
	}
	name, size := f.ByteOrder.Uint32(note), f.ByteOrder.Uint32(note[4:])
	if name != 4 || string(note[12:16]) != "Go\x00\x00" || int(size) > len(note)-16 {
		return ""
	}
	return string(note[16 : 16+size])
}
