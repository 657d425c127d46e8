package weights

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/diag"
)

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "y.npy")
	write := func(text string, fail error) error {
		return WriteWhole(path, func(w io.Writer) error {
			io.WriteString(w, text)
			return fail
		})
	}
	if err := write("old", nil); err != nil {
		t.Fatal(err)
	}
	err := write(strings.Repeat("x", 3<<20), errors.New("disk on fire"))
	if err == nil || !strings.Contains(err.Error(), "y.npy: cannot write: disk on fire") || diag.ExitCode(err) != diag.ExitUser {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" || listing(t, dir) != "y.npy" {
		t.Errorf("after a failure: %q in %s", data, listing(t, dir))
	}
	link := filepath.Join(dir, "link.npy")
	if err := os.Symlink("y.npy", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteNpy(link, arange(t, 2)); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if f, err := Open(path); err != nil || f.Close() != nil {
		t.Errorf("the link's target: %v", err)
	}
	if err := WriteNpy(filepath.Join(dir, "no", "y.npy"), arange(t, 2)); err == nil || !strings.Contains(err.Error(), "the folder does not exist") {
		t.Errorf("got %v", err)
	}
	if err := WriteNpy(dir, arange(t, 2)); err == nil || !strings.Contains(err.Error(), "this is a folder") {
		t.Errorf("got %v", err)
	}
	if err := WriteNpy("/dev/null", arange(t, 2)); err != nil {
		t.Errorf("/dev/null: %v", err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatal("/dev/null was replaced")
	}
}

func TestUnwritableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: root may write everywhere; run as another user to test refused files and folders")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "y.npy")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := WriteNpy(path, arange(t, 2)); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a read-only file: %v", err)
	}
	os.Chmod(dir, 0o555)
	defer os.Chmod(dir, 0o777)
	if err := WriteNpy(filepath.Join(dir, "z.npy"), arange(t, 2)); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a read-only folder: %v", err)
	}
}

func TestRemoveTemps(t *testing.T) {
	dir := t.TempDir()
	err := WriteWhole(filepath.Join(dir, "y.npy"), func(w io.Writer) error {
		if got := listing(t, dir); !strings.HasSuffix(got, ".tmp") {
			t.Errorf("while writing: %q", got)
		}
		RemoveTemps() // what the interrupt handler does before it exits
		if got := listing(t, dir); got != "" {
			t.Errorf("after the interrupt: %q", got)
		}
		return nil
	})
	if err == nil {
		t.Error("the rename of a removed file succeeded")
	}
}

func TestWriteByExtension(t *testing.T) {
	dir := t.TempDir()
	two := []*Array{arange(t, 1), arange(t, 2)}
	if err := Write(dir+"/a.npy", []string{"a", "b"}, two); err == nil || !strings.Contains(err.Error(), "holds one array") {
		t.Errorf("got %v", err)
	}
	if err := Write(dir+"/a.NPZ", []string{"a", "b"}, two); err != nil {
		t.Error(err)
	}
	f, err := Open(dir + "/a.NPZ")
	if err != nil || f.Format != "npz" || len(f.Names()) != 2 {
		t.Errorf("%v %v", f, err)
	}
}
