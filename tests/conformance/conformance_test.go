package conformance

import (
	"encoding/binary"
	std "math"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/passes/math"
	"tenon/passes/math/minimax"
	"tenon/passes/pass"
	"tenon/passes/vec"
)

// limit is what semantics allow.
const limit = 2

var both = []num.Elem{num.F32, num.F64}

// formulas is compiled code of the formulas, with directives on each procedure.
func formulas(t *testing.T, elems []num.Elem, directives string) (*ir.Module, *library) {
	t.Helper()
	m, err := module(elems, true, directives)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build(m)
	if err != nil {
		t.Skipf("SKIP, compiled formulas are not tested: %v", err)
	}
	return m, l
}

// points are arguments in memory form.
type points struct {
	e    num.Elem
	args [][]byte
	n    int
}

func (p *points) at(arg, i int) float64 {
	return num.Float(num.Decode(p.e, p.args[arg][i*p.e.Bytes():]))
}

// second is the second argument, 0 where there is none.
func (p *points) second(i int) float64 {
	if len(p.args) < 2 {
		return 0
	}
	return p.at(1, i)
}

var special = []float64{0, std.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, -2.5, std.Inf(1), std.Inf(-1), std.NaN(), 88.72284, 88.7229, -103.97, -87.3, 709.78,
	710, -745.1, -745.2, 0.549, 0.85, 0x1p24, -0x1p24, 0x1p53, 0x1p-126, 0x1p-1022, 0x1p-149, 5e-324, std.MaxFloat32, std.MaxFloat64, std.Pi, std.Pi / 2}

// draw takes n arguments of every kind: near where the function is busy, around
// 1, special ones, random bits; of a power also such that the result is finite.
func draw(f function, e num.Elem, n int, seed uint64) *points {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p := &points{e: e, n: n}
	for range f.args {
		p.args = append(p.args, make([]byte, n*e.Bytes()))
	}
	for i := range n {
		for k := range p.args {
			x := number(f, e, rng)
			if k == 1 && rng.IntN(2) == 0 {
				x = rng.NormFloat64() * 300 / std.Log(std.Abs(p.at(0, i)))
			}
			num.Encode(e, num.Cast(num.F64, e, num.FromFloat(x)), p.args[k][i*e.Bytes():])
		}
	}
	return p
}

func number(f function, e num.Elem, rng *rand.Rand) float64 {
	switch rng.IntN(8) {
	case 0, 1, 2:
		return rng.NormFloat64() * f.span
	case 3:
		return rng.NormFloat64() * f.span / 100
	case 4:
		return 1 + rng.NormFloat64()/10
	case 5:
		return special[rng.IntN(len(special))]
	}
	return num.Float(num.FromBits(e, rng.Uint64()))
}

// worst is the greatest distance found, and where.
type worst struct {
	ulps float64
	x, y float64
}

func (w *worst) see(u, x, y float64) {
	if u > w.ulps || u != u {
		*w = worst{u, x, y}
	}
}

func (w worst) check(t *testing.T, f function, e num.Elem) {
	t.Helper()
	if !(w.ulps <= limit) {
		t.Errorf("%s of %v is off by %v ulp at %v, %v", f.name, e, w.ulps, w.x, w.y)
	}
}

// hold compares results with the function's value.
func hold(f function, p *points, r []byte) (w worst) {
	for i := range p.n {
		x, y := p.at(0, i), p.second(i)
		w.see(ulps(p.e, num.Float(num.Decode(p.e, r[i*p.e.Bytes():])), f.value(x, y)), x, y)
	}
	return w
}

// holdExactly compares finite results inside the domain with many digits.
func holdExactly(f function, p *points, r []byte) (w worst) {
	for i := range p.n {
		x, y := p.at(0, i), p.second(i)
		got := num.Float(num.Decode(p.e, r[i*p.e.Bytes():]))
		if x-x != 0 || y-y != 0 || got-got != 0 || x == 0 || !f.domain(x, y) {
			continue
		}
		want := f.exact(minimax.F(x), minimax.F(y))
		off, _ := minimax.Sub(minimax.F(got), want).Float64()
		near, _ := want.Float64()
		w.see(std.Abs(off)/ulp(p.e, near), x, y)
	}
	return w
}

func compute(t *testing.T, l *library, f function, p *points) []byte {
	t.Helper()
	r := make([]byte, p.n*p.e.Bytes())
	if err := l.call(f, p.e, r, p.args...); err != nil {
		t.Fatal(err)
	}
	return r
}

// Compiled formulas are within the stated ulps, of f64's best approximation on
// many points and of the exact value on some.
func TestAccuracy(t *testing.T) {
	_, l := formulas(t, both, "")
	for _, f := range functions {
		for _, e := range both {
			p := draw(f, e, 40000, 1)
			hold(f, p, compute(t, l, f, p)).check(t, f, e)
			p = draw(f, e, 150, 2)
			holdExactly(f, p, compute(t, l, f, p)).check(t, f, e)
		}
	}
}

// The interpreter and compiled code give a formula the same bits, and `contract`
// changes none.
func TestSameBitsEverywhere(t *testing.T) {
	m, l := formulas(t, both, "")
	_, contracted := formulas(t, both, ` directives("contract")`)
	for _, f := range functions {
		for _, e := range both {
			if f.name == "sin" && e == num.F64 || f.name == "cos" && e == num.F64 {
				continue // calls of the C library
			}
			p := draw(f, e, 3000, 3)
			native := compute(t, l, f, p)
			if i := differs(p, native, compute(t, contracted, f, p)); i >= 0 {
				t.Errorf("%s of %v at %v, %v changes under contract", f.name, e, p.at(0, i), p.second(i))
			}
			if err := pass.SameBits(array(e, native), interpreted(t, m, f, p, interp.Options{})); err != nil {
				t.Errorf("%s of %v, compiled code and the interpreter: %v", f.name, e, err)
			}
		}
	}
}

