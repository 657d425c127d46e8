package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tenon/internal/diag"
)

// readAll opens a file and reads every member; the first fault is returned.
func readAll(path string, data []byte) error {
	f, err := openBytes(path, data)
	if err != nil {
		return err
	}
	for _, n := range f.Names() {
		if _, err := f.Get(n); err != nil {
			return err
		}
	}
	return nil
}

// refused reads data, which must fail as the user's fault with msg in the
// message, within a second and 4 MiB of allocations.
func refused(t *testing.T, name string, data []byte, msg string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := readAll(name, data)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	var e *diag.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), msg) {
		t.Errorf("%s: got %v, want %q", name, err, msg)
	}
	if err != nil && len(err.Error()) > 1000 {
		t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 || took > time.Second {
		t.Errorf("%s: took %v and allocated %d bytes", name, took, n)
	}
}

func TestHostileNpy(t *testing.T) {
	u1 := func(shape string) []byte { return npy(1, dict("'|u1'", "False", shape), 1, 2, 3, 4) }
	good := u1("(4,)")
	for name, c := range map[string]struct {
		file []byte
		msg  string
	}{
		"empty file":        {nil, "the file is empty"},
		"text":              {[]byte("hello, world"), "neither npy, npz nor safetensors"},
		"magic only":        {[]byte(npyMagic), "truncated"},
		"no dictionary":     {npy(1, ""), "header"},
		"version 9":         {npy(9, dict("'|u1'", "False", "(4,)")), "version 9.0"},
		"length past end":   {append([]byte(npyMagic+"\x01\x00"), 0xff, 0xff, '{', ' '), "truncated"},
		"length 4 GiB":      {append([]byte(npyMagic+"\x02\x00"), 0xff, 0xff, 0xff, 0xff, '{'), "claims 4294967307 bytes"},
		"data truncated":    {good[:len(good)-1], "needs 4 bytes, there are 3"},
		"negative dim":      {u1("(-4,)"), `not a size: "-4"`},
		"two negative dims": {u1("(-2, -2)"), "not a size"},
		"huge dim":          {u1("(9223372036854775807,)"), "truncated"},
		"dim over 64 bits":  {u1("(9223372036854775808,)"), "does not fit in 64 bits"},
		"product wraps":     {u1("(4294967296, 4294967296, 4)"), "overflows"},
		"wraps but empty":   {u1("(4294967296, 4294967296, 0)"), "overflows"},
		"float dim":         {u1("(4.0,)"), "expected"},
		"bool dim":          {u1("(True,)"), "not a size"},
		"shape a string":    {u1("'4'"), "not a tuple"},
		"long dim":          {npy(2, dict("'|u1'", "False", "('"+strings.Repeat("9", 60000)+"',)")), "not a size"},
		"long type":         {npy(2, dict("'S"+strings.Repeat("0", 60000)+"3'", "False", "(1,)"), 1, 2, 3), "byte strings"},
		"negative type":     {npy(1, dict("'|S-3'", "False", "()"), 1, 2, 3), "byte strings"},
		"rank 65":           {u1("(" + strings.Repeat("1,", 65) + ")"), "at most 64"},
		"fortran 1":         {npy(1, dict("'|u1'", "1", "(4,)")), "neither True nor False"},
		"descr a number":    {npy(1, dict("4", "False", "(4,)")), "descr is not a type"},
		"missing key":       {npy(1, "{'descr': '|u1', 'shape': (4,)}"), "expected the keys"},
		"extra key":         {npy(1, "{'descr': '|u1', 'shape': (4,), 'fortran_order': False, 'x': 1}"), "expected the keys"},
		"key twice":         {npy(1, "{'descr': '|u1', 'descr': '|u1', 'shape': (4,)}"), "stands twice"},
		"no dictionary end": {npy(1, "{'descr': '|u1', "), "unexpected end"},
		"trailing code":     {npy(1, "{'descr': '|u1'} + exit()"), "unexpected text"},
		"a call":            {npy(1, "{'descr': exec('x')}"), "unexpected character"},
		"open string":       {npy(1, "{'descr"), "string without an end"},
		"list for dict":     {npy(1, "[1, 2]"), "expected a dictionary"},
		"deep":              {npy(2, strings.Repeat("[", 100000)), "nested too deeply"},
		"deep dict":         {npy(2, strings.Repeat("{'a':", 20000)), "nested too deeply"},
		"pickle":            {[]byte("\x80\x04\x95\x00\x00"), "pickle"},
		"gguf":              {[]byte("GGUF\x03\x00\x00\x00{"), "neither"},
	} {
		if name == "gguf" {
			c.file, c.msg = []byte("GGUF\x03\x00\x00\x00\x00"), "a GGUF file"
		}
		refused(t, name, c.file, c.msg)
	}
	for cut := range good {
		refused(t, "cut", good[:cut], "")
	}
}

