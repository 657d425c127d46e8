package main

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed systems/*.py
var scripts embed.FS

// system is a compiler that we compare with; see systems/peer.py for what is said.
type system struct {
	name, script string
	samples      []int // how many it is given; 0: it compiles for every size
}

var systems = []system{
	{"inductor", "inductor.py", []int{0, 1, 4, 16}},
	{"halide", "halide_auto.py", []int{1, 4, 16}},
	{"tvm", "tvm_tune.py", []int{1, 4, 16}},
}

// folder is that of its environment, as make bench-tuning-env installs it.
func (s system) folder() string { return map[string]string{"inductor": "torch"}[s.name] }

// process is a running system.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	dir  string

	ended *error // how it ended, once it has
}

// start runs the system in a folder of its own, so that it finds nothing that an
// earlier run has kept, and on one thread.
func (s system) start(env string) (*process, error) {
	home := s.folder()
	if home == "" {
		home = s.name
	}
	python := filepath.Join(env, home, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return nil, fmt.Errorf("not installed in %s; make bench-tuning-env installs it", filepath.Join(env, home))
	}
	dir, err := os.MkdirTemp("", "tenon-tuning-*")
	if err != nil {
		return nil, err
	}
	files, _ := scripts.ReadDir("systems")
	for _, f := range files {
		text, err := scripts.ReadFile("systems/" + f.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), text, 0o666)
		}
		if err != nil {
			return nil, err
		}
	}
	p := &process{dir: dir, cmd: exec.Command(python, filepath.Join(dir, s.script))}
	p.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "TVM_NUM_THREADS=1", "HL_NUM_THREADS=1",
		"TORCHINDUCTOR_CACHE_DIR="+filepath.Join(dir, "cache"), "PYTHONDONTWRITEBYTECODE=1")
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if p.name, err = p.answer(); err != nil {
		p.stop()
	}
	return p, err
}

func (p *process) stop() {
	p.in.Close()
	late := time.AfterFunc(10*time.Second, func() { p.cmd.Process.Kill() })
	p.wait()
	late.Stop()
	os.RemoveAll(p.dir)
}

func (p *process) answer() (string, error) {
	for p.out.Scan() {
		if text, ok := strings.CutPrefix(p.out.Text(), "ok "); ok {
			return text, nil
		}
		if text, ok := strings.CutPrefix(p.out.Text(), "no "); ok {
			return "", fmt.Errorf("%s", text)
		}
	}
	return "", fmt.Errorf("it stopped: %v", p.wait())
}

// wait ends the process; it may be called again.
func (p *process) wait() error {
	p.in.Close()
	if p.ended == nil {
		err := p.cmd.Wait()
		p.ended = &err
	}
	return *p.ended
}

func (p *process) say(format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		return "", err
	}
	return p.answer()
}

func (p *process) seconds(format string, args ...any) (float64, error) {
	text, err := p.say(format, args...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// other is a line of the table: a system with so many samples. It takes
// contractions until its time is over, at least one.
func (r *run) other(s system, n int, list []contraction, ours []*own) *line {
	l := &line{what: title(s.name, map[bool]string{true: fmt.Sprintf("%d samples", n), false: "every size"}[n > 0]), samples: n, dynamic: n == 0}
	p, err := s.start(r.env)
	if err != nil {
		l.skipped = err.Error()
		return l
	}
	defer p.stop()
	l.what = title(p.name, strings.TrimPrefix(l.what, s.name+", "))
	start := time.Now()
	for i, c := range list {
		if i > 0 && time.Since(start) > r.budget {
			break
		}
		if err := r.measure(p, c, samples[n], ours[i], l); err != nil {
			l.skipped = fmt.Sprintf("%s: %v", c, err)
			return l
		}
	}
	return l
}

// measure tunes a contraction and takes the least time of some rounds at each
// unseen size.
func (r *run) measure(p *process, c contraction, samples []int64, ours *own, l *line) error {
	turned := 0
	if c.turned {
		turned = 1
	}
	id, err := p.say("open %d %d %d", c.k, c.n, turned)
	if err != nil {
		return err
	}
	var list []string
	for _, m := range samples {
		list = append(list, strconv.FormatInt(m, 10))
	}
	first, err := p.seconds("tune %s %s", id, strings.Join(list, ","))
	if err != nil {
		return err
	}
	if _, err := p.say("check %s 7", id); err != nil {
		return err
	}
	for _, m := range ours.sizes {
		once, err := p.seconds("run %s %d 1", id, m)
		if err != nil {
			return err
		}
		count := int(min(max(0.005/max(once, 1e-7), 1), 10000))
		least := once
		for range r.rounds {
			t, err := p.seconds("run %s %d %d", id, m, count)
			if err != nil {
				return err
			}
			least = min(least, t/float64(count))
		}
		l.ratios = append(l.ratios, least/ours.chosen[m])
	}
	l.first, l.oursFirst = append(l.first, first), append(l.oursFirst, ours.compile)
	return nil
}
