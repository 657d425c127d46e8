package weights

import (
	"archive/zip"
	"errors"
	"testing"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// holdFile reads every member of a file in memory and checks what any file
// must satisfy: no panic, faults are the user's, and an array that is returned
// has all its elements in place.
func holdFile(t *testing.T, data []byte) {
	f, err := openBytes("f", data)
	userFault(t, err)
	if err != nil {
		return
	}
	for _, n := range f.Names() {
		for _, cast := range []num.Elem{num.Invalid, num.F32} {
			a, err := f.get(n, Slice{}, cast, num.Invalid)
			userFault(t, err)
			if err != nil {
				continue
			}
			if got, want := int64(len(a.Contiguous())), a.Len()*int64(a.Elem.Bytes()); got != want {
				t.Fatalf("member %q: %d bytes, want %d", n, got, want)
			}
			if cast != num.Invalid && a.Elem != cast {
				t.Fatalf("member %q is %s", n, a.Elem)
			}
		}
	}
}

func userFault(t *testing.T, err error) {
	t.Helper()
	var e *diag.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("not the user's fault: %v", err)
	}
}

func FuzzNpy(f *testing.F) {
	f.Add(npy(1, dict("'<f4'", "False", "(2, 1)"), 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(npy(2, dict("'>i2'", "True", "(2, 2)"), 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(npy(3, dict("[('a', '<f4', (2,))]", "False", "()")))
	f.Add(npy(1, "{'shape': (-1, 99999999999, 0L), 'fortran_order': False, 'descr': '<u8'}", 1))
	f.Fuzz(holdFile)
}

func FuzzNpz(f *testing.F) {
	good := npy(1, dict("'|u1'", "False", "(4,)"), 1, 2, 3, 4)
	f.Add(zipFile(f, entry{name: "a.npy", data: good}))
	f.Add(zipFile(f, entry{name: "a.npy", data: good, method: zip.Deflate}, entry{name: "b", data: good}))
	f.Add(zipFile(f, entry{name: "a.npy", data: good, packed: deflated(f, good), method: zip.Deflate, size: 1 << 40}))
	f.Add([]byte("PK\x05\x06\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(holdFile)
}

func FuzzSafetensors(f *testing.F) {
	f.Add(st(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"a":"b"}}`, 1, 2, 3, 4))
	f.Add(st(`{"a":{"dtype":"BF16","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`))
	f.Add(st(`{"b":{"dtype":"U64","shape":[],"data_offsets":[1,9]},"a":{"shape":[1],"dtype":"BOOL","data_offsets":[0,1]}} `, 2, 1, 1, 1, 1, 1, 1, 1, 1))
	f.Fuzz(holdFile)
}

// FuzzValue parses any text; what it accepts and needs no file is evaluated.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"f.npz:x[1:, ::-1] as f32", "rand(2,3):7", "iota(300)[::-7] as i8", "-1.5e300", "0x7fffffffffffffff as f16", "zeros(4,0)[1, ...]", "true as bool"} {
		f.Add(s)
	}
	old := memoryLimit
	memoryLimit = func() int64 { return 1 << 20 }
	f.Cleanup(func() { memoryLimit = old })
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseValue(s)
		if err != nil {
			if diag.ExitCode(err) != diag.ExitUsage {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if v.File != "" {
			return
		}
		a, err := v.Load(Any)
		userFault(t, err)
		if err == nil && int64(len(a.Contiguous())) != a.Len()*int64(a.Elem.Bytes()) {
			t.Fatalf("%q: %+v", s, a)
		}
	})
}
