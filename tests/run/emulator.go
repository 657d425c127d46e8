package run

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"tenon/internal/num"
	"tenon/runtime"
)

// What an emulated machine needs: QEMU, and a C compiler and library to make
// the harness with.
const (
	qemu       = "qemu-aarch64"
	crossGCC   = "aarch64-linux-gnu-gcc"
	crossRoot  = "/usr/aarch64-linux-gnu" // where Debian keeps that library
	getForeign = "apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
)

// callLimit is more than any call of a test takes; one that hangs ends then.
const callLimit = 3 * time.Minute

//go:embed testdata/harness.c
var harnessSource []byte

func emulatorAbsent() string {
	for _, tool := range []string{qemu, crossGCC} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Sprintf("no %s; install it with: %s", tool, getForeign)
		}
	}
	return ""
}

// harness compiles testdata/harness.c, once, into a folder that lasts until
// Shutdown.
var harness = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tenon-harness-")
	if err != nil {
		return "", err
	}
	source, program := filepath.Join(dir, "harness.c"), filepath.Join(dir, "harness")
	if err := os.WriteFile(source, harnessSource, 0o666); err != nil {
		return "", err
	}
	cmd := exec.Command(crossGCC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-o", program, source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", crossGCC, err, out)
	}
	return program, nil
})

// emulators are the running ones, one a core: a process answers many calls,
// which costs a thousandth of starting one.
var emulators = struct {
	sync.Mutex
	byCore map[string]*emulator
}{byCore: map[string]*emulator{}}

// Shutdown ends all emulators and removes their files.
func Shutdown() {
	emulators.Lock()
	defer emulators.Unlock()
	for _, e := range emulators.byCore {
		e.Lock()
		if e.cmd != nil {
			e.stop()
		}
		e.Unlock()
	}
	if len(emulators.byCore) > 0 {
		if program, err := harness(); err == nil {
			os.RemoveAll(filepath.Dir(program))
		}
	}
}

// emulator is a process of the harness on a core that QEMU plays.
type emulator struct {
	sync.Mutex
	machine *Machine
	starts  int // a library of an earlier process is opened again
	cmd     *exec.Cmd
	in      *bufio.Writer
	closeIn io.Closer
	out     *bufio.Reader
	stderr  bytes.Buffer
}

func emulatorFor(m *Machine) *emulator {
	emulators.Lock()
	defer emulators.Unlock()
	if emulators.byCore[m.Core] == nil {
		emulators.byCore[m.Core] = &emulator{machine: m}
	}
	return emulators.byCore[m.Core]
}

// start starts the process unless it runs, and makes sure that its vectors are
// as long as the machine's.
func (e *emulator) start() error {
	if e.cmd != nil {
		return nil
	}
	program, err := harness()
	if err != nil {
		return err
	}
	cmd := exec.Command(qemu, "-L", crossRoot, "-cpu", e.machine.Core, program)
	e.stderr.Reset()
	cmd.Stderr, cmd.Dir = &e.stderr, filepath.Dir(program) // a crash may leave a core there
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	e.cmd, e.in, e.closeIn, e.out = cmd, bufio.NewWriter(in), in, bufio.NewReader(out)
	e.starts++
	var vector int64
	want := int64(e.machine.Vector)
	if want == 0 {
		want = -1
	}
	e.in.WriteByte('v')
	if err := e.answer("start", &vector); err != nil {
		return err
	}
	if vector != want {
		e.stop()
		return fmt.Errorf("%s has vectors of %d bytes on %s, want %d", e.machine.Core, vector, qemu, want)
	}
	return nil
}

func (e *emulator) stop() error {
	e.closeIn.Close()
	err := e.cmd.Wait()
	e.cmd = nil
	return err
}

// answer sends what was written and reads values. A process that ended, or did
// not answer in time, is the error.
func (e *emulator) answer(what string, values ...any) error {
	timer := time.AfterFunc(callLimit, func() { e.cmd.Process.Kill() })
	defer timer.Stop()
	err := e.in.Flush()
	for _, v := range values {
		if err == nil {
			err = binary.Read(e.out, binary.LittleEndian, v)
		}
	}
	if err == nil {
		return nil
	}
	ended := e.stop()
	return fmt.Errorf("the process on %s ended in %s: %v\n%s", e.machine.Name, what, ended, e.stderr.Bytes())
}

func (e *emulator) ints(values ...int64) { binary.Write(e.in, binary.LittleEndian, values) }

func (e *emulator) text(s string) {
	e.ints(int64(len(s)))
	e.in.WriteString(s)
}

// remote is a library in an emulator.
type remote struct {
	e      *emulator
	so     []byte
	start  int   // of the process that has it open
	number int64 // there
}

func loadEmulated(m *Machine, so []byte) (library, error) {
	r := &remote{e: emulatorFor(m), so: so}
	r.e.Lock()
	defer r.e.Unlock()
	return r, r.open()
}

// open opens the library unless the process has it open.
func (r *remote) open() error {
	if err := r.e.start(); err != nil {
		return err
	}
	if r.start == r.e.starts {
		return nil
	}
	f, err := os.CreateTemp("", "tenon-*.so")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(r.so)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	r.e.in.WriteByte('o')
	r.e.text(f.Name())
	if err := r.e.answer("dlopen", &r.number); err != nil {
		return err
	}
	if r.number < 0 {
		r.e.stop() // its messages are complete then
		return fmt.Errorf("%s: %s", r.e.machine.Name, r.e.stderr.Bytes())
	}
	r.start = r.e.starts
	return nil
}

func (r *remote) close() {
	r.e.Lock()
	defer r.e.Unlock()
	if r.e.cmd != nil && r.start == r.e.starts {
		r.e.in.WriteByte('x')
		r.e.ints(r.number)
		r.e.answer("dlclose")
	}
}

func (r *remote) call(fn string, args []passed) (runtime.Status, error) {
	r.e.Lock()
	defer r.e.Unlock()
	var status runtime.Status
	if err := r.open(); err != nil {
		return status, err
	}
	r.e.in.WriteByte('c')
	r.e.ints(r.number)
	r.e.text(fn)
	r.e.ints(int64(len(args)))
	var code int32
	values := []any{&code, &status}
	for _, a := range args {
		if a.place == nil {
			r.e.scalar(a.scalar)
			continue
		}
		r.e.tensor(a.place)
		values = append(values, a.place.room)
	}
	err := r.e.answer(fn, values...)
	if err == nil && status.Code != runtime.Code(code) {
		err = fmt.Errorf("%s returns %d and reports %d", fn, code, status.Code)
	}
	return status, err
}

func (e *emulator) scalar(s runtime.Scalar) {
	var raw [8]byte
	n := s.Elem.Bytes()
	num.Encode(s.Elem, s.Cell, raw[:n])
	e.in.WriteByte('s')
	e.ints(int64(n))
	e.in.Write(raw[:n])
}

func (e *emulator) tensor(p *place) {
	strided, end := int64(0), int64(0)
	if p.tensor.Strides != nil {
		strided = 1
	}
	if p.atEnd {
		end = 1
	}
	e.in.WriteByte('t')
	e.ints(int64(len(p.tensor.Shape)))
	e.ints(p.tensor.Shape...)
	e.ints(strided)
	e.ints(p.strides...)
	e.ints(int64(len(p.room)), p.first*int64(p.tensor.Elem.Bytes()), end)
	e.in.Write(p.room)
}
