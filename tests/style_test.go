package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"tenon/ir"
	_ "tenon/ir/ops" // the rows that the test reads
	"tenon/passes/pass"
)

// The limits of design: beyond them a reason stands at the top of the file, in a
// comment that begins with `Size:`.
const (
	maxFileLines = 800
	maxFuncLines = 60
	maxFiles     = 40
)

// goFile is a parsed source file.
type goFile struct {
	path  string
	text  string
	fset  *token.FileSet
	syn   *ast.File
	lines int
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	eachGoFile(t, func(file string) {
		data, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		syn, err := parser.ParseFile(fset, file, data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, goFile{file, string(data), fset, syn, strings.Count(string(data), "\n")})
	})
	return files
}

func (f goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// reason reports whether the head of the file says why it is large.
func (f goFile) reason() bool {
	for _, c := range f.syn.Comments {
		if f.fset.Position(c.Pos()).Line < 40 && strings.Contains(c.Text(), "Size:") {
			return true
		}
	}
	return false
}

func TestStyleSizes(t *testing.T) {
	count := map[string]int{}
	for _, f := range goFiles(t) {
		count[path.Dir(f.path)]++
		if f.reason() {
			continue
		}
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines; split it, or give the reason (Size: ...) at its top", f.path, f.lines)
		}
		for _, d := range f.syn.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
				t.Errorf("%s: func %s has %d lines; split it, or give the reason (Size: ...) at the file's top", f.path, fn.Name.Name, n)
			}
		}
	}
	for dir, n := range count {
		if n > 2*maxFiles {
			t.Errorf("%s holds %d Go files", dir, n)
		}
	}
}

// Every package says what it is: in doc.go, or, where it is one file, there.
func TestStylePackageDocs(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range goFiles(t) {
		dir := path.Dir(f.path)
		if dir == "internal/deps" || f.isTest() {
			continue
		}
		documented[dir] = documented[dir] || f.syn.Doc != nil
	}
	for _, dir := range sortedKeys(documented) {
		if !documented[dir] {
			t.Errorf("package %s has no comment that says what it is; add doc.go", dir)
		}
	}
}

func sortedKeys(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// vagueNames say nothing about what a package or file holds.
var vagueNames = regexp.MustCompile(`(?i)^(util|utils|common|helpers?|misc|impl)$`)

func TestStyleNames(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, part := range strings.Split(strings.TrimSuffix(f.path, ".go"), "/") {
			if vagueNames.MatchString(part) {
				t.Errorf("%s: %q says nothing about what it holds", f.path, part)
			}
		}
	}
}

// Tests hold results by interp.Compare and num.Agree, never by a tolerance of
// their own.
func TestStyleNoTolerances(t *testing.T) {
	tolerance := regexp.MustCompile(`(?i)\b(tol|tolerance|epsilon|atol|rtol|allclose)\b|<=?\s*\d+(\.\d*)?e-\d+`)
	for _, f := range goFiles(t) {
		dir := path.Dir(f.path)
		if !f.isTest() || dir == "ir/interp" || dir == "internal/num" || f.path == "tests/style_test.go" {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			code, _, _ := strings.Cut(line, "//")
			if tolerance.MatchString(code) {
				t.Errorf("%s:%d: a test sets its own tolerance: %s", f.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// No pass, micro-kernel or code generator knows a model part or an example.
func TestStyleNoModelNames(t *testing.T) {
	names := regexp.MustCompile(`(?i)\b(attention|softmax|layer_?norm|rms_?norm|gelu|relu|conv2d|knn|gcn|gat|lstm|gru|jacobi\w*|digits|cora|citeseer|bert|gpt|llama|resnet)\b`)
	for _, f := range goFiles(t) {
		top, _, _ := strings.Cut(f.path, "/")
		if f.isTest() || top != "passes" && top != "microkernels" && top != "codegen" {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			if m := names.FindString(line); m != "" {
				t.Errorf("%s:%d names %s: %s", f.path, i+1, m, strings.TrimSpace(line))
			}
		}
	}
}

func TestStyleOpsHaveDocs(t *testing.T) {
	for _, d := range ir.AllOps() {
		line, form, _ := strings.Cut(d.Doc, "\n")
		if strings.TrimSpace(line) == "" {
			t.Errorf("op %s has no doc", d.Name)
		}
		if d.Family() != "scalar" && strings.TrimSpace(form) == "" {
			t.Errorf("op %s: its doc does not show its text form", d.Name)
		}
	}
}

func TestStylePassesHaveDocsAndTests(t *testing.T) {
	for _, p := range pass.All() {
		if p.Doc == "" || strings.Contains(p.Doc, "\n") {
			t.Errorf("pass %s: its doc is not one line", p.Name)
		}
		if isOwn(p) {
			continue
		}
		found, _ := filepath.Glob(filepath.Join("passes", p.Name, "*.txtar"))
		if len(found) == 0 {
			t.Errorf("pass %s has no test tests/passes/%s/*.txtar", p.Name, p.Name)
		}
	}
}

// Links between pages lead somewhere.
func TestStyleLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../examples/*/*.md"} {
		pages, _ := filepath.Glob(pattern)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				if !exists(filepath.Join(filepath.Dir(page), m[1])) {
					t.Errorf("%s links to %s, which does not exist", page, m[1])
				}
			}
		}
	}
}
