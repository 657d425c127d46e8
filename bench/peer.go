package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed native/onednn.c
var onednnC []byte

//go:embed native/numpy_peer.py
var numpyPy []byte

// peer is a process that runs a library we compare with; see native/onednn.c
// for what is said.
type peer struct {
	name    string // with its version
	isa     string // the instruction sets that it says it may use
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// start starts a peer and reads its greeting.
func start(name string, cmd *exec.Cmd) (*peer, error) {
	p := &peer{name: name, process: cmd}
	cmd.Stderr = io.Discard
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	hello, err := p.answer()
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, fmt.Errorf("%s does not start: %v", name, err)
	}
	version, isa, _ := strings.Cut(hello, " isa ")
	p.name, p.isa = name+" "+version, isa
	return p, nil
}

func (p *peer) stop() {
	p.in.Close()
	p.process.Wait()
}

func (p *peer) answer() (string, error) {
	for p.out.Scan() {
		if text, ok := strings.CutPrefix(p.out.Text(), "ok "); ok {
			return text, nil
		}
		if strings.HasPrefix(p.out.Text(), "no ") {
			return "", fmt.Errorf("%s: %s", p.name, p.out.Text())
		}
		// A library's own chatter.
	}
	return "", fmt.Errorf("%s stopped: %v", p.name, p.out.Err())
}

func (p *peer) say(format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		return "", err
	}
	return p.answer()
}

// open makes an operation ready; chosen is the implementation.
func (p *peer) open(op string, m, n int64) (id int, chosen string, err error) {
	text, err := p.say("open %s %d %d", op, m, n)
	if err != nil {
		return 0, "", err
	}
	number, chosen, _ := strings.Cut(text, " ")
	id, err = strconv.Atoi(number)
	return id, chosen, err
}

// seconds runs an operation n times.
func (p *peer) seconds(id, n int) (float64, error) {
	text, err := p.say("run %d %d", id, n)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// startOneDNN builds the peer against the oneDNN in the virtual environment env
// and starts it on a processor.
func startOneDNN(dir, env string, cpu int32) (*peer, error) {
	lib := filepath.Join(env, "lib")
	if _, err := os.Stat(filepath.Join(lib, "libdnnl.so")); err != nil {
		return nil, fmt.Errorf("no oneDNN in %s", env)
	}
	src, exe := filepath.Join(dir, "onednn.c"), filepath.Join(dir, "onednn-"+filepath.Base(env))
	if err := os.WriteFile(src, onednnC, 0o666); err != nil {
		return nil, err
	}
	if err := compileC(src, exe, "-I"+filepath.Join(env, "include"), "-L"+lib, "-ldnnl", "-Wl,-rpath,"+lib, "-Wl,--allow-shlib-undefined"); err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, strconv.Itoa(int(cpu)))
	// The build with SYCL finds the processor through this OpenCL driver.
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib, "OCL_ICD_FILENAMES="+filepath.Join(lib, "libintelocl.so"),
		"ONEDNN_VERBOSE=0", "OMP_NUM_THREADS=1")
	return start("oneDNN", cmd)
}

// startNumPy starts NumPy from the virtual environment env on a processor.
func startNumPy(dir, env string, cpu int32) (*peer, error) {
	src := filepath.Join(dir, "numpy_peer.py")
	if err := os.WriteFile(src, numpyPy, 0o666); err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(env, "bin", "python"), src, strconv.Itoa(int(cpu)))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	return start("NumPy", cmd)
}
