// Command fuzz runs the program generator for some minutes and prints counts by
// category. It exits 1 if two ways of running a program disagree. A program that
// shows a disagreement is written to a folder of the system's temporary files,
// or the one named by -out, and printed with its category, seed and size, from
// which it can be made again.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tenon/tests/fuzz"
)

func main() {
	minutes := flag.Float64("minutes", 5, "how long to run")
	seed := flag.Uint64("seed", 0, "seed of the first program; 0 takes one from the clock")
	size := flag.Int("size", 0, "size of the programs; 0 takes 1 to 5 by turns")
	category := flag.String("category", "", "categories, comma-separated; all if empty")
	programs := flag.Int("programs", 0, "programs a category; 0 for as many as the time allows")
	show := flag.Bool("show", false, "print the first program of the category and do nothing else")
	all := flag.Bool("all", false, "go on after a mismatch, and list the first of each kind")
	out := flag.String("out", "", "folder of programs that show a mismatch; a temporary one if empty")
	flag.Parse()
	o := fuzz.Options{Seed: *seed, Size: *size, Programs: *programs, Time: time.Duration(*minutes * float64(time.Minute))}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().Unix())
	}
	if *category != "" {
		o.Categories = strings.Split(*category, ",")
	}
	if err := o.Check(); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(2)
	}
	if *show && *category != "" {
		fmt.Print(fuzz.Generate(o.Categories[0], o.Seed, max(o.Size, 1)).Text)
		return
	}
	f, err := openFindings(*out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
	o.Temp, o.Note = f.dir, f.running
	if *all {
		o.All = f.found
	}
	fmt.Printf("first seed %d\n", o.Seed)
	report, bad := fuzz.Fuzz(o)
	report.Print(os.Stdout)
	if bad != nil {
		f.found(bad)
	}
	os.Exit(f.close())
}

// findings are the mismatches of a run and the folder that shows them.
type findings struct {
	dir   string
	kinds map[string]int
}

func openFindings(dir string) (*findings, error) {
	f := &findings{dir: dir, kinds: map[string]int{}}
	if dir != "" {
		return f, os.MkdirAll(dir, 0o755)
	}
	var err error
	f.dir, err = os.MkdirTemp("", "tenon-fuzz-")
	return f, err
}

const runningFile = "running.txt"

// running notes in a file what compiled code is about to run: should it bring
// this process down, the file says which it was.
func (f *findings) running(what string) {
	_ = os.WriteFile(filepath.Join(f.dir, runningFile), []byte(what+"\n"), 0o644)
}

// found prints the first mismatch of each kind and writes its program down.
func (f *findings) found(m *fuzz.Mismatch) {
	if f.kinds[m.Kind()]++; f.kinds[m.Kind()] > 1 {
		return
	}
	p := m.Program
	ext := "tnir"
	if p.Source {
		ext = "tn"
	}
	name := filepath.Join(f.dir, fmt.Sprintf("%s-%d-%d.%s", p.Category, p.Seed, p.Size, ext))
	if err := os.WriteFile(name, []byte(p.Text), 0o644); err != nil {
		name = err.Error()
	}
	fmt.Printf("MISMATCH %v\nthe program is in %s; to run it again:\n  go run ./tests/fuzz/cmd -category %s -seed %d -size %d -programs 1\n",
		m, name, p.Category, p.Seed, p.Size)
}

// close sums up, removes a folder with nothing in it, and gives the exit code.
func (f *findings) close() int {
	_ = os.Remove(filepath.Join(f.dir, runningFile))
	if len(f.kinds) == 0 {
		_ = os.Remove(f.dir)
		fmt.Println("no mismatch")
		return 0
	}
	for _, k := range slices.Sorted(maps.Keys(f.kinds)) {
		fmt.Printf("%d times: %s\n", f.kinds[k], k)
	}
	fmt.Printf("what was found is in %s\n", f.dir)
	return 1
}
