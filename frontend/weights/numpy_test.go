package weights

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tenon/internal/num"
)

// numpy finds a Python with NumPy: $TENON_PYTHON, then .venv in the project's
// root, then the system's.
func numpy(t *testing.T) string {
	t.Helper()
	tried := []string{os.Getenv("TENON_PYTHON"), "../../.venv/bin/python3", "/usr/bin/python3"}
	for _, p := range tried {
		if p != "" && exec.Command(p, "-c", "import numpy").Run() == nil {
			return p
		}
	}
	t.Skipf("SKIPPED: no Python with NumPy in %q; set TENON_PYTHON", tried)
	return ""
}

func python(t *testing.T, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command(numpy(t), append([]string{"-c", script}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, stderr.String())
	}
	return string(out)
}

// saveScript saves arrays in every type, order and format, and prints a VALUE
// with the bytes that NumPy gives for it, one JSON object a line.
const saveScript = `
import sys, json, os
import numpy as np
d = sys.argv[1]
rng = np.random.default_rng(1)
elem = {'b1':'bool','u1':'u8','i1':'i8','i2':'i16','i4':'i32','i8':'i64','f2':'f16','f4':'f32','f8':'f64'}
def say(text, a):
    code = a.dtype.str[1:]
    a = a.astype('<' + code, order='C')
    print(json.dumps(dict(value=os.path.join(d, text), elem=elem[code], shape=list(a.shape), hex=a.tobytes().hex())))
slices = ['', '[1:, ::-1]', '[0]', '[..., -1]', '[::-2, 1:3, 0]', '[-2:, :, 5:]', '[2:0:-1]']
members = {}
for code in elem:
    for order in '<>':
        for layout in 'CF':
            a = (rng.standard_normal((3, 4, 2)) * 50).astype(code)
            a = np.asarray(a, dtype=order + code, order=layout)
            name = '%s%s%s' % (code, 'lb'['<>'.index(order)], layout)
            np.save(os.path.join(d, name + '.npy'), a)
            members[name] = a
            for s in slices:
                say(name + '.npy' + s, eval('a' + s))
np.savez(os.path.join(d, 's.npz'), **members)
np.savez_compressed(os.path.join(d, 'c.npz'), **members)
for name, a in members.items():
    say('s.npz:' + name, a)
    say('c.npz:' + name + '[1]', a[1])
for v, shape in (1, ()), (2, (0, 3)), (3, (5,)):
    a = np.asarray(rng.standard_normal(shape))
    with open(os.path.join(d, 'v%d.npy' % v), 'wb') as f:
        np.lib.format.write_array(f, a, version=(v, 0))
    say('v%d.npy' % v, a)
wide = (rng.standard_normal(1000) * 10.0 ** rng.integers(-8, 8, 1000))
np.save(os.path.join(d, 'wide.npy'), wide)
with np.errstate(over='ignore'):
    for code in 'f2', 'f4':
        say('wide.npy as ' + elem[code], wide.astype(code))
ints = rng.integers(-2**62, 2**62, 1000)
np.save(os.path.join(d, 'ints.npy'), ints)
for code in 'f4', 'f8', 'i4', 'i1', 'u1', 'b1':
    say('ints.npy as ' + elem[code], ints.astype(code))
for code in 'u2', 'u4', 'u8':
    u = rng.integers(0, 2**(8*int(code[1]) - 1), 100, dtype=code)
    np.save(os.path.join(d, code + '.npy'), u)
    for to in 'i8', 'f4', 'f8':
        say(code + '.npy as ' + elem[to], u.astype(to))
`

func TestNumPyWritesWeRead(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(python(t, saveScript, t.TempDir())), "\n")
	if len(lines) < 300 {
		t.Fatalf("only %d cases", len(lines))
	}
	for _, line := range lines {
		var c struct {
			Value, Elem, Hex string
			Shape            []int64
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		v, err := ParseValue(c.Value)
		if err != nil {
			t.Fatal(err)
		}
		a, err := v.Load(Want{Elem: num.ElemByName(c.Elem), Rank: len(c.Shape)})
		if err != nil {
			t.Errorf("%s: %v", c.Value, err)
			continue
		}
		if got := hex.EncodeToString(a.Contiguous()); !slices.Equal(a.Shape, c.Shape) || got != c.Hex {
			t.Errorf("%s: got %v %.80s, want %v %.80s", c.Value, a.Shape, got, c.Shape, c.Hex)
		}
	}
}

// loadScript compares each file with the bytes in the manifest.
const loadScript = `
import sys, json
import numpy as np
n = 0
for line in open(sys.argv[1]):
    c = json.loads(line)
    a = np.load(c['file'])
    if c['member']:
        a = a[c['member']]
    assert a.dtype.str == c['descr'] and list(a.shape) == c['shape'] and a.tobytes().hex() == c['hex'], (c, a)
    n += 1
print(n)
`

func TestWeWriteNumPyReads(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	dir := t.TempDir()
	var manifest strings.Builder
	n := 0
	add := func(file, member string, a *Array) {
		n++
		line, err := json.Marshal(map[string]any{"file": file, "member": member, "descr": npyDescr[a.Elem],
			"shape": append([]int64{}, a.Shape...), "hex": hex.EncodeToString(a.Contiguous())})
		if err != nil {
			t.Fatal(err)
		}
		manifest.Write(append(line, '\n'))
	}
	for round := range 10 {
		var names []string
		var arrays []*Array
		npz := filepath.Join(dir, fmt.Sprintf("%d.npz", round))
		for _, e := range num.Elems {
			if e == num.BF16 {
				continue
			}
			a := randomArray(r, e)
			file := filepath.Join(dir, fmt.Sprintf("%d%s.npy", round, e))
			if err := WriteNpy(file, a); err != nil {
				t.Fatal(err)
			}
			add(file, "", a)
			add(npz, e.String(), a)
			names, arrays = append(names, e.String()), append(arrays, a)
		}
		if err := WriteNpz(npz, names, arrays); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "manifest")
	if err := os.WriteFile(path, []byte(manifest.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(python(t, loadScript, path)); got != fmt.Sprint(n) {
		t.Errorf("NumPy compared %s files of %d", got, n)
	}
}

// scipyScript saves a sparse matrix in two formats; it says so if it cannot.
const scipyScript = `
import sys
try:
    import scipy.sparse as sp
except ImportError:
    print('no scipy'); sys.exit()
m = sp.csr_matrix([[0, 1.5, 0, 2.0], [0, 0, 0, 0], [3.25, 0, 0, 0]])
sp.save_npz(sys.argv[1] + '/csr.npz', m)
sp.save_npz(sys.argv[1] + '/csc.npz', m.tocsc())
`

func TestScipyWritesWeRead(t *testing.T) {
	dir := t.TempDir()
	if out := python(t, scipyScript, dir); strings.Contains(out, "no scipy") {
		t.Skip("SKIPPED: this Python has no SciPy")
	}
	v, _ := ParseValue(dir + "/csr.npz")
	c, err := v.LoadCSR(CSRWant{Name: "A", Elem: num.F64})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Shape, []int64{3, 4}) || !slices.Equal(c.Indptr.ints(), []int64{0, 2, 2, 3}) ||
		!slices.Equal(c.Indices.ints(), []int64{1, 3, 0}) || !slices.Equal(floats(c.Data), []float64{1.5, 2, 3.25}) {
		t.Errorf("got %+v", c)
	}
	v, _ = ParseValue(dir + "/csc.npz")
	if _, err := v.LoadCSR(CSRWant{}); err == nil || !strings.Contains(err.Error(), "csc") {
		t.Errorf("csc: %v", err)
	}
}
