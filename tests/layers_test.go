package tests

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers is the order of packages, from the bottom up: a package imports only
// what stands above its own line here. A line holds what may not import each
// other, unless one lies inside the other. `dir/*` is every package below dir.
// Never relax this to fix a build: move the code.
var layers = [][]string{
	{"internal/diag"},
	{"internal/debug", "internal/num", "internal/cache"},
	{"ir/sym"},
	{"ir/affine"},
	{"ir"},
	{"ir/ops/access"},
	{"ir/ops/dist"},
	{"ir/ops/loop"},
	{"ir/ops/*"},
	{"ir/ops"},
	{"ir/rewrite", "ir/interp", "frontend", "frontend/tn/syntax", "frontend/tn/prelude", "targets"},
	{"frontend/weights"},
	{"frontend/tn"},
	{"frontend/cloop", "frontend/onnx", "microkernels", "microkernels/*"},
	{"passes/pass"},
	{"passes/analysis"},
	{"passes/*"},
	{"passes"},
	{"codegen/llvm"},
	{"codegen/*", "targets/ptxemu"},
	{"runtime"},
	{"runtime/profile"},
	{"internal/reduce"},
	{"internal/driver"},
	{"internal/bench"},
	{"internal/cli"},
	{"."},
	{"cmd/*", "tests", "tests/*", "examples/*", "bench", "bench/*"},
}

// bans are imports that the order alone would allow.
var bans = []struct{ from, to, why string }{
	{"passes", "frontend", "a pass sees modules, not sources"},
	{"passes", "targets/", "a pass sees a machine as data, targets.Desc"},
	{"codegen", "passes", "code generation takes what the pipeline leaves"},
	{"microkernels", "passes", "a micro-kernel is a value that passes choose"},
	{"ir", "targets", "the IR knows no machine"},
}

// layerOf is the line of layers that holds pkg, -1 if none does. The longest
// pattern wins.
func layerOf(pkg string) int {
	best, length := -1, -1
	for i, line := range layers {
		for _, pattern := range line {
			dir, all := strings.CutSuffix(pattern, "/*")
			if (pkg == pattern || all && strings.HasPrefix(pkg, dir+"/")) && len(pattern) > length {
				best, length = i, len(pattern)
			}
		}
	}
	return best
}

// imports lists the packages of Tenon's and others that each package imports,
// tests left out.
func imports(t *testing.T) map[string]map[string]string {
	all := map[string]map[string]string{}
	eachGoFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Comments) > 0 && strings.Contains(f.Comments[0].Text(), "go:build") || path.Dir(file) == "internal/deps" {
			return // pins dependencies, part of nothing
		}
		pkg := path.Dir(file)
		if all[pkg] == nil {
			all[pkg] = map[string]string{}
		}
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			all[pkg][p] = file
		}
	})
	return all
}

// eachGoFile calls f with every Go file of the module, relative to its root.
func eachGoFile(t *testing.T, f func(file string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != ".." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			rel, _ := filepath.Rel("..", p)
			f(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLayers(t *testing.T) {
	for pkg, ims := range imports(t) {
		from := layerOf(pkg)
		if from < 0 {
			t.Errorf("package %s is in no layer; put it into the table of tests/layers_test.go", pkg)
			continue
		}
		for im, file := range ims {
			to, ours := strings.CutPrefix(im, "tenon/")
			if im == "tenon" {
				to, ours = ".", true
			}
			switch {
			case strings.HasPrefix(im, "github.com/llir/") && pkg != "codegen/llvm":
				t.Errorf("%s imports %s; only codegen/llvm may", file, im)
			case ours && layerOf(to) >= from && !inside(to, pkg) && !inside(pkg, to):
				t.Errorf("%s imports %s, which does not lie below it", file, im)
			case ours:
				checkBans(t, file, pkg, to)
			}
		}
	}
}

// inside reports whether package a lies in b's folder.
func inside(a, b string) bool { return b != "." && strings.HasPrefix(a, b+"/") }

func checkBans(t *testing.T, file, pkg, to string) {
	for _, b := range bans {
		in := pkg == b.from || strings.HasPrefix(pkg, b.from+"/")
		hit := to == b.to || strings.HasPrefix(to, strings.TrimSuffix(b.to, "/")+"/") && to != b.to
		if strings.HasSuffix(b.to, "/") {
			hit = strings.HasPrefix(to, b.to)
		}
		if in && hit {
			t.Errorf("%s imports %s: %s", file, to, b.why)
		}
	}
}
