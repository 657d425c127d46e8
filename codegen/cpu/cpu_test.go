package cpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/targets"
)

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse("test.tnir", "tenon ir 1\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lower(t *testing.T, text string) (string, error) {
	t.Helper()
	d, err := targets.Find("x86-64", "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Lower(parse(t, text), d, "test", Options{})
	if err != nil {
		return "", err
	}
	return string(m.Text()), nil
}

const scale = `proc loop @scale<M, N>(in %a: f32, in %int: index, in %x: buf<f32[M, N]>, out %result: buf<f32[M, N]>) where(declared 2 <= M) {
  loop.for i = 0 to M { loop.for j = 0 to N { store(mul(%a, load(%x[i, j])), %result[i, j]) } }; return() }
`

// Subscripts that the loops bound need no check: nothing in the body fails.
func TestProvedSubscriptsAreNotChecked(t *testing.T) {
	text, err := lower(t, scale)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(text, "@scale.body")
	body, _, _ = strings.Cut(body, "\n}")
	if n := strings.Count(body, "then."); n != 0 {
		t.Errorf("%d branches in a body that needs none:\n%s", n, body)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, say string }{
		{"proc loop @f<N>(in %p: pattern<N, N, nnz#p, csr(i32, i32)>, out %y: buf<f32[]>) {\n  store(0.0: f32, %y[]); return() }", "parameter p of f, pattern"},
		{"proc loop @malloc(out %y: buf<f32[]>) {\n  store(0.0: f32, %y[]); return() }", "rename"},
		{"proc loop @f<N>(in %x: buf<f32[N*N]>, out %y: buf<f32[]>) {\n  store(0.0: f32, %y[]); return() }", "no parameter binds the dim N"},
	} {
		m, err := ir.Parse("test.tnir", "tenon ir 1\n"+c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		d, _ := targets.Find("x86-64", "")
		_, err = Lower(m, d, "test", Options{})
		if diag.ExitCode(err) != diag.ExitUser || err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.say, err)
		}
	}
}