// Every loop over a formula becomes one of vectors; those that call do not.
func TestFormulasVectorise(t *testing.T) {
	m, err := module(both, true, "")
	if err != nil {
		t.Fatal(err)
	}
	g := &pass.Manager{}
	if err := g.Run(m, pass.Of(vec.Vectorise)); err != nil {
		t.Fatal(err)
	}
	var scalar []string
	for _, r := range g.Remarks {
		if !r.Done {
			scalar = append(scalar, r.Reason)
		}
	}
	if calls := len(functions)*len(both) - len(math.Rows); len(scalar) != calls {
		t.Errorf("%d functions have no formula; these loops stay scalar: %q", calls, scalar)
	}
}

func differs(p *points, a, b []byte) int {
	for i := range p.n {
		k := i * p.e.Bytes()
		if !num.Same(p.e, num.Decode(p.e, a[k:]), num.Decode(p.e, b[k:])) {
			return i
		}
	}
	return -1
}

// array is data in memory form as the interpreter has it.
func array(e num.Elem, data []byte) *ir.Array {
	a := ir.NewArray(e, int64(len(data)/e.Bytes()))
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = num.Decode(e, data[i*e.Bytes():])
	}
	return a
}

func interpreted(t *testing.T, m *ir.Module, f function, p *points, o interp.Options) *ir.Array {
	t.Helper()
	var args []any
	for _, data := range append(p.args[:len(p.args):len(p.args)], make([]byte, p.n*p.e.Bytes())) {
		args = append(args, array(p.e, data))
	}
	out, err := interp.New(m, o).Run(symbol(f, p.e), args)
	if err != nil {
		t.Fatal(err)
	}
	return out[0].(*ir.Array)
}

// Every f16 and bf16, for functions of one argument.
func TestEveryHalf(t *testing.T) {
	halves := []num.Elem{num.F16, num.BF16}
	_, l := formulas(t, halves, "")
	for _, f := range functions {
		for _, e := range halves {
			if f.args != 1 {
				continue
			}
			p := &points{e: e, n: 1 << 16, args: [][]byte{make([]byte, 2<<16)}}
			for i := range p.n {
				p.args[0][2*i], p.args[0][2*i+1] = byte(i), byte(i>>8)
			}
			hold(f, p, compute(t, l, f, p)).check(t, f, e)
		}
	}
}

// long skips all but `make conformance`, and gives the reference that is fast.
func long(t *testing.T) *reference {
	t.Helper()
	if os.Getenv("TENON_CONFORMANCE") == "" {
		t.Skip("SKIP: takes minutes; make conformance runs it")
	}
	r, err := loadReference(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inParallel runs one block after another on all cores and gives what is worst.
func inParallel(blocks int, run func(block int) worst) (all worst) {
	var wait sync.WaitGroup
	var lock sync.Mutex
	var next atomic.Int64
	for range goruntime.NumCPU() {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
				w := run(b)
				lock.Lock()
				all.see(w.ulps, w.x, w.y)
				lock.Unlock()
			}
		}()
	}
	wait.Wait()
	return all
}

// Every f32, for exp and log; for others of one argument too if TENON_CONFORMANCE
// lists them.
func TestConformanceOfEveryF32(t *testing.T) {
	ref := long(t)
	_, l := formulas(t, []num.Elem{num.F32}, "")
	for _, f := range chosen() {
		if f.args != 1 || !named(f) && f.name != "exp" && f.name != "log" {
			continue
		}
		w := everyF32(t, ref, l, f, 1)
		w.check(t, f, num.F32)
		t.Logf("%-8s f32, every value: %.3f ulp at %v", f.name, w.ulps, w.x)
	}
}

// everyF32 holds every stride-th bit pattern of f32.
func everyF32(t *testing.T, ref *reference, l *library, f function, stride int) worst {
	const n = 1 << 16
	return inParallel((1<<32+n*stride-1)/(n*stride), func(block int) worst {
		p := &points{e: num.F32, n: n, args: [][]byte{make([]byte, 4*n)}}
		for i := range n {
			binary.LittleEndian.PutUint32(p.args[0][4*i:], uint32((block*n+i)*stride))
		}
		return ref.hold(f, p, compute(t, l, f, p))
	})
}

// 10^8 points for each function and type: of f32 values that lie evenly among
// all, for one argument, else drawn where the function is busy.
func TestConformanceOfSamples(t *testing.T) {
	ref := long(t)
	_, l := formulas(t, both, "")
	for _, f := range chosen() {
		for _, e := range both {
			var w worst
			if e == num.F32 && f.args == 1 {
				w = everyF32(t, ref, l, f, 41)
			} else {
				w = inParallel(4000, func(block int) worst {
					p := draw(f, e, 25000, uint64(100+block))
					return ref.hold(f, p, compute(t, l, f, p))
				})
			}
			w.check(t, f, e)
			p := draw(f, e, 5000, 99)
			x := holdExactly(f, p, compute(t, l, f, p))
			x.check(t, f, e)
			t.Logf("%-8s %v: %.3f ulp at %v, %v; exactly %.3f at %v, %v", f.name, e, w.ulps, w.x, w.y, x.ulps, x.x, x.y)
		}
	}
}

// chosen are the functions that TENON_CONFORMANCE lists, or all.
func chosen() (fs []function) {
	for _, f := range functions {
		if os.Getenv("TENON_CONFORMANCE") == "1" || named(f) {
			fs = append(fs, f)
		}
	}
	return fs
}

func named(f function) bool {
	return slices.Contains(strings.Split(os.Getenv("TENON_CONFORMANCE"), ","), f.name)
}
