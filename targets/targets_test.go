package targets

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/internal/diag"
)

func TestDescriptionsAreComplete(t *testing.T) {
	names, hashes := map[string]bool{}, map[string]bool{}
	for _, d := range All() {
		if d.Doc == "" || d.Triple == "" || d.CPU == "" || d.VectorBytes == 0 || d.VectorRegs == 0 || len(d.Caches) == 0 {
			t.Errorf("%s: a field is missing: %+v", d.Name, d)
		}
		if d.FMA.InFlight() == 0 || d.Load.InFlight() == 0 || d.Store.InFlight() == 0 {
			t.Errorf("%s: a unit is missing", d.Name)
		}
		if !slices.Contains(Families, d.Family) || (d.Family == "nvptx") != (d.GPU != nil) {
			t.Errorf("%s: family %q does not fit", d.Name, d.Family)
		}
		if names[d.Name] || hashes[d.Hash()] {
			t.Errorf("%s: name or hash is not unique", d.Name)
		}
		names[d.Name], hashes[d.Hash()] = true, true
	}
}

func TestHashSeesEveryNumber(t *testing.T) {
	d := *x86[2]
	before := d.Hash()
	d.Caches = []Cache{{"L1d", 1, false}}
	if d.Hash() == before {
		t.Error("a changed cache left the hash alone")
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ family, cpu, want string }{
		{"x86-64", "", "x86-64"}, {"x86-64", "x86-64-v3", "x86-64-v3"}, {"aarch64", "aarch64-sve", "aarch64-sve"}, {"nvptx", "", "sm_80"},
	} {
		d, err := Find(c.family, c.cpu)
		if err != nil || d.Name != c.want {
			t.Errorf("Find(%q, %q) = %v, %v", c.family, c.cpu, d, err)
		}
	}
	for _, c := range []struct{ family, cpu, say string }{
		{"vax", "", "nvptx"}, {"x86-64", "sm_80", "x86-64-v4"}, {"nvptx", "native", "host's own"},
	} {
		_, err := Find(c.family, c.cpu)
		if diag.ExitCode(err) != diag.ExitUsage || !strings.Contains(err.Error(), c.say) {
			t.Errorf("Find(%q, %q): %v", c.family, c.cpu, err)
		}
	}
}

const zen4 = `processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
flags		: sse2 cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni avx512_bf16

processor	: 1
flags		: sse2
`

func TestNativeFromCPUInfo(t *testing.T) {
	without := strings.NewReplacer(" avx512vl", "").Replace(zen4)
	for _, c := range []struct{ text, cpu, tune, feature string }{
		{zen4, "x86-64-v4", "znver4", "avx512bf16"},
		{without, "x86-64-v3", "znver4", ""},
		{"vendor_id : other\nflags : sse2 ssse3\n", "x86-64", "", ""},
	} {
		d, err := parseCPUInfo(strings.NewReader(c.text), "x86-64")
		if err != nil || d.CPU != c.cpu || d.Tune != c.tune || c.feature != "" && !d.Has(c.feature) || c.feature == "" && len(d.Features) > 0 {
			t.Errorf("%q: %+v, %v", c.text, d, err)
		}
	}
	if x86[3].Name != "x86-64-v4" || len(x86[3].Features) != 0 {
		t.Error("detection changed the built-in table")
	}
	d, err := parseCPUInfo(strings.NewReader("processor : 0\nFeatures : fp asimd sve\n"), "aarch64")
	if err != nil || !d.Scalable {
		t.Errorf("sve: %+v, %v", d, err)
	}
}