type entry struct {
	name   string
	data   []byte
	method uint16
	size   uint64 // claimed, if not 0
	packed []byte // compressed data, if not by the writer
	crc    uint32
	flags  uint16
}

func zipFile(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method, Flags: e.flags}
		if e.packed == nil && e.size == 0 {
			w, err := z.CreateHeader(h)
			if err == nil {
				_, err = w.Write(e.data)
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if e.packed == nil {
			e.packed = e.data
		}
		h.CompressedSize64, h.UncompressedSize64, h.CRC32 = uint64(len(e.packed)), e.size, e.crc
		if e.crc == 0 {
			h.CRC32 = crc32.ChecksumIEEE(e.data)
		}
		w, err := z.CreateRaw(h)
		if err == nil {
			_, err = w.Write(e.packed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deflated packs data as an npz writer would.
func deflated(t testing.TB, data []byte) []byte {
	t.Helper()
	file := zipFile(t, entry{name: "x", data: data, method: zip.Deflate})
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	from, err := z.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	return file[from : from+int64(z.File[0].CompressedSize64)]
}

func TestHostileNpz(t *testing.T) {
	good := npy(1, dict("'|u1'", "False", "(4,)"), 1, 2, 3, 4)
	bomb := npy(1, dict("'|u1'", "False", "(50000000,)"), make([]byte, 50000000)...)
	packed := deflated(t, bomb)
	small := npy(1, dict("'|u1'", "False", "(4,)"), make([]byte, 50000000)...)
	lying := deflated(t, small)
	file := zipFile(t, entry{name: "a.npy", data: good}, entry{name: "b.npy", data: good, method: zip.Deflate})
	for name, c := range map[string]struct {
		file []byte
		msg  string
	}{
		"empty zip":      {append([]byte("PK\x05\x06"), make([]byte, 18)...), ""},
		"same name":      {zipFile(t, entry{name: "a.npy", data: good}, entry{name: "a.npy", data: good}), "two members"},
		"same in effect": {zipFile(t, entry{name: "a.npy", data: good}, entry{name: "a", data: good}), "two members"},
		"not npy":        {zipFile(t, entry{name: "a.npy", data: []byte("hello, this is no array")}), "truncated or damaged"},
		"short":          {zipFile(t, entry{name: "a.npy", data: []byte("x")}), "not an npy array"},
		"data missing":   {zipFile(t, entry{name: "a.npy", data: good[:len(good)-1]}), "needs"},
		"data extra":     {zipFile(t, entry{name: "a.npy", data: append(good[:len(good):len(good)], 1)}), "needs"},
		"packed missing": {zipFile(t, entry{name: "a.npy", data: good[:len(good)-1], method: zip.Deflate}), "needs"},
		"huge header":    {zipFile(t, entry{name: "a.npy", data: []byte(npyMagic + "\x02\x00\xff\xff\xff\xff0000"), method: zip.Deflate}), "claims"},
		"wrong checksum": {zipFile(t, entry{name: "a.npy", data: good, size: uint64(len(good)), crc: 7}), "wrong checksum"},
		"packed checksum": {zipFile(t, entry{name: "a.npy", data: good, packed: deflated(t, good), method: zip.Deflate,
			size: uint64(len(good)), crc: 7}), "damaged"},
		"stored sizes": {zipFile(t, entry{name: "a.npy", data: good, size: 1 << 40}), "two sizes"},
		"claims 1 TiB": {zipFile(t, entry{name: "a.npy", data: good, packed: deflated(t, good), method: zip.Deflate, size: 1 << 40}), "cannot hold"},
		"bomb that says less": {zipFile(t, entry{name: "a.npy", data: small, packed: lying, method: zip.Deflate,
			size: uint64(len(good))}), "damaged"},
		"bomb beside a small array": {zipFile(t, entry{name: "a.npy", data: small, packed: lying, method: zip.Deflate,
			size: uint64(len(small))}), "needs"},
		"header larger than the member": {zipFile(t, entry{name: "a.npy", data: bomb, packed: packed, method: zip.Deflate,
			size: 49000000}), "needs"},
		"packed cut":   {zipFile(t, entry{name: "a.npy", data: good, packed: deflated(t, good)[:20], method: zip.Deflate, size: uint64(len(good))}), ""},
		"method 12":    {zipFile(t, entry{name: "a.npy", data: good, packed: good, method: 12, size: uint64(len(good))}), "compression method 12"},
		"encrypted":    {zipFile(t, entry{name: "a.npy", data: good, packed: good, flags: 1, size: uint64(len(good))}), "encrypted"},
		"no directory": {file[:len(file)-30], "damaged"},
		"objects":      {zipFile(t, entry{name: "a.npy", data: npy(1, dict("'|O'", "False", "(1,)"), 1, 2, 3)}), "unpickled"},
	} {
		if name == "empty zip" {
			if f, err := openBytes(name, c.file); err != nil || len(f.Names()) != 0 {
				t.Errorf("%s: %v", name, err)
			} else if _, err := f.Get("x"); err == nil || !strings.Contains(err.Error(), "no members") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refused(t, name, c.file, c.msg)
	}
	for cut := range file {
		refused(t, "cut", file[:cut], "")
	}
}

// The directory's sizes are held against the file, in place.
func TestNpzEntryPastTheEnd(t *testing.T) {
	good := npy(1, dict("'|u1'", "False", "(4,)"), 1, 2, 3, 4)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		file := zipFile(t, entry{name: "a.npy", data: good, method: method})
		dir := bytes.LastIndex(file, []byte("PK\x01\x02"))
		binary.LittleEndian.PutUint32(file[dir+20:], 100000) // compressed
		binary.LittleEndian.PutUint32(file[dir+24:], 100000) // uncompressed
		refused(t, "past the end", file, "ends behind the end")
	}
}

// A large claim that stays below deflate's ratio, with little behind it,
// allocates no more than the first chunk.
func TestNpzClaimsMoreThanItHas(t *testing.T) {
	data := npy(1, dict("'|u1'", "False", "(200000000,)"), make([]byte, 1000)...)
	packed := append(deflated(t, data), make([]byte, 200000)...)
	size := uint64(len(data) - 1000 + 200000000)
	file := zipFile(t, entry{name: "a.npy", data: data, packed: packed, method: zip.Deflate, size: size})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := readAll("f.npz", file)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > firstRead+4<<20 || n > 64<<20 {
		t.Errorf("allocated %d bytes", n)
	}
}

// A member that would not fit the machine is refused before it is unpacked.
func TestNpzAboveMemory(t *testing.T) {
	old := memoryLimit
	memoryLimit = func() int64 { return 2 << 20 }
	defer func() { memoryLimit = old }()
	big := npy(1, dict("'|u1'", "False", "(3000000,)"), make([]byte, 3000000)...)
	refused(t, "npz", zipFile(t, entry{name: "a.npy", data: big, method: zip.Deflate}), "of memory that are free")
	refused(t, "big-endian npy", npy(1, dict("'>u2'", "False", "(1500000,)"), make([]byte, 3000000)...), "no counterpart")
	refused(t, "swapped npy", npy(1, dict("'>i2'", "False", "(1500000,)"), make([]byte, 3000000)...), "of memory that are free")
}

func st(header string, data ...byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), data...)
}

func TestHostileSafetensors(t *testing.T) {
	one := func(fields string) []byte { return st(`{"a":{`+fields+`}}`, 1, 2, 3, 4) }
	good := one(`"dtype":"U8","shape":[4],"data_offsets":[0,4]`)
	if err := readAll("good", good); err != nil {
		t.Fatal(err)
	}
	length := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), "{}"...) }
	for name, c := range map[string]struct {
		file []byte
		msg  string
	}{
		"length past end": {length(3), "claims 3 bytes"},
		"length 2^63":     {length(1 << 63), "claims"},
		"length max":      {length(1<<64 - 1), "claims"},
		"no json":         {st("{'a': 1}"), "safetensors header"},
		"not an object":   {st(`{"a":[]}`), "expected {"},
		"number":          {st(`{"a":1}`), "expected {"},
		"null":            {st(`{"a":null}`), "expected {"},
		"cut json":        {st(`{"a":{"dtype":"U8"`), ""},
		"after the end":   {st(`{} {}`), "after the header"},
		"same name":       {st(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, 1, 2, 3, 4), "two members"},
		"key twice":       {one(`"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]`), "twice"},
		"unknown key":     {one(`"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1`), "unknown"},
		"missing key":     {one(`"dtype":"U8","shape":[4]`), "expected dtype"},
		"negative dim":    {one(`"dtype":"U8","shape":[-4],"data_offsets":[0,4]`), "sizes"},
		"float dim":       {one(`"dtype":"U8","shape":[4.0],"data_offsets":[0,4]`), "sizes"},
		"string dim":      {one(`"dtype":"U8","shape":["4"],"data_offsets":[0,4]`), "sizes"},
		"product wraps":   {one(`"dtype":"U8","shape":[4294967296,4294967296,4],"data_offsets":[0,4]`), "overflows"},
		"huge dim":        {one(`"dtype":"F64","shape":[9223372036854775807],"data_offsets":[0,4]`), "overflows"},
		"wrong size":      {one(`"dtype":"U8","shape":[3],"data_offsets":[0,4]`), "needs 3 bytes"},
		"one offset":      {one(`"dtype":"U8","shape":[4],"data_offsets":[4]`), "two numbers"},
		"three offsets":   {one(`"dtype":"U8","shape":[4],"data_offsets":[0,4,4]`), "sizes"},
		"backwards":       {one(`"dtype":"U8","shape":[4],"data_offsets":[4,0]`), "outside"},
		"past the end":    {one(`"dtype":"U8","shape":[5],"data_offsets":[0,5]`), "outside"},
		"offset max":      {one(`"dtype":"U8","shape":[4],"data_offsets":[9223372036854775803,9223372036854775807]`), "outside"},
		"not all used":    {one(`"dtype":"U8","shape":[3],"data_offsets":[0,3]`), "belong to no tensor"},
		"gap":             {one(`"dtype":"U8","shape":[3],"data_offsets":[1,4]`), "gap"},
		"overlap":         {st(`{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, 1, 2, 3, 4), "overlaps"},
		"unknown dtype":   {one(`"dtype":"X9","shape":[4],"data_offsets":[0,4]`), "unknown type"},
		"float8":          {one(`"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]`), "8-bit floats"},
		"u16":             {one(`"dtype":"U16","shape":[2],"data_offsets":[0,4]`), "add ` as i32`"},
		"deep":            {st(`{"__metadata__":` + strings.Repeat("[", 16000000)), "nested too deeply"},
		"deep tensor":     {st(`{"a":` + strings.Repeat(`{"dtype":`, 20000)), "expected a string"},
	} {
		refused(t, name, c.file, c.msg)
	}
	for cut := range good {
		refused(t, "cut", good[:cut], "")
	}
}

// A sparse file of many terabytes with a small claim costs nothing, and a
// false claim in a real file is refused.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npy")
	if err := os.WriteFile(path, npy(1, dict("'<f4'", "False", "(1000000000000,)"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("got %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "pipe")); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("got %v", err)
	}
}
