package cache

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asWriter makes the test binary a process that uses a store until it is
// killed.
const asWriter = "TENON_TEST_AS_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asWriter); dir != "" {
		useStore(dir, 1<<30)
	}
	os.Exit(m.Run())
}

// content is what stands under the n-th key, a few hundred KB.
func content(n int) []byte {
	data := make([]byte, 200_000+n*1000)
	r := rand.New(rand.NewSource(int64(n)))
	r.Read(data)
	return data
}

const keys = 6

// useStore reads and writes entries; what it reads must be what belongs there.
func useStore(dir string, times int) {
	s := New(dir, 3*250_000, func(text string) { fmt.Println(text); os.Exit(1) }) // room for half of them
	for i := range times {
		n := (i*7 + os.Getpid()) % keys
		data, ok := s.Get(Key("entry", fmt.Sprint(n)))
		switch {
		case ok && !bytes.Equal(data, content(n)):
			fmt.Println("another's content")
			os.Exit(1)
		case !ok:
			s.Put(Key("entry", fmt.Sprint(n)), content(n))
		}
	}
	os.Exit(0)
}

// quiet fails the test if the store has something to say.
func quiet(t *testing.T, limit int64) *Store {
	return New(filepath.Join(t.TempDir(), "cache"), limit, func(text string) { t.Error(text) })
}

func TestKeepsWhatIsPut(t *testing.T) {
	s := quiet(t, DefaultLimit)
	if _, ok := s.Get(Key("a")); ok {
		t.Error("an empty store has an entry")
	}
	s.Put(Key("a"), []byte("one"))
	s.Put(Key("b"), nil)
	if data, ok := s.Get(Key("a")); !ok || string(data) != "one" {
		t.Errorf("%q %v", data, ok)
	}
	if data, ok := s.Get(Key("b")); !ok || len(data) != 0 {
		t.Errorf("%q %v", data, ok)
	}
	if n, size, err := s.Usage(); n != 2 || size == 0 || err != nil {
		t.Errorf("%d entries, %d bytes, %v", n, size, err)
	}
	if n, err := s.Clear(); n != 2 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	if n, size, _ := s.Usage(); n != 0 || size != 0 {
		t.Errorf("%d entries, %d bytes are left", n, size)
	}
}

func TestKeysDoNotRunTogether(t *testing.T) {
	if Key("ab", "c") == Key("a", "bc") || Key("a") == Key("a", "") {
		t.Error("two lists of parts have one key")
	}
	if Fingerprint() == "" {
		t.Error("this program has no fingerprint")
	}
}

// However an entry is damaged, it is not used, it is said, and it goes.
func TestDamagedEntries(t *testing.T) {
	whole := pack([]byte("some content"))
	damages := map[string][]byte{"empty": nil, "foreign": []byte("hello\n"), "magic": []byte(magic), "longer": append(whole[:len(whole):len(whole)], 'x')}
	for n := range whole {
		damages[fmt.Sprintf("cut to %d", n)] = whole[:n]
		flipped := bytes.Clone(whole)
		flipped[n] ^= 4
		damages[fmt.Sprintf("byte %d", n)] = flipped
	}
	for name, raw := range damages {
		said := []string{}
		s := New(t.TempDir(), DefaultLimit, func(text string) { said = append(said, text) })
		path := filepath.Join(s.Dir, Key("a"))
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, ok := s.Get(Key("a"))
		_, gone := os.Stat(path)
		if ok || gone == nil || len(said) != 1 || !strings.Contains(said[0], "damaged") {
			t.Errorf("%s: used %v, still there %v, said %q", name, ok, gone == nil, said)
		}
		if s.Get(Key("a")); len(said) != 1 {
			t.Errorf("%s: said %q", name, said)
		}
	}
}

