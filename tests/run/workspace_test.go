package run

import (
	"testing"

	"tenon"
	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/runtime"
)

// What `explain --memory` says of the workspace is what the plan of a call asks
// for, at every size.
func TestWorkspaceIsWhatExplainSays(t *testing.T) {
	const text = `fn f(x: f32[M, N], w: f64[N, M]) -> f32[M, M] {
  let h[i, j] = tanh(sum[k] x[i, k] * f32(w[k, j]))
  let g[i, j] = exp(sum[k] w[i, k] * f64(h[k, j]))
  let f[i, j] = sum[k] x[i, k] * f32(g[k, j])
  return (sum[k] f[k, i] * h[j, k]) for i, j
}`
	m, err := driver.Parse("f.tn", text)
	if err != nil {
		t.Fatal(err)
	}
	lib := loadHere(t, m)
	some := int64(0)
	for _, n := range []int64{0, 1, 3, 17, 100} {
		for _, k := range []int64{0, 1, 50} {
			all, err := driver.ExplainMemory(m, "f", map[string]int64{"M": n, "N": k}, tenon.Options{Opt: 2})
			if err != nil || len(all) != 1 || all[0].Workspace.Bytes == nil {
				t.Fatal(all, err)
			}
			plan, status, err := lib.Plan("f", []runtime.Arg{alloc(t, num.F32, n, k), alloc(t, num.F64, k, n), runtime.Output{Elem: num.F32, Rank: 2}}, 0)
			if err != nil || status.Code != runtime.OK {
				t.Fatal(status, err)
			}
			if plan.Workspace != *all[0].Workspace.Bytes {
				// a slot without elements needs no room for alignment either
				if plan.Workspace != 0 || *all[0].Workspace.Bytes > 63 {
					t.Errorf("M = %d, N = %d: the plan asks for %d bytes, explain says %s", n, k, plan.Workspace, all[0].Workspace)
				}
			}
			some = max(some, plan.Workspace)
		}
	}
	if some == 0 {
		t.Error("the program needs no workspace: nothing was compared")
	}
}

func alloc(t *testing.T, e num.Elem, shape ...int64) *runtime.Tensor {
	t.Helper()
	x, err := runtime.Alloc(e, shape)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What it says of prepared buffers is what a plan without a state asks for more
// than one with it.
func TestPreparedIsWhatExplainSays(t *testing.T) {
	desc, err := Machines[0].Desc()
	if err != nil {
		t.Fatal(err)
	}
	m := layer(t, desc.Lanes(4))
	lib, f := loadHere(t, m), ir.Lookup[*ir.Func](m, "layer")
	for i, dims := range layerSizes {
		all, err := driver.ExplainMemory(m, "layer", dims, tenon.Options{Opt: 2})
		if err != nil || len(all) != 1 || all[0].Prepared == nil || all[0].Prepared.Bytes == nil {
			t.Fatal(all, err)
		}
		args, _ := drawn(t, m, f, dims, uint64(i))
		list, _ := passedTo(t, f, args, []int64{dims["M"], dims["N"]}, false)
		plan, status, err := lib.Plan("layer", list, 0)
		if err != nil || status.Code != runtime.OK {
			t.Fatal(status, err)
		}
		if want := *all[0].Prepared.Bytes; plan.Workspace != want && plan.Workspace != want+63 || all[0].Workspace.Expr != "0" {
			t.Errorf("%v: a plan without a state asks for %d bytes; explain says %s and a workspace of %s", dims, plan.Workspace, all[0].Prepared, all[0].Workspace)
		}
	}
}