// The header is valid C and C++, and its structs have the layout that compiled
// code reads.
func TestHeaderCompiles(t *testing.T) {
	m := parse(t, scale+`proc loop @none() { return() }
proc loop @small(in %a: u8, in %b: f16, in %c: bool, in %d: i32, in %e: i8, in %f: f64, out %y: buf<u8[]>) { store(%a, %y[]); return() }
`)
	text, err := Header(m, "my kernels.tn")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"int64_t int_;", "unless 2 <= M", "sizes: M = x.shape[0]", "unless result.shape[1] == N (arg 3, dim 1)", "#ifndef TENON_MY_KERNELS_TN_H", "out f32[M, N]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	dir := t.TempDir()
	other, err := Header(parse(t, "proc loop @other() { return() }"), "other.tn") // two headers meet in one file
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "other.h"), other)
	program := "#include <stddef.h>\n#include \"k.h\"\n#include \"other.h\"\n"
	for _, f := range m.Funcs() {
		fields, err := Signature(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range fields {
			program += "_Static_assert(offsetof(struct " + f.Name + "_args, " + fieldName(x.Name) + ") == " + strconv.FormatInt(x.Offset, 10) + ", \"" + x.Name + "\");\n"
		}
	}
	write(t, filepath.Join(dir, "k.h"), text)
	write(t, filepath.Join(dir, "k.c"), program)
	write(t, filepath.Join(dir, "k.cc"), strings.ReplaceAll(program, "_Static_assert", "static_assert"))
	for _, c := range [][]string{{"gcc", "-std=c11", "k.c"}, {"g++", "-std=c++17", "k.cc"}} {
		if _, err := exec.LookPath(c[0]); err != nil {
			t.Logf("SKIP, the header is not compiled: no %s; install it with: apt-get install gcc g++", c[0])
			continue
		}
		cmd := exec.Command(c[0], c[1], "-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "-o", "/dev/null", c[2])
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const dot = `proc loop @dot<N>(in %x: buf<f32[N]>, in %y: buf<f32[N]>, out %r: buf<f32[]>)FUNC {
  %z = const 0.0: f32
  %s = loop.for i = 0 to N carry(%acc = %z)LOOP {
    %m = mul(load(%x[i]), load(%y[i])); yield(add(%acc, %m)) } : f32
  store(%s, %r[]); return() }
`

// Arithmetic is exact unless a directive allows more: contract in the whole
// proc, reassoc for the fold of a carried value alone.
func TestArithmeticFlags(t *testing.T) {
	for _, c := range []struct {
		proc, loop            string
		contracted, regrouped int
	}{
		{"", "", 0, 0}, {` directives("contract")`, "", 2, 0}, {"", ` directives("reassoc")`, 2, 1}, {` directives("contract")`, ` directives("reassoc")`, 2, 1},
	} {
		text, err := lower(t, strings.NewReplacer("FUNC", c.proc, "LOOP", c.loop).Replace(dot))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(text, "contract"); n != c.contracted {
			t.Errorf("%q, %q: %d contracted ops, want %d", c.proc, c.loop, n, c.contracted)
		}
		if n := strings.Count(text, "reassoc"); n != c.regrouped {
			t.Errorf("%q, %q: %d regrouped ops, want %d", c.proc, c.loop, n, c.regrouped)
		}
	}
}

// A part takes all that it uses of the body, vectors and masks too, each to a
// place of its own: the file's numbers come out right whoever runs the parts.
func TestPartsTakeVectors(t *testing.T) {
	text, err := lower(t, `proc vec @f<N>(in %a: f32, in %x: buf<f32[N, 8]>, out %y: buf<f32[N, 8]>) {
  %v = vec.splat(%a) : vec<8 x f32>
  %m = vec.lt(%v, %v)
  loop.parallel i = 0 to N { %e = vec.load(%x[i, 0]) : vec<8 x f32>; %s = vec.select(%m, %e, %v); vec.store(%s, %y[i, 0]) }; return() }
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"store <8 x float>", "store <8 x i8>", "load <8 x i8>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Stores to whole vectors of rows go around the caches in one version of their
// loop, and a fence follows; a store that may begin within a vector, to a machine
// without such stores or without the hint, does not.
func TestStoresAroundTheCaches(t *testing.T) {
	const rows = `proc vec @f<M, N>(in %x: buf<f32[M, N]>, out %y: buf<f32[M, N]>) {
  loop.parallel i = 0 to M { loop.parallel j = FROM to N - 7 step 8 {
    %v = vec.load(%x[i, j]) : vec<8 x f32>; vec.store(%v, %y[i, j]) HINT } }; return() }
`
	for _, c := range []struct {
		family, from, hint string
		around             bool
	}{
		{"x86-64", "0", "stream=4096", true},
		{"x86-64", "16", "stream=4096", true},
		{"x86-64", "1", "stream=4096", false},
		{"x86-64", "M", "stream=4096", false},
		{"x86-64", "8*M", "stream=4096", true},
		{"x86-64", "0", "", false},
		{"aarch64", "0", "stream=4096", false},
	} {
		d, err := targets.Find(c.family, "")
		if err != nil {
			t.Fatal(err)
		}
		m, err := Lower(parse(t, strings.NewReplacer("FROM", c.from, "HINT", c.hint).Replace(rows)), d, "test", Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := string(m.Text())
		stores, plain := strings.Count(text, "!nontemporal"), strings.Count(text, "store <8 x float>")
		fenced := strings.Contains(text, "call void @llvm.x86.sse.sfence()")
		if c.around != (stores == 1) || c.around != (plain == 2) || c.around != fenced {
			t.Errorf("%s from %s %s: %d stores around the caches of %d, fence %v", c.family, c.from, c.hint, stores, plain, fenced)
		}
	}
}

// Of nine constants in a loop of vectors on a machine with 16 registers, each is
// pinned but 0; eight are not, and neither are those of a machine with 32, or of
// half precision, which are integers there.
func TestManyConstantsArePinned(t *testing.T) {
	text := func(constants int, cpu, elem string) string {
		var b strings.Builder
		b.WriteString("proc vec @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {\n  loop.for i = 0 to N - 7 step 8 {\n    %v0 = vec.load(%x[i]) : vec<8 x f32>\n    %z = vec.splat(0.0) : vec<8 x f32>; %w = vec.max(%v0, %z)\n")
		last := "%w"
		for k := range constants {
			n := strconv.Itoa(k + 1)
			b.WriteString("    %c" + n + " = vec.splat(" + n + ".5) : vec<8 x f32>; %v" + n + " = vec.fma(" + last + ", %v0, %c" + n + ")\n")
			last = "%v" + n
		}
		b.WriteString("    vec.store(" + last + ", %y[i]) }\n  return() }\n")
		d, err := targets.Find("x86-64", cpu)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Lower(parse(t, strings.ReplaceAll(b.String(), "f32", elem)), d, "test", Options{})
		if err != nil {
			t.Fatal(err)
		}
		return string(m.Text())
	}
	for _, c := range []struct {
		constants int
		cpu, elem string
		want      int
	}{{9, "x86-64-v3", "f32", 9}, {8, "x86-64-v3", "f32", 0}, {9, "x86-64-v4", "f32", 0}, {9, "x86-64-v3", "bf16", 0}} {
		if n := strings.Count(text(c.constants, c.cpu, c.elem), "call <8 x float> @llvm.arithmetic.fence"); n != c.want {
			t.Errorf("%d constants on %s: %d are pinned, want %d", c.constants, c.cpu, n, c.want)
		}
	}
}

// A scalar is taken from loaded vectors by adding what it is less than 0: then
// the vector needs no register of its own.
func TestScalarsAreTakenFromVectorsInMemory(t *testing.T) {
	d, err := targets.Find("x86-64", "x86-64-v3")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Lower(parse(t, `proc vec @f<N>(in %s: f32, in %x: buf<f32[N]>, out %y: buf<f32[N]>) {
  loop.for i = 0 to N - 7 step 8 {
    %v = vec.load(%x[i]) : vec<8 x f32>; %m = vec.splat(%s) : vec<8 x f32>; %d = vec.sub(%v, %m); %e = vec.sub(%d, %m)
    vec.store(%e, %y[i]) }
  return() }
`), d, "test", Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(m.Text())
	if strings.Count(text, "fneg <8 x float>") != 1 || strings.Count(text, "fadd <8 x float>") != 1 || strings.Count(text, "fsub <8 x float>") != 1 {
		t.Errorf("want one negation, one sum and one difference:\n%s", text)
	}
}
