// Command fuzz runs the program generator for some minutes and prints counts by
// category. It exits 1 at the first disagreement, which it prints with its
// category, seed and size and writes to a file.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
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
	show := flag.Bool("show", false, "print the first program and do nothing else")
	all := flag.Bool("all", false, "go on after a mismatch, and list the first of each kind")
	flag.Parse()
	o := fuzz.Options{Seed: *seed, Size: *size, Programs: *programs, Time: time.Duration(*minutes * float64(time.Minute))}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().Unix())
	}
	if *category != "" {
		o.Categories = strings.Split(*category, ",")
	}
	if *show {
		fmt.Print(fuzz.Generate(o.Categories[0], o.Seed, max(o.Size, 1)).Text)
		return
	}
	kinds := map[string]int{}
	if *all {
		o.All = func(m *fuzz.Mismatch) {
			if kinds[m.Kind()]++; kinds[m.Kind()] == 1 {
				first, _, _ := strings.Cut(m.Error(), "\n")
				fmt.Println(first)
			}
		}
	}
	fmt.Printf("first seed %d\n", o.Seed)
	report, bad := fuzz.Fuzz(o)
	report.Print(os.Stdout)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf("MISMATCH %d times: %s\n", kinds[k], k)
	}
	if len(kinds) > 0 {
		os.Exit(1)
	}
	if bad == nil {
		fmt.Println("no mismatch")
		return
	}
	name := fmt.Sprintf("fuzz-%s-%d-%d.tnir", bad.Program.Category, bad.Program.Seed, bad.Program.Size)
	fmt.Printf("MISMATCH %v\n", bad)
	if err := os.WriteFile(name, []byte(bad.Program.Text), 0o644); err == nil {
		fmt.Printf("the program is in %s\n", name)
	}
	os.Exit(1)
}
