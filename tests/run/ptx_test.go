package run

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tenon"
	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/targets"
)

const kernels = `
fn relu_axpy(a: f32, x: f32[N], y: f32[N]) -> f32[N] { return max(a * x[i] + y[i], 0.0) for i }
fn row_sums(x: f32[M, N]) -> f32[M] { return sum[j] x[i, j] for i }
`

// An element-wise program and a reduction become PTX: each kernel's entry, the
// types of its parameters (addresses, scalars, dims, the error), its threads
// and its barriers.
func TestProgramsBecomePTX(t *testing.T) {
	m := program(t, map[string]string{"prog.tn": kernels})
	for _, cpu := range []string{"sm_80", "sm_90"} {
		a, err := tenon.CompileModule(t.Context(), m, "prog.tn", tenon.Options{Target: "nvptx", CPU: cpu, Opt: 2})
		var missing *diag.MissingTool
		if errors.As(err, &missing) {
			t.Skipf("SKIP, PTX is not checked: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Assembly(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ptx := string(out)
		if !strings.Contains(ptx, ".target "+cpu+"\n") {
			t.Errorf("the target is not %s:\n%.300s", cpu, ptx)
		}
		if n := strings.Count(ptx, ".entry"); n != 2 {
			t.Errorf("%d entries, want 2", n)
		}
		for _, c := range []struct {
			name, params, op string
			barriers         int // one once the threads' sums are there, one for each halving of 256
		}{
			{"relu_axpy", "u64 u64 u64 f32 u64 u64", "fma.rn.f32", 0},
			{"row_sums", "u64 u64 u64 u64 u64", "add.rn.f32", 9},
		} {
			k := regexp.MustCompile(`(?s)\.visible \.entry ` + c.name + `\(\n(.*?)\n\)(.*?)\n\}`).FindStringSubmatch(ptx)
			if k == nil {
				t.Fatalf("no entry %s in\n%s", c.name, ptx)
			}
			var params []string
			for _, p := range regexp.MustCompile(`\.param \.(\w+)`).FindAllStringSubmatch(k[1], -1) {
				params = append(params, p[1])
			}
			if got := strings.Join(params, " "); got != c.params {
				t.Errorf("%s, %s takes %s, want %s", cpu, c.name, got, c.params)
			}
			if n := strings.Count(k[2], "bar.sync"); n != c.barriers {
				t.Errorf("%s, %s has %d barriers, want %d", cpu, c.name, n, c.barriers)
			}
			if strings.Contains(k[2], ".shared") != (c.barriers > 0) {
				t.Errorf("%s, %s: shared memory where there are %d barriers:\n%s", cpu, c.name, c.barriers, k[2])
			}
			for _, w := range []string{".reqntid 256, 1, 1", "ld.global", "st.global", "%ctaid.x", "%tid.x", c.op} {
				if !strings.Contains(k[2], w) {
					t.Errorf("%s, %s lacks %s:\n%s", cpu, c.name, w, k[2])
				}
			}
		}
	}
}

// Whatever has a form on a GPU computes there what the source says: the
// interpreter runs blocks and threads, and finds accesses without a barrier.
func TestKernelsAgree(t *testing.T) {
	d, err := targets.Find("nvptx", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"kernels": kernels, "more": `
fn layernorm(x: f32[M, D], g: f32[D]) -> f32[M, D] {
  let u[i] = sum[j] x[i, j] / f32(D)
  let v[i] = sum[j] (x[i, j] - u[i]) * (x[i, j] - u[i])
  return (x[i, j] - u[i]) * rsqrt(v[i] + 0.5) * g[j] for i, j
}
fn product(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] a[i, k] * b[k, j] for i, j }
fn top(x: i32[M, N]) -> i32[M] { return max[j] x[i, j] for i }
fn gelu(x: f32[N]) -> f32[N] { return x[i] * sigmoid(1.5 * x[i]) for i }
fn gathered(x: f32[N], k: i32[M]) -> f32[M] { return x[k[i]] for i }
`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := program(t, map[string]string{"prog.tn": text})
			low, err := driver.Lower(m, d, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.Funcs() {
				kernel := ir.Lookup[*ir.Func](low, f.Name)
				if kernel.Level != ir.LevelGPU {
					t.Errorf("%s stays at the %s level", f.Name, kernel.Level)
					continue
				}
				sameOnGPU(t, m, low, f)
			}
		})
	}
}

// sameOnGPU runs f and its kernels in the interpreter.
func sameOnGPU(t *testing.T, m, low *ir.Module, f *ir.Func) {
	t.Helper()
	calls := 0
	for i, n := range []int64{0, 1, 3, 8} {
		dims := map[string]int64{"M": 2, "K": 4, "D": n, "N": n}
		args, ok := Draw(f, dims, Plain, uint64(i))
		if !ok {
			continue
		}
		want, fault := Reference(m, f.Name, args)
		shapes, err := ResultShapes(low, f.Name, args, want)
		if err != nil {
			t.Fatal(err)
		}
		all := copies(args)
		for _, shape := range shapes {
			all = append(all, ir.NewArray(ir.ElemOf(f.Results[0].Type), shape...))
		}
		got, err := interp.New(low, interp.Options{Seed: 1}).Run(f.Name, all)
		if (err != nil) != (fault != nil) {
			t.Errorf("%s at %d: %v; the source: %v", f.Name, n, err, fault)
			continue
		}
		if fault != nil {
			continue
		}
		for r := range want {
			if _, err := interp.Compare(got[r], want[r]); err != nil {
				t.Errorf("%s, N = %d, result %d: %v", f.Name, n, r, err)
			}
		}
		calls++
	}
	if calls == 0 {
		t.Error(fmt.Sprint(f.Name, " was never compared"))
	}
}
