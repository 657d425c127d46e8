package weights

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"tenon/internal/diag"
)

// temps are the temporary files that exist at the moment; an interrupted
// program removes them.
var temps struct {
	sync.Mutex
	names map[string]bool
}

// RemoveTemps removes the temporary files of writes in flight. It is for the
// handler of an interrupt, which exits afterwards.
func RemoveTemps() {
	temps.Lock()
	defer temps.Unlock()
	for name := range temps.names {
		os.Remove(name)
	}
}

func setTemp(name string, on bool) {
	temps.Lock()
	defer temps.Unlock()
	if temps.names == nil {
		temps.names = map[string]bool{}
	}
	if on {
		temps.names[name] = true
	} else {
		delete(temps.names, name)
	}
}

// WriteWhole writes a file whole or not at all: fill writes to a temporary
// file in the same folder, which then takes the file's name. On failure the
// temporary file is removed and an old file of that name is untouched. A
// device or pipe (/dev/stdout) is written directly.
func WriteWhole(path string, fill func(w io.Writer) error) error {
	return WriteWholeThen(path, fill, nil)
}

// WriteWholeThen is WriteWhole that calls then, if it is not nil, once the data
// are on disk, before the file takes its name; if then fails, the file is not
// written.
func WriteWholeThen(path string, fill func(w io.Writer) error, then func() error) error {
	pos := diag.Pos{File: path}
	target, direct, err := writeTarget(path)
	if err != nil {
		return writeFault(pos, err)
	}
	if then == nil {
		then = func() error { return nil }
	}
	if direct {
		if err := then(); err != nil {
			return err
		}
		return writeDirect(pos, target, fill)
	}
	file, err := createTemp(target)
	if err != nil {
		return writeFault(pos, err)
	}
	defer setTemp(file.Name(), false)
	err = buffered(file, fill)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = then()
	}
	if err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		os.Remove(file.Name())
		return writeFault(pos, err)
	}
	return nil
}

// writeTarget follows links, so that a rename does not replace a link, and
// says whether the target is a device or pipe.
func writeTarget(path string) (target string, direct bool, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, false, nil
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, errors.New("this is a folder")
	case !info.Mode().IsRegular():
		return path, true, nil
	}
	// A file that may not be written is not replaced either.
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return "", false, err
	}
	return path, false, file.Close()
}

func writeDirect(pos diag.Pos, path string, fill func(w io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return writeFault(pos, err)
	}
	err = buffered(file, fill)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return writeFault(pos, err)
	}
	return nil
}

func buffered(file *os.File, fill func(w io.Writer) error) error {
	w := bufio.NewWriterSize(file, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}

// createTemp makes a hidden file beside path. os.CreateTemp would give it mode
// 0600; this one has the mode that the user's umask gives.
func createTemp(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for try := 0; ; try++ {
		name := filepath.Join(dir, fmt.Sprintf(".%.100s.%08x.tmp", base, rand.Uint32()))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			setTemp(name, true)
		}
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return file, err
		}
	}
}

func writeFault(pos diag.Pos, err error) error {
	var e *diag.Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return diag.Errorf(pos, "cannot write: the folder does not exist").WithFix("create %s first", filepath.Dir(pos.File))
	case errors.Is(err, fs.ErrPermission):
		return diag.Errorf(pos, "cannot write: permission denied").WithFix("choose another file or folder")
	}
	return diag.Errorf(pos, "cannot write: %s", linkReason(err)).WithFix("choose another file or folder")
}

func linkReason(err error) string {
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err.Error()
	}
	return reason(err)
}
