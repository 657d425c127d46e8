package pass_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/passes/pass"
)

const program = `tenon ir 1
func tensor @keep<N>(%x: f32[N]) -> (f32[N]) {
  return(%x)
}
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.comp par(i < N) in(%e = %x[i]) {
    %a = add(%e, %e)
    yield(%a)
  } : f32[N]
  return(%y)
}
`

func parse(t *testing.T) *ir.Module {
	t.Helper()
	m, err := ir.Parse("in.tnir", program)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// edit is a pass that does f to the comp of @f.
func edit(name string, reassociates bool, f func(c *pass.Context, r *ir.Region)) pass.Instance {
	return pass.Instance{Pass: &pass.Pass{Name: name, Doc: "test", Reassociates: reassociates, Run: func(c *pass.Context) error {
		fn := ir.Lookup[*ir.Func](c.Module, "f")
		comp := fn.Body.Ops[0]
		c.At(fn, comp)
		f(c, comp.Regions()[0])
		return nil
	}}}
}

var (
	nothing   = edit("nothing", false, func(*pass.Context, *ir.Region) {})
	subtract  = edit("subtract", false, func(_ *pass.Context, r *ir.Region) { r.Ops[0].Def = ir.MustOp("sub") })
	double    = edit("double", false, func(_ *pass.Context, r *ir.Region) { r.Ops[0].Def = ir.MustOp("max") })
	crash     = edit("crash", false, func(*pass.Context, *ir.Region) { panic("oh") })
	unfinish  = edit("unfinish", false, func(_ *pass.Context, r *ir.Region) { r.Ops = r.Ops[:1] })
	declining = edit("declining", false, func(c *pass.Context, _ *ir.Region) { c.Decline(ir.Loc{}, "not today") })
	rename    = edit("rename", false, func(_ *pass.Context, r *ir.Region) { r.Ops[0].Results[0].Name = "x" })
)

// bug runs passes that must raise one.
func bug(t *testing.T, g *pass.Manager, passes ...pass.Instance) (b *diag.Bug) {
	t.Helper()
	g.TempDir = t.TempDir()
	defer func() {
		var ok bool
		if b, ok = recover().(*diag.Bug); !ok {
			t.Fatal("no bug is raised")
		}
	}()
	t.Fatal(g.Run(parse(t), passes))
	return nil
}

func TestVerifyEachNamesTheWrongPass(t *testing.T) {
	b := bug(t, &pass.Manager{VerifyEach: true}, nothing, subtract, nothing)
	for _, part := range []string{"@f", "seed", "element [", "expected"} {
		if b.Pass != "subtract" || !strings.Contains(b.Msg, part) {
			t.Errorf("pass %s: %q does not tell %q", b.Pass, b.Msg, part)
		}
	}
}

// A pass that may re-associate is held to the bounds, not to bits, and a wrong
// one is still found.
func TestVerifyEachWithinBounds(t *testing.T) {
	loose := double
	p := *loose.Pass
	p.Reassociates = true
	loose.Pass = &p
	if b := bug(t, &pass.Manager{VerifyEach: true}, loose); b.Pass != "double" {
		t.Errorf("names %s", b.Pass)
	}
}

// The reproducer holds the module before the pass and the command.
func TestCrashNamesPassFunctionOp(t *testing.T) {
	b := bug(t, &pass.Manager{}, nothing, crash, nothing)
	if b.Pass != "crash" || b.Func != "f" || b.Op != "tensor.comp at in.tnir:6:3" || b.Msg != "oh" || b.Stack == "" {
		t.Errorf("%+v", b)
	}
	text, err := os.ReadFile(b.Reproducer)
	if err != nil || !strings.Contains(string(text), "// tenon opt "+filepath.Base(b.Reproducer)+" --passes=crash,nothing\n") {
		t.Errorf("%v: %s", err, text)
	}
	m, err := ir.Parse("reproducer", string(text))
	if err != nil || !ir.Equal(m, parse(t)) {
		t.Errorf("the reproducer is not the module before the pass: %v", err)
	}
}

func TestInvalidModuleNamesPass(t *testing.T) {
	if b := bug(t, &pass.Manager{}, unfinish); b.Pass != "unfinish" || !strings.Contains(b.Msg, "does not verify") {
		t.Errorf("%+v", b)
	}
}

func TestPrintAfterOnlyChanges(t *testing.T) {
	var out strings.Builder
	g := &pass.Manager{PrintAfter: []string{"all"}, Out: &out, TimePasses: true}
	if err := g.Run(parse(t), []pass.Instance{nothing, subtract, nothing, declining}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "// after ") != 1 || !strings.Contains(got, "// after subtract\n") {
		t.Errorf("prints\n%s", got)
	}
	if len(g.Remarks) != 1 || g.Remarks[0].Pass != "declining" || g.Remarks[0].Func != "f" || g.Remarks[0].Done || g.Remarks[0].Reason != "not today" {
		t.Errorf("remarks: %v", g.Remarks)
	}
	out.Reset()
	g.WriteTimes(&out)
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 6 || !strings.HasPrefix(lines[5], "total") {
		t.Errorf("times:\n%s", out.String())
	}
}

// A pass may reuse a name: the manager makes it unique, and the text is read
// back as the same module.
func TestNamesAreMadeUnique(t *testing.T) {
	m := parse(t)
	if err := (&pass.Manager{}).Run(m, []pass.Instance{rename}); err != nil {
		t.Fatal(err)
	}
	text := ir.Print(m)
	again, err := ir.Parse("text", text)
	if err != nil || ir.Print(again) != text || !strings.Contains(text, "%x_2 = add") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestLists(t *testing.T) {
	pass.Register(&pass.Pass{Name: "tile-test", Options: []pass.Option{{Name: "i", Default: "4"}, {Name: "j", Default: "8"}}})
	pass.Register(&pass.Pass{Name: "late-test", After: []string{"tile-test"}})
	for list, want := range map[string]string{
		"tile-test{j=2 i=3}, late-test": "tile-test{i=3 j=2},late-test",
		"":                              "",
		"tile-test":                     "tile-test",
		"tile-test{i=x}":                "!takes an integer",
		"tile-test{k=1}":                "!has no option",
		"tile-test{i=1":                 "!without a }",
		"tile-tes":                      "!did you mean tile-test?",
		"late-test,tile-test":           "!must come after",
		"late-test{a=1}":                "!takes no options",
		"tile-test{i}":                  "!not of the form",
	} {
		got, err := pass.Parse(list)
		switch {
		case err != nil && !(strings.HasPrefix(want, "!") && strings.Contains(err.Error(), want[1:])):
			t.Errorf("%q: %v, want %s", list, err, want)
		case err == nil && pass.List(got) != want:
			t.Errorf("%q reads as %q, want %s", list, pass.List(got), want)
		case err != nil && diag.ExitCode(err) != diag.ExitUsage:
			t.Errorf("%q: exit code %d", list, diag.ExitCode(err))
		}
	}
}
