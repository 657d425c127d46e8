package tests

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/passes" // registers all passes
	"tenon/passes/pass"
)

// A test of a pass is a txtar file in passes/NAME. Its comment says why it
// exists and has a line `passes: LIST`, as for --passes; `in` is a module, `out`
// what the passes leave, or `error` what they refuse it with. First lines of
// modules (`tenon ir 1`) are left out. Each is also run: the module before and
// after means the same on seeded inputs.
func TestPasses(t *testing.T) {
	files, _ := filepath.Glob("passes/*/*.txtar")
	if len(files) == 0 {
		t.Error("no tests of passes")
	}
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(f, "passes/"), ".txtar")
		t.Run(name, func(t *testing.T) { runPassTest(t, f) })
	}
}

var passList = regexp.MustCompile(`(?m)^passes: (.+)$`)

// moduleHeader is the first line of every module, left out in the files.
const moduleHeader = "tenon ir 1\n"

func runPassTest(t *testing.T, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	why, _, _ := strings.Cut(string(ar.Comment), "\n")
	list := passList.FindStringSubmatch(string(ar.Comment))
	if list == nil || strings.TrimSpace(why) == "" || strings.HasPrefix(why, "passes:") || len(ar.Files) == 0 {
		t.Fatal("the comment does not say why the test exists, or has no line `passes: LIST`")
	}
	if !strings.Contains(list[1], filepath.Base(filepath.Dir(path))) {
		t.Errorf("the test is in the folder of another pass than %s", list[1])
	}
	kind, got := applyPasses(t, list[1], string(ar.Files[0].Data))
	want := ""
	for _, f := range ar.Files[1:] {
		if f.Name == kind {
			want = string(f.Data)
		}
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("%s is\n%s\nexpected\n%s\n(go test ./tests -run Passes -update rewrites the file)", kind, got, want)
		return
	}
	ar.Files = append(ar.Files[:1], txtar.File{Name: kind, Data: []byte(got)})
	if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

// applyPasses gives the text of the module after the passes, or the error.
func applyPasses(t *testing.T, list, in string) (kind, text string) {
	passes, err := pass.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Parse("in", moduleHeader+in)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{"in": moduleHeader + in}, false))
	}
	before := ir.Clone(m)
	g := &pass.Manager{TempDir: t.TempDir()}
	if err := g.Run(m, passes); err != nil {
		var user diag.List
		if !errors.As(err, &user) {
			t.Fatalf("a pass refuses with %T, not with the user's fault: %v", err, err)
		}
		return "error", err.Error() + "\n"
	}
	freedom := pass.Exact
	for _, p := range passes {
		freedom = max(freedom, p.Pass.Freedom())
	}
	runs, err := pass.SameMeaning(before, m, freedom)
	if err != nil {
		t.Errorf("the meaning changes: %v", err)
	}
	if runs == 0 {
		t.Error("no seeded input runs: the test shows nothing of the meaning")
	}
	var b strings.Builder
	for _, r := range g.Remarks {
		what := " declined: "
		if r.Done {
			what = ": "
		}
		b.WriteString("// " + r.Pass + what + r.Reason + "\n")
	}
	return "out", b.String() + strings.TrimPrefix(ir.Print(m), moduleHeader)
}
