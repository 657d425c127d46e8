package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon/ir"
	"tenon/passes/pass"
)

// Every pass counts its applications, so that --bisect can name the one that is
// wrong.
func TestPassesAreCounted(t *testing.T) {
	for _, p := range pass.All() {
		if !p.Counted && !isOwn(p) {
			t.Errorf("the pass %s does not count its applications: ask c.Apply before each and set Counted", p.Name)
		}
	}
}

// The tests of passes once more, the last pass of each limited to no
// application, one, two, ..: none leaves the module as it is, every number
// leaves one that is valid and means the same, and one of them is all.
func TestLimits(t *testing.T) {
	files, _ := filepath.Glob("passes/*/*.txtar")
	for _, f := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(f, "passes/"), ".txtar"), func(t *testing.T) {
			t.Parallel()
			tryLimits(t, f)
		})
	}
}

func tryLimits(t *testing.T, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pass.Parse(passList.FindStringSubmatch(string(ar.Comment))[1])
	if err != nil {
		t.Fatal(err)
	}
	before, err := ir.Parse("in", moduleHeader+string(ar.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	g := &pass.Manager{TempDir: t.TempDir()}
	last := list[len(list)-1]
	if err := g.Run(before, list[:len(list)-1]); err != nil {
		return // that a pass refuses it is what the test is about
	}
	full := ir.Clone(before)
	if err := g.Run(full, []pass.Instance{last}); err != nil {
		return
	}
	for k := 0; ; k++ {
		m := limited(t, g, before, last, k)
		if text := ir.Print(m); k == 0 && text != ir.Print(before) {
			t.Errorf("%s changes the module without any application:\n%s", last.Pass.Name, text)
		} else if text == ir.Print(full) {
			return
		}
		if k == 100 {
			t.Fatalf("%s with 100 applications has not done what it does without a limit", last.Pass.Name)
		}
	}
}

// limited runs the pass with k applications and holds it to the meaning.
func limited(t *testing.T, g *pass.Manager, before *ir.Module, in pass.Instance, k int) *ir.Module {
	options := fmt.Sprintf("limit=%d", k)
	for name, v := range in.Options {
		options += " " + name + "=" + v
	}
	passes, err := pass.Parse(in.Pass.Name + "{" + options + "}")
	if err != nil {
		t.Fatal(err)
	}
	m := ir.Clone(before)
	if err := g.Run(m, passes); err != nil {
		t.Fatalf("%s: %v", passes[0], err)
	}
	if _, err := pass.SameMeaning(before, m, in.Pass.Freedom()); err != nil {
		t.Errorf("%s changes the meaning of %v", passes[0], err)
	}
	return m
}
