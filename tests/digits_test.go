package tests

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tenon/frontend/weights"
	"tenon/internal/num"
)

const (
	images = 1797
	known  = 1297 // the rest are to be classified
)

// digits are the flags that classify the last 500 images.
func digits(t *testing.T, out string, more ...string) []string {
	t.Helper()
	folder, err := filepath.Abs("../examples/digits")
	if err != nil {
		t.Fatal(err)
	}
	x, y := folder+"/digits_x.npy", folder+"/digits_y.npy"
	return append([]string{"run", folder + "/knn.tn", "--out", out,
		"--in", fmt.Sprintf("train=%s[:%d,:]", x, known), "--in", fmt.Sprintf("labels=%s[:%d]", y, known),
		"--in", fmt.Sprintf("x=%s[%d:,:]", x, known)}, more...)
}

// The interpreter, and native code at both ends of the scale, give the same
// labels, and 480 of them are right.
func TestDigits(t *testing.T) {
	dir := t.TempDir()
	run := func(out string, flags ...string) []byte {
		if _, messages, code := runTenon(t, dir, nil, digits(t, out, flags...)...); code != 0 {
			t.Fatalf("exit %d: %s", code, messages)
		}
		data, err := os.ReadFile(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := run("interp.npy", "--interp")
	truth := load(t, "../examples/digits", "digits_y").Cells()[known:]
	right := 0
	for i, c := range load(t, dir, "interp").Cells() {
		if c == truth[i] {
			right++
		}
	}
	if right != 480 || len(truth) != images-known {
		t.Errorf("%d of %d right; expected 480 of 500", right, len(truth))
	}
	needLLVM(t)
	for _, level := range []string{"-O0", "-O3"} {
		if !bytes.Equal(run("native.npy", level), want) {
			t.Errorf("%s differs from the interpreter", level)
		}
	}
}

// Twenty random splits, classified by compiled code and by NumPy. The values
// are small integers, so that distances are exact and ties are real.
func TestDigitsAgainstNumPy(t *testing.T) {
	needLLVM(t)
	python := numpy(t)
	dir := t.TempDir()
	x, y := load(t, "../examples/digits", "digits_x"), load(t, "../examples/digits", "digits_y")
	const splits = 20
	r := rand.New(rand.NewPCG(20, 26))
	for i := range splits {
		order := r.Perm(images)
		train, test := order[:1+r.IntN(1200)], order[1500:]
		save(t, dir, fmt.Sprint("train_", i), rows(x, train))
		save(t, dir, fmt.Sprint("labels_", i), rows(y, train))
		save(t, dir, fmt.Sprint("x_", i), rows(x, test))
	}
	reference(t, python, "digits", dir)
	program, _ := filepath.Abs("../examples/digits/knn.tn")
	for i := range splits {
		in := func(name string) string { return fmt.Sprintf("%s=%s_%d.npy", name, name, i) }
		_, messages, code := runTenon(t, dir, nil, "run", program, "--in", in("train"), "--in", in("labels"), "--in", in("x"), "--out", "got.npy")
		if code != 0 {
			t.Fatalf("split %d: exit %d: %s", i, code, messages)
		}
		got, want := load(t, dir, "got").Cells(), load(t, dir, fmt.Sprint("want_", i)).Cells()
		if len(got) != len(want) {
			t.Fatalf("split %d: %d labels, NumPy has %d", i, len(got), len(want))
		}
		for j := range got {
			if got[j] != want[j] {
				t.Errorf("split %d, image %d: %d, NumPy says %d", i, j, num.Int(got[j]), num.Int(want[j]))
			}
		}
	}
}

// rows picks rows of an array.
func rows(a *weights.Array, pick []int) *weights.Array {
	cells, width := a.Cells(), int(a.Len()/a.Shape[0])
	var out []num.Cell
	for _, i := range pick {
		out = append(out, cells[i*width:(i+1)*width]...)
	}
	return weights.FromCells(a.Elem, append([]int64{int64(len(pick))}, a.Shape[1:]...), out)
}
