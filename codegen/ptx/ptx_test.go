package ptx

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/targets"
)

// assemble gives the PTX of a module at the gpu level.
func assemble(t *testing.T, text, cpu string, opt int) string {
	t.Helper()
	tools, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, PTX is not checked: %v", err)
	}
	d, err := targets.Find("nvptx", cpu)
	if err != nil {
		t.Fatal(err)
	}
	low, err := Lower(parse(t, text), d, "test")
	if err != nil {
		t.Fatal(err)
	}
	out, err := tools.Compile(context.Background(), low.Text(), targets.CompileOpts{Opt: opt, Emit: targets.EmitAsm, GPU: d})
	if err != nil {
		t.Fatalf("%v\n%s", err, low.Text())
	}
	return string(out)
}

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse("test.tnir", "tenon ir 1\n"+text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{}, false))
	}
	return m
}

// entry finds the text of a kernel.
func entry(t *testing.T, ptx, name string) (params []string, body string) {
	t.Helper()
	m := regexp.MustCompile(`(?s)\.visible \.entry ` + name + `\(\n(.*?)\n\)(.*?)\n\}`).FindStringSubmatch(ptx)
	if m == nil {
		t.Fatalf("no entry %s in\n%s", name, ptx)
	}
	for _, p := range regexp.MustCompile(`\.param \.(\w+)(?: \.ptr[^,\n]*)? (\w+)`).FindAllStringSubmatch(m[1], -1) {
		params = append(params, p[1])
	}
	return params, m[2]
}

const programs = `
proc gpu @axpy<N>(in %a: f32, in %x: buf<f32[N]>, in %y: buf<f32[N]>, out %z: buf<f32[N]>) directives("contract") {
  gpu.launch blocks(g < (N + 127)//128) threads(t < 128) {
    loop.if (128*g + t < N) {
      store(add(mul(%a, load(%x[128*g + t])), load(%y[128*g + t])), %z[128*g + t]) } }
  return() }
proc gpu @block_sum<N>(in %x: buf<f32[N]>, out %y: buf<f32[(N + 255)//256]>) {
  gpu.launch blocks(g < (N + 255)//256) threads(t < 256) {
    %sh = gpu.shared : buf<f32[256], space(shared)>
    store(0.0: f32, %sh[t]); loop.if (256*g + t < N) { store(load(%x[256*g + t]), %sh[t]) }
    gpu.barrier; %half = const 128: index
    %last = loop.for r = 0 to 8 carry(%w = %half) {
      loop.if (t < %w) { store(add(load(%sh[t]), load(%sh[t + %w])), %sh[t]) }
      gpu.barrier; yield(tdiv(%w, 2: index)) } : index
    loop.if (t == 0) { store(load(%sh[0]), %y[g]) } }
  return() }
proc gpu @twice<M, N>(in %k: buf<i32[M]>, in %x: buf<f64[N]>, inout %y: buf<f64[M, N]>) {
  %two = const 2.0 : f64
  gpu.launch blocks(i < M, g < (N + 63)//64) threads(u < 2, t < 32) {
    loop.if (64*g + 32*u + t < N) { store(mul(%two, load(%x[64*g + 32*u + t])), %y[i, 64*g + 32*u + t]) } }
  gpu.launch blocks(i < M) threads(t < 32) {
    loop.if (t == 0) { %at = load(%k[i]); store(load(%x[%at]), %y[i, %at]) } }
  return() }
`

