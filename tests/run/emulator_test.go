package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/runtime"
)

// touchSource adds to the element that an argument names, inside the tensor or
// not, as no compiled function does.
const touchSource = `
#include <stdint.h>
typedef struct { int32_t *data; const int64_t *shape, *strides; } tensor;
typedef struct { int32_t code, arg, dim; } error;
int touch(const struct { int8_t a; int64_t at; tensor x; } *p, error *e) {
    p->x.data[p->at] += p->a;
    e->code = 0;
    return p->x.strides ? 3 : 0;
}
int refuse(const void *p, error *e) { (void)p; return e->code = 2; }
`

// touching is that code on the last machine of the list.
func touching(t *testing.T) (*Machine, library) {
	t.Helper()
	on := Machines[len(Machines)-1]
	if why := on.Absent(); why != "" {
		t.Skipf("SKIP, code for AArch64 is not run: %s", why)
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, "touch.c"), []byte(touchSource))
	cmd := exec.Command(crossGCC, "-shared", "-fPIC", "-o", "touch.so", "touch.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	so, err := os.ReadFile(filepath.Join(dir, "touch.so"))
	if err != nil {
		t.Fatal(err)
	}
	lib, err := on.load(so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lib.close)
	return on, lib
}

// An access outside a tensor ends the process, which is told and not the end of
// the test; the next call has a new one.
func TestEmulatorGuardsTensors(t *testing.T) {
	_, lib := touching(t)
	scalar := func(e num.Elem, n int64) passed {
		return passed{scalar: runtime.Scalar{Elem: e, Cell: num.FromInt(n)}}
	}
	for _, c := range []struct {
		layout Layout
		at     int64
		dies   bool
	}{{0, 4, false}, {0, 5, true}, {1, 0, false}, {1, -1, true}, {0, 0, false}, {1, 4, false}} {
		x, err := put(num.I32, []int64{5}, c.layout)
		if err != nil {
			t.Fatal(err)
		}
		defer x.free()
		for i := range x.room {
			x.room[i] = 1
		}
		status, err := lib.call("touch", []passed{scalar(num.I8, 3), scalar(num.I64, c.at), {place: x}})
		if c.dies {
			if err == nil || !strings.Contains(err.Error(), "ended in touch") {
				t.Errorf("layout %d: an access to element %d of 5: %v", c.layout, c.at, err)
			}
			continue
		}
		if err != nil || status.Code != runtime.OK {
			t.Errorf("layout %d: element %d: %v, %v", c.layout, c.at, status, err)
		}
		for i := range int64(5) {
			want := int64(0x01010101)
			if i == c.at {
				want += 3
			}
			if got := num.Int(num.Decode(num.I32, x.room[4*i:])); got != want {
				t.Errorf("layout %d: element %d is %#x after a write to %d, want %#x", c.layout, i, got, c.at, want)
			}
		}
	}
}

func TestEmulatorTellsWhatFails(t *testing.T) {
	on, lib := touching(t)
	if status, err := lib.call("refuse", nil); err != nil || status.Code != runtime.Null {
		t.Errorf("a code: %v, %v", status, err)
	}
	if _, err := lib.call("nothing", nil); err == nil || !strings.Contains(err.Error(), "no such function") {
		t.Errorf("a function that is not there: %v", err)
	}
	if _, err := on.load([]byte("no library")); err == nil || !strings.Contains(err.Error(), "invalid ELF header") && !strings.Contains(err.Error(), "file too short") {
		t.Errorf("a broken library: %v", err)
	}
}
