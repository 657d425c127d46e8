package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What is asked of the compiler.
const (
	buildGoal = time.Second            // source to library, cold
	startGoal = 100 * time.Millisecond // tenon run on a cached program
)

// cost is what a command took: wall, and the processor time of it and its
// children, which a busy machine changes less.
type cost struct{ wall, cpu float64 }

// command runs a command and measures it.
func (b *bench) command(env []string, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	c := cost{wall: time.Since(start).Seconds()}
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return c, fmt.Errorf("%s %s: %v: %s", filepath.Base(name), strings.Join(args, " "), err, first)
	}
	c.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return c, nil
}

// tenonBinary builds the command once.
func (b *bench) tenonBinary() (string, error) {
	exe := filepath.Join(b.dir, "tenon")
	if _, err := os.Stat(exe); err == nil {
		return exe, nil
	}
	_, err := b.command(nil, "go", "build", "-o", exe, "./cmd/tenon")
	return exe, err
}

// repeat measures a command several times.
func (b *bench) repeat(times int, env []string, name string, args ...string) (wall, cpu spread, err error) {
	var ws, cs []float64
	for range times {
		c, err := b.command(env, name, args...)
		if err != nil {
			return spread{}, spread{}, err
		}
		ws, cs = append(ws, c.wall), append(cs, c.cpu)
	}
	return spreadOf(ws), spreadOf(cs), nil
}

// builds prints the time from source to library of every example that compiles
// to native code, without any cache, and its size.
func (b *bench) builds() error {
	files, err := filepath.Glob("examples/*/*.tn")
	if err != nil || !b.wants("build", "") {
		return err
	}
	exe, err := b.tenonBinary()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "### Source to shared library, cold\n\n`tenon build FILE -o OUT.so`, whole process with LLVM's tools: seconds on the wall and of processor time. Goal: under %v.\n\n", buildGoal)
	t := &table{head: []string{"example", "wall s", "processor s", "library bytes", "reached"}}
	for _, f := range files {
		out := filepath.Join(b.dir, "example.so")
		wall, cpu, err := b.repeat(5, nil, exe, "build", f, "-o", out)
		if err != nil {
			if _, exit := err.(*exec.ExitError); !exit && strings.Contains(err.Error(), "--interp") || strings.Contains(err.Error(), "no native form") {
				t.add(strings.TrimPrefix(f, "examples/"), "-", "-", "-", "interpreter only")
				continue
			}
			b.failed = append(b.failed, err.Error())
			continue
		}
		size := int64(0)
		if info, err := os.Stat(out); err == nil {
			size = info.Size()
		}
		t.add(strings.TrimPrefix(f, "examples/"), figure(wall, "%.3f"), figure(cpu, "%.3f"), fmt.Sprint(size),
			b.under("build "+f, wall, cpu, buildGoal, "LLVM's opt and llc take most of it"))
	}
	t.write(b.out)
	return nil
}

// under compares with a goal on the wall. A busy machine makes the wall worse
// than the command: where the processor time alone is within the goal, that is
// said.
func (b *bench) under(what string, wall, cpu spread, goal time.Duration, why string) string {
	g := goal.Seconds()
	switch {
	case wall.median < g:
		return "yes"
	case cpu.median < g:
		b.fellShort(fmt.Sprintf("%s: %.3f s on the wall, goal %v", what, wall.median, goal),
			fmt.Sprintf("the machine was busy: %.3f s of processor time, %.3f s on the wall at best", cpu.median, wall.least))
		return "by processor time"
	}
	b.fellShort(fmt.Sprintf("%s: %.3f s on the wall, goal %v", what, wall.median, goal), why)
	return "no"
}

// starts prints how long `tenon run` takes on a program that it has compiled
// before.
func (b *bench) starts() error {
	if !b.wants("start", "") {
		return nil
	}
	exe, err := b.tenonBinary()
	if err != nil {
		return err
	}
	cache := filepath.Join(b.dir, "cache")
	env := []string{"TENON_CACHE=" + cache}
	fmt.Fprintf(b.out, "### Start of a cached program\n\nWhole processes: the command line alone, then runs of a program that is in the cache, on a few elements. Goal: under %v.\n\n", startGoal)
	t := &table{head: []string{"command", "wall ms", "processor ms", "reached"}}
	ms := func(s spread) string { return figure(spread{1e3 * s.median, 1e3 * s.least, 1e3 * s.most}, "%.1f") }
	wall, cpu, err := b.repeat(11, env, exe, "version")
	if err != nil {
		return err
	}
	t.add("tenon version", ms(wall), ms(cpu), "")
	for _, run := range [][]string{
		{"examples/norms/softmax.tn", "--in", "x=rand(4,100)"},
		{"examples/attention/attention.tn", "--in", "q=rand(1,2,5,8)", "--in", "k=rand(1,2,7,8)", "--in", "v=rand(1,2,7,8)"},
	} {
		args := append([]string{"run"}, run...)
		args = append(args, "--out", filepath.Join(b.dir, "y.npy"))
		if _, err := b.command(env, exe, args...); err != nil { // fills the cache
			b.failed = append(b.failed, err.Error())
			continue
		}
		wall, cpu, err := b.repeat(11, env, exe, args...)
		if err != nil {
			return err
		}
		t.add("tenon run "+run[0], ms(wall), ms(cpu), b.under("tenon run "+run[0]+", cached", wall, cpu, startGoal, "reading and hashing the program and its compiler take most of it"))
	}
	t.write(b.out)
	return nil
}