// Entries that were not used for longest go first.
func TestBounded(t *testing.T) {
	s := quiet(t, 3500)
	for i := range 4 {
		if i == 3 {
			s.Get(Key("0")) // used again
		}
		s.Put(Key(fmt.Sprint(i)), make([]byte, 1000))
		old := time.Now().Add(time.Duration(i-100) * time.Minute)
		if i < 3 {
			os.Chtimes(s.path(Key(fmt.Sprint(i))), old, old)
		}
	}
	for i, want := range []bool{true, false, true, true} {
		if _, ok := s.Get(Key(fmt.Sprint(i))); ok != want {
			t.Errorf("entry %d is there: %v", i, ok)
		}
	}
	s.Put(Key("big"), make([]byte, 4000))
	if n, size, _ := s.Usage(); size > 3500 {
		t.Errorf("%d entries with %d bytes", n, size)
	}
}

// full is a file on a disk without room.
type full struct{ *os.File }

func (f full) Write(p []byte) (int, error) {
	n, _ := f.File.Write(p[:len(p)/2])
	return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}

// A folder that cannot be written to, and a full disk, are said once and leave
// nothing behind.
func TestCannotWrite(t *testing.T) {
	said := []string{}
	warn := func(text string) { said = append(said, text) }
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(filepath.Join(plain, "cache"), DefaultLimit, warn)
	s.Put(Key("a"), []byte("x"))
	s.Put(Key("a"), []byte("x"))
	if _, ok := s.Get(Key("a")); ok || len(said) != 1 || !strings.Contains(said[0], "cannot be") {
		t.Errorf("%v, said %q", ok, said)
	}
	said = nil
	s = New(t.TempDir(), DefaultLimit, warn)
	s.create = func(dir string) (file, error) {
		f, err := os.CreateTemp(dir, "tmp-*")
		return full{f}, err
	}
	s.Put(Key("a"), []byte("content"))
	left, _ := os.ReadDir(s.Dir)
	if len(said) != 1 || !strings.Contains(said[0], "no space left") || len(left) != 0 {
		t.Errorf("said %q, left %v", said, left)
	}
}

// What a killed writer leaves is removed in time; what one at work holds is not.
func TestAbandonedFiles(t *testing.T) {
	s := quiet(t, DefaultLimit)
	s.Put(Key("a"), []byte("x"))
	long := time.Now().Add(-2 * abandoned)
	for name, used := range map[string]time.Time{"tmp-1": time.Now(), "tmp-2": long, "other": long} {
		os.WriteFile(s.path(name), nil, 0o600)
		os.Chtimes(s.path(name), used, used)
	}
	s.Put(Key("b"), []byte("x"))
	for name, want := range map[string]bool{"tmp-1": true, "tmp-2": false, "other": true} {
		if _, err := os.Stat(s.path(name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"": DefaultLimit, "0": 0, "17": 17, "3K": 3072, "2G": 2 << 30, "x": -1, "-1": -1, "5T": -1, "1KK": -1, "9999999999G": -1, "K": -1} {
		got, err := parseSize(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// Processes that read, write and trim one folder at once, some of them killed
// in the middle, never see anything but whole entries.
func TestProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewSource(1))
	for round := range 4 {
		var running []*exec.Cmd
		for range 4 {
			c := exec.Command(self)
			c.Env = append(os.Environ(), asWriter+"="+dir)
			c.Stdout = &strings.Builder{}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, c)
		}
		for _, c := range running {
			time.Sleep(time.Duration(r.Intn(80)) * time.Millisecond)
			c.Process.Kill()
			c.Wait()
			if out := c.Stdout.(*strings.Builder).String(); out != "" {
				t.Errorf("round %d: %s", round, out)
			}
		}
		s := New(dir, DefaultLimit, func(text string) { t.Error(text) })
		for n := range keys {
			if data, ok := s.Get(Key("entry", fmt.Sprint(n))); ok && !bytes.Equal(data, content(n)) {
				t.Errorf("round %d: entry %d has another's content", round, n)
			}
		}
	}
	if n, _, err := New(dir, 0, nil).Usage(); n == 0 || err != nil {
		t.Errorf("the processes left %d entries, %v", n, err)
	}
}