func TestLacks(t *testing.T) {
	amd, _ := cpuInfo(strings.NewReader(zen4))
	arm := map[string]string{"Features": "fp asimd"}
	for _, c := range []struct {
		d      *Desc
		fields map[string]string
		want   string
	}{
		{x86[3], amd, ""},
		{x86[3], map[string]string{"flags": strings.ReplaceAll(amd["flags"], " avx512bw", "")}, "this machine lacks avx512bw"},
		{x86[2], map[string]string{"flags": "sse2"}, "this machine lacks cx16, lahf_lm, popcnt, sse4_1, sse4_2, ssse3, avx, avx2, bmi1, bmi2, f16c, fma, abm, movbe, xsave"},
		{x86[0], map[string]string{"flags": "sse2"}, ""},
		{arm64[0], arm, ""},
		{arm64[1], arm, "this machine lacks sve"},
	} {
		if got := lacks(c.d, c.fields); got != c.want {
			t.Errorf("%s: %q, want %q", c.d.Name, got, c.want)
		}
	}
	for _, d := range All() {
		if why := CannotRun(d); d.Family != hostFamily() && !strings.Contains(why, "this machine is") {
			t.Errorf("%s runs here: %q", d.Name, why)
		}
	}
	if why := CannotRun(All()[0]); hostFamily() == "x86-64" && why != "" {
		t.Errorf("the baseline: %s", why)
	}
}

func TestNativeHere(t *testing.T) {
	d, err := Native()
	if err != nil {
		t.Skipf("no /proc/cpuinfo: %v", err)
	}
	if d.Name != "native" || d.Family != hostFamily() || len(d.Caches) == 0 {
		t.Errorf("%+v", d)
	}
}

// tools returns the toolchain or skips, saying what to install.
func tools(t *testing.T) *Toolchain {
	t.Helper()
	tc, err := FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	return tc
}

const callsExp = `source_filename = "m"
target triple = "x86_64-unknown-linux-gnu"
declare double @exp(double)
define double @f(double %x) {
  %y = call double @exp(double %x)
  ret double %y
}
define double @g(double %x) {
  ret double %x
}
`

const plain = `target triple = "x86_64-unknown-linux-gnu"
define i32 @h() {
  ret i32 7
}
`

func TestLinkNeedsOnlyWhatIsUsed(t *testing.T) {
	tc := tools(t)
	for _, c := range []struct {
		text string
		want []string
	}{{callsExp, []string{"libm.so.6"}}, {plain, nil}} {
		obj, err := tc.Compile(context.Background(), []byte(c.text), CompileOpts{Opt: 2})
		if err != nil {
			t.Fatal(err)
		}
		var before []byte
		for range 2 {
			so, err := tc.Link(context.Background(), x86[0], obj)
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.NewFile(bytes.NewReader(so))
			if err != nil {
				t.Fatal(err)
			}
			if libs, _ := f.ImportedLibraries(); !slices.Equal(libs, c.want) {
				t.Errorf("needs %v, want %v", libs, c.want)
			}
			if before != nil && !bytes.Equal(before, so) {
				t.Error("the same object gave two libraries")
			}
			if bytes.Contains(so, []byte("tenon-link")) {
				t.Error("a temporary path is in the library")
			}
			before = so
		}
	}
}

func TestEmitKinds(t *testing.T) {
	tc := tools(t)
	for opt := range 4 {
		asm, err := tc.Compile(context.Background(), []byte(callsExp), CompileOpts{Opt: opt, Emit: EmitAsm})
		if err != nil || !bytes.Contains(asm, []byte("exp@PLT")) {
			t.Errorf("O%d: %v\n%s", opt, err, asm)
		}
		text, err := tc.Compile(context.Background(), []byte(callsExp), CompileOpts{Opt: opt, Emit: EmitLLVM})
		if err != nil || !bytes.Contains(text, []byte("define double @f")) {
			t.Errorf("O%d: %v\n%s", opt, err, text)
		}
	}
}

