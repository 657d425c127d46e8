package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tenon/frontend/weights"
	"tenon/internal/driver"
	"tenon/internal/num"
)

// numpy finds a Python with NumPy: TENON_PYTHON, else the project's virtual
// environment, else the system's.
func numpy(t *testing.T) string {
	t.Helper()
	python := "/usr/bin/python3"
	if venv, _ := filepath.Abs("../.venv/bin/python"); exists(venv) {
		python = venv
	}
	if p := os.Getenv("TENON_PYTHON"); p != "" {
		python = p
	}
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skipf("SKIPPED: %s has no NumPy; run `make python-env`, or set TENON_PYTHON", python)
	}
	return python
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// reference runs the script of an example on a folder of arrays.
func reference(t *testing.T, python, example, dir string) {
	t.Helper()
	if out, err := exec.Command(python, "../examples/"+example+"/reference.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// draw makes a seeded array: floats in -1 to 1, integers below limit.
func draw(r *rand.Rand, e num.Elem, limit int64, shape ...int64) *weights.Array {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	cells := make([]num.Cell, n)
	for i := range cells {
		if e.IsFloat() {
			cells[i] = num.FromFloat(num.Round(e, 2*r.Float64()-1))
		} else {
			cells[i] = num.FromInt(r.Int64N(limit))
		}
	}
	return weights.FromCells(e, shape, cells)
}

func save(t *testing.T, dir, name string, a *weights.Array) {
	t.Helper()
	if err := weights.WriteNpy(filepath.Join(dir, name+".npy"), a); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, dir, name string) *weights.Array {
	t.Helper()
	v, err := weights.ParseValue(filepath.Join(dir, name+".npy"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := v.Load(weights.Any)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// held runs program under --interp on the command line, and holds its result
// and NumPy's want.npy (float64, rounded to the result's type) against the
// interpreter's error bounds.
func held(t *testing.T, dir, program string, inputs ...string) {
	t.Helper()
	path, _ := filepath.Abs(program)
	args := []string{"run", path, "--interp", "--out", "got.npy"}
	var absolute []string
	for _, in := range inputs {
		name, file, _ := weights.SplitBinding(in)
		args = append(args, "--in", in)
		absolute = append(absolute, name+"="+filepath.Join(dir, file))
	}
	if _, messages, code := runTenon(t, dir, nil, args...); code != 0 {
		t.Fatalf("exit %d: %s", code, messages)
	}
	m, err := driver.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	fn, err := driver.Entry(m, "")
	if err != nil {
		t.Fatal(err)
	}
	call, err := driver.Bind(m, fn, absolute)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := call.Interpret(context.Background(), 0, true)
	if err != nil {
		t.Fatal(err)
	}
	got := load(t, dir, "got")
	want, err := load(t, dir, "want").As(got.Elem)
	if err != nil {
		t.Fatal(err)
	}
	for what, a := range map[string]*weights.Array{"the command line": got, "NumPy": want} {
		if _, err := call.Verify([]*weights.Array{a}, ref); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// graph draws a multigraph: empty rows, loops and repeated edges, in no order.
func graph(r *rand.Rand, nodes int64) (indptr, indices *weights.Array) {
	ptr := []num.Cell{0}
	var cols []num.Cell
	for range nodes {
		for range r.IntN(4) * r.IntN(3) {
			cols = append(cols, num.FromInt(r.Int64N(nodes)))
		}
		ptr = append(ptr, num.FromInt(int64(len(cols))))
	}
	return weights.FromCells(num.I64, []int64{nodes + 1}, ptr), weights.FromCells(num.I32, []int64{int64(len(cols))}, cols)
}

func TestGraphConvolutionAgainstNumPy(t *testing.T) {
	python := numpy(t)
	r := rand.New(rand.NewPCG(2, 1))
	for _, size := range [][3]int64{{0, 3, 2}, {1, 1, 1}, {2, 3, 0}, {5, 0, 4}, {40, 7, 5}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir := t.TempDir()
			indptr, indices := graph(r, size[0])
			convolve(t, python, dir, r, indptr, indices, size[1], size[2])
		})
	}
}

func convolve(t *testing.T, python, dir string, r *rand.Rand, indptr, indices *weights.Array, features, outputs int64) {
	nodes := indptr.Len() - 1
	save(t, dir, "indptr", indptr)
	save(t, dir, "indices", indices)
	save(t, dir, "x", draw(r, num.F32, 0, nodes, features))
	save(t, dir, "w", draw(r, num.F32, 0, features, outputs))
	save(t, dir, "b", draw(r, num.F32, 0, outputs))
	reference(t, python, "gcn", dir)
	held(t, dir, "../examples/gcn/gcn.tn", "A.indptr=indptr.npy", "A.indices=indices.npy", "x=x.npy", "w=w.npy", "b=b.npy")
}

// Citation graphs, where the folder TENON_DATA has them as npz files with the
// members indptr and indices.
func TestGraphConvolutionOnCitations(t *testing.T) {
	data := os.Getenv("TENON_DATA")
	if data == "" {
		t.Skip("SKIPPED: TENON_DATA names no folder with cora.npz and citeseer.npz")
	}
	python := numpy(t)
	for _, name := range []string{"cora", "citeseer"} {
		f, err := weights.Open(filepath.Join(data, name+".npz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		indptr, err := f.Get("indptr")
		if err != nil {
			t.Fatal(err)
		}
		indices, err := f.Get("indices")
		if err != nil {
			t.Fatal(err)
		}
		convolve(t, python, t.TempDir(), rand.New(rand.NewPCG(3, 1)), indptr, indices, 16, 8)
	}
}

func TestQuantisedLinearAgainstNumPy(t *testing.T) {
	python := numpy(t)
	r := rand.New(rand.NewPCG(4, 1))
	for _, size := range [][3]int64{{1, 1, 8}, {0, 3, 16}, {3, 5, 64}, {2, 0, 8}, {1, 2, 0}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir := t.TempDir()
			m, n, k := size[0], size[1], size[2]
			save(t, dir, "codes", draw(r, num.U8, 256, n, k/8, 2))
			save(t, dir, "codebooks", draw(r, num.F16, 0, 2, 256, 8))
			save(t, dir, "scales", draw(r, num.F16, 0, n))
			save(t, dir, "x", draw(r, num.F32, 0, m, k))
			reference(t, python, "vq", dir)
			held(t, dir, "../examples/vq/linear.tn", "w.codes=codes.npy", "w.codebooks=codebooks.npy", "w.scales=scales.npy", "x=x.npy")
		})
	}
}
