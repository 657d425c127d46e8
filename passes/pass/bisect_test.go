package pass_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	"tenon/passes/pass"
)

// sums is a program of n additions, each of its own.
func sums(t *testing.T, n int) *ir.Module {
	t.Helper()
	var b strings.Builder
	b.WriteString("tenon ir 1\nfunc tensor @f<N>(%x: f32[N]) -> (f32[N]) {\n  %y0 = tensor.comp par(i < N) in(%e = %x[i]) { yield(%e) } : f32[N]\n")
	for i := range n {
		fmt.Fprintf(&b, "  %%y%d = tensor.comp par(i < N) in(%%e = %%y%d[i]) {\n    %%c = const %d.5 : f32\n    %%a = add(%%e, %%c)\n    yield(%%a)\n  } : f32[N]\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "  return(%%y%d)\n}\n", n)
	m, err := ir.Parse("sums.tnir", b.String())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// swap is a Counted pass that does nothing to the additions it is applied to but
// act on the one of the number wrong, counted from 1.
func swap(name string, wrong int, act func(op *ir.Op)) pass.Instance {
	p := &pass.Pass{Name: name, Doc: "test", Counted: true, Run: func(c *pass.Context) error {
		f := c.Module.Funcs()[0]
		c.At(f, nil)
		n := 0
		f.Body.Walk(func(op *ir.Op) bool {
			if op.Def.Name == "add" && c.Apply(op) {
				if n++; n == wrong {
					act(op)
				}
			}
			return true
		})
		return nil
	}}
	return pass.Instance{Pass: p}
}

func toSub(op *ir.Op) { op.Def = ir.MustOp("sub") }

func bisect(t *testing.T, m *ir.Module, passes ...pass.Instance) (*diag.Bug, string) {
	t.Helper()
	before := ir.Print(m)
	w, err := (&pass.Manager{TempDir: t.TempDir()}).Bisect(m, passes)
	if err != nil {
		t.Fatal(err)
	}
	if ir.Print(m) != before {
		t.Error("the module is changed")
	}
	if w == nil {
		return nil, ""
	}
	b := w.Bug
	if again := pass.Fault(w.Before, w.Passes); again == nil || again.Pass != b.Pass {
		t.Errorf("%s does not show it again: %+v", pass.List(w.Passes), again)
	}
	text, err := os.ReadFile(b.Reproducer)
	if err != nil {
		t.Fatal(err)
	}
	return b, string(text)
}

// Of 20 additions the one that is wrong is named, wherever it is.
func TestBisectFindsTheApplication(t *testing.T) {
	for _, n := range []int{1, 2, 13, 20} {
		b, text := bisect(t, sums(t, 20), nothing, swap("swap", n, toSub), nothing)
		if b == nil {
			t.Fatalf("application %d is not found", n)
		}
		where := fmt.Sprintf("first wrong: pass 2 of 3, its application %d of 20", n)
		at := fmt.Sprintf("sub at sums.tnir:%d:5", 4+5*(n-1)+2)
		if b.Pass != "swap" || b.Op != at || !strings.Contains(b.Msg, where) {
			t.Errorf("application %d: %v, want %s and %s", n, b, where, at)
		}
		if want := fmt.Sprintf(" --passes=swap{limit=%d},nothing --bisect\n", n); !strings.Contains(text, want) {
			t.Errorf("the reproducer lacks %q:\n%s", want, text)
		}
	}
}

// A crash in an application that was not counted yet is that of the next one.
func TestBisectFindsTheCrash(t *testing.T) {
	b, _ := bisect(t, sums(t, 9), swap("swap", 4, func(*ir.Op) { panic("oh") }))
	if b == nil || b.Msg != "oh\nfirst wrong: pass 1 of 1, its application 4 of 4" || b.Stack == "" {
		t.Errorf("%+v", b)
	}
}

// A later pass that hides the fault of an earlier one does not hide it here, and
// right passes are not accused.
func TestBisectIsNotMisled(t *testing.T) {
	back := pass.Instance{Pass: &pass.Pass{Name: "back", Doc: "test", Run: func(c *pass.Context) error {
		c.Module.Funcs()[0].Body.Walk(func(op *ir.Op) bool {
			if op.Def.Name == "sub" {
				op.Def = ir.MustOp("add")
			}
			return true
		})
		return nil
	}}}
	if b, _ := bisect(t, sums(t, 3), nothing, swap("swap", 2, toSub), back); b == nil || b.Pass != "swap" {
		t.Errorf("%+v", b)
	}
	if b, _ := bisect(t, sums(t, 3), nothing, swap("swap", 0, toSub), back); b != nil {
		t.Errorf("%+v", b)
	}
}

// After a pass that makes the program so slow that a run of it is given up, a
// wrong pass is found by the program before all passes, which the reproducer
// then holds.
func TestBisectHoldsAgainstTheStart(t *testing.T) {
	slow := pass.Instance{Pass: &pass.Pass{Name: "slow", Doc: "test", Run: func(c *pass.Context) error {
		text := strings.Replace(ir.Print(c.Module), "  return", `  %w = tensor.comp red(i < 400000) {
    %c = const 1.0 : f32
    yield(%c)
  } by sum(f32) : f32[]
  return`, 1)
		m, err := ir.Parse("slow", text)
		if err == nil {
			c.Module.Items = m.Items
		}
		return err
	}}}
	b, text := bisect(t, sums(t, 3), slow, swap("swap", 2, toSub))
	if b == nil || b.Pass != "swap" || !strings.Contains(b.Msg, "application 2 of 3") {
		t.Fatalf("%+v", b)
	}
	if strings.Contains(text, "400000") || !strings.Contains(text, "--passes=slow,swap{limit=2} --bisect\n") {
		t.Errorf("the reproducer is\n%s", text)
	}
}