func TestUndefinedSymbolIsABug(t *testing.T) {
	tc := tools(t)
	obj, err := tc.Compile(context.Background(), []byte(strings.ReplaceAll(callsExp, "@exp", "@no_such")), CompileOpts{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tc.Link(context.Background(), x86[0], obj)
	var bug *diag.Bug
	if !errors.As(err, &bug) || !strings.Contains(bug.Msg, "no_such") {
		t.Errorf("got %v", err)
	}
	os.Remove(bug.Reproducer)
}

func TestBrokenInputKeepsAReproducer(t *testing.T) {
	tc := tools(t)
	for opt := range 3 {
		_, err := tc.Compile(context.Background(), []byte("define nonsense"), CompileOpts{Opt: opt})
		var bug *diag.Bug
		if !errors.As(err, &bug) {
			t.Fatalf("got %v", err)
		}
		kept, err := os.ReadFile(bug.Reproducer)
		if err != nil || string(kept) != "define nonsense" {
			t.Errorf("reproducer %s: %q, %v", bug.Reproducer, kept, err)
		}
		os.Remove(bug.Reproducer)
	}
}

// script makes a stand-in for a tool.
func script(t *testing.T, dir, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestCancelAndTimeout(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, "llc", "exec sleep 60")
	tc := &Toolchain{LLC: filepath.Join(dir, "llc"), Timeout: 100 * time.Millisecond}
	start := time.Now()
	_, err := tc.Compile(context.Background(), []byte("x"), CompileOpts{})
	var bug *diag.Bug
	if !errors.As(err, &bug) || !strings.Contains(bug.Msg, "longer") {
		t.Errorf("time-out: %v", err)
	}
	os.Remove(bug.Reproducer)
	tc.Timeout = time.Hour
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := tc.Compile(ctx, []byte("x"), CompileOpts{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancel: %v", err)
	}
	if time.Since(start) > 20*time.Second {
		t.Error("the tool was not killed")
	}
}

func TestToolDiscovery(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"opt", "llc"} {
		script(t, dir, name, "echo 'Debian LLVM version 19.1.7'")
	}
	script(t, dir, "ld.lld", "echo 'Debian LLD 14.0.6 (compatible with GNU linkers)'")
	t.Setenv("TENON_LLVM", dir)
	_, err := FindToolchain()
	if diag.ExitCode(err) != diag.ExitTool || !strings.Contains(err.Error(), "LLD 14.0.6") || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("wrong version: %v", err)
	}
	script(t, dir, "ld.lld", "echo 'LLD 19.1.7 (compatible with GNU linkers)'")
	tc, err := FindToolchain()
	if err != nil || tc.LLD != filepath.Join(dir, "ld.lld") {
		t.Errorf("%+v, %v", tc, err)
	}
	t.Setenv("TENON_LLVM", filepath.Join(dir, "none"))
	if _, err := FindToolchain(); diag.ExitCode(err) != diag.ExitTool || !strings.Contains(err.Error(), "TENON_LLVM") {
		t.Errorf("absent: %v", err)
	}
}

func TestArchive(t *testing.T) {
	tc := tools(t)
	var members []Member
	for i, text := range []string{plain, callsExp} {
		obj, err := tc.Compile(context.Background(), []byte(text), CompileOpts{})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, Member{[]string{"plain.o", "calls.o"}[i], obj})
	}
	lib := Archive(members)
	path := filepath.Join(t.TempDir(), "lib.a")
	if err := os.WriteFile(path, lib, 0o644); err != nil {
		t.Fatal(err)
	}
	out := path + ".so" // the linker finds members by the index alone
	args := []string{"-shared", "--no-undefined", "-u", "h", "-u", "f", "-o", out, path}
	libs, err := systemLibs(x86[0], false)
	if err != nil {
		t.Skipf("SKIP: %v", err)
	}
	if _, err := tc.run(context.Background(), call{tool: tc.LLD, args: append(args, libs...), suffix: ".a"}); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, _ := f.DynamicSymbols()
	for _, want := range []string{"f", "g", "h"} {
		if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == want && s.Section != elf.SHN_UNDEF }) {
			t.Errorf("%s was not linked from the archive", want)
		}
	}
}