// The text of each kernel: its name, the types of its parameters, how many
// threads a block has, where it meets, and where its data are.
func TestPTX(t *testing.T) {
	for _, cpu := range []string{"sm_80", "sm_90"} {
		for _, opt := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s-O%d", cpu, opt), func(t *testing.T) {
				t.Parallel()
				ptx := assemble(t, programs, cpu, opt)
				if !strings.Contains(ptx, ".target "+cpu+"\n") || !strings.Contains(ptx, ".version 8.0\n") || !strings.Contains(ptx, ".address_size 64\n") {
					t.Errorf("the head is\n%.200s", ptx)
				}
				for _, c := range []struct {
					name, params      string
					threads, barriers int
					has, lacks        []string
				}{
					{"axpy", "u64 u64 u64 f32 u64 u64", 128, 0, []string{"fma.rn.f32", "%tid.x", "%ctaid.x"}, []string{".shared"}},
					{"block_sum", "u64 u64 u64 u64", 256, 9, []string{"add.rn.f32"}, []string{"fma"}},
					{"twice_0", "u64 u64 u64 u64 u64 u64", 64, 0, []string{"f64"}, []string{".shared"}},
					{"twice_1", "u64 u64 u64 u64 u64 u64", 32, 0, []string{"f64"}, []string{".shared"}},
				} {
					params, body := entry(t, ptx, c.name)
					if got := strings.Join(params, " "); got != c.params {
						t.Errorf("%s takes %s, want %s", c.name, got, c.params)
					}
					if want := fmt.Sprintf(".reqntid %d, 1, 1", c.threads); !strings.Contains(body, want) {
						t.Errorf("%s lacks %s", c.name, want)
					}
					checkBarriers(t, c.name, body, c.barriers)
					for _, w := range c.has {
						if !strings.Contains(body, w) {
							t.Errorf("%s lacks %s:\n%s", c.name, w, body)
						}
					}
					for _, w := range c.lacks {
						if strings.Contains(body, w) {
							t.Errorf("%s has %s:\n%s", c.name, w, body)
						}
					}
					if opt == 3 && !strings.Contains(body, "ld.global") {
						t.Errorf("%s reads no global memory:\n%s", c.name, body)
					}
				}
				if opt == 3 {
					_, body := entry(t, ptx, "block_sum")
					if !strings.Contains(body, "ld.shared.f32") || !strings.Contains(body, "st.shared.f32") {
						t.Errorf("block_sum does not use shared memory:\n%s", body)
					}
				}
				if !strings.Contains(ptx, "block_sum_$_shared_$_0[1024]") && !regexp.MustCompile(`\.shared \.align \d+ \.b8 block_sum\S*\[1024\]`).MatchString(ptx) {
					t.Errorf("no shared memory of 1024 bytes in\n%s", ptx)
				}
			})
		}
	}
}

// checkBarriers counts the places where threads meet: as written, or as often
// as a loop that was unrolled passes one.
func checkBarriers(t *testing.T, name, body string, passed int) {
	t.Helper()
	got := strings.Count(body, "bar.sync")
	switch {
	case passed == 0 && got != 0:
		t.Errorf("%s has %d barriers", name, got)
	case passed > 0 && got != passed && got != 2:
		t.Errorf("%s has %d barriers, want 2, or %d unrolled:\n%s", name, got, passed, body)
	}
}

// A thread that may leave a tensor tells so and goes on to the barriers after.
func TestAccessesAreChecked(t *testing.T) {
	_, body := entry(t, assemble(t, programs, "sm_80", 3), "twice_1")
	if strings.Count(body, "st.global.u32") < 3 { // code, arg, dim
		t.Errorf("a gather does not tell a fault:\n%s", body)
	}
	if _, body := entry(t, assemble(t, programs, "sm_80", 3), "axpy"); strings.Contains(body, "st.global.u32") {
		t.Errorf("accesses in range are checked:\n%s", body)
	}
}

func TestRefusals(t *testing.T) {
	d, err := targets.Find("nvptx", "")
	if err != nil {
		t.Fatal(err)
	}
	const launch = "gpu.launch blocks(g < N) threads(t < 32) "
	for _, c := range []struct{ text, want string }{
		{"proc gpu @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {\n  " + launch + "{ loop.if (t == 0) { store(exp(load(%x[g])), %y[g]) } }\n  return() }",
			"f calls the C library (expf)"},
		{"proc gpu @f<N>(in %x: buf<f32[N], strides(2)>, out %y: buf<f32[N]>) {\n  " + launch + "{ loop.if (t == 0) { store(load(%x[g]), %y[g]) } }\n  return() }",
			"parameter x of f is not dense"},
		{"proc gpu @f<N>(in %x: buf<f32[N]>, in %s: index, out %y: buf<f32[N]>) {\n  " + launch +
			"{ loop.for i = g to N step %s { loop.if (t == 0) { store(load(%x[i]), %y[g]) } } }\n  return() }", "step %s may not be positive"},
		{"proc gpu @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {\n  store(1.0: f32, %y[0])\n  return() }", "op store outside a launch"},
	} {
		_, err := Lower(parse(t, c.text), d, "test")
		if err == nil || !strings.Contains(err.Error(), c.want) || diag.ExitCode(err) != diag.ExitUser {
			t.Errorf("%s\ngives %v, want %q", c.text, err, c.want)
		}
	}
}
