package llvm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/num"
	"tenon/targets"
)

// emitVecMap is emitMap by vectors of eight lanes, the last one masked.
func emitVecMap(m *Module, c opCase) {
	params := []Param{{Name: "r", Type: Ptr, NoAlias: true}, {Name: "n", Type: TypeOf(num.Index)}}
	for range c.args {
		params = append(params, Param{Name: "", Type: Ptr, NoAlias: true, Const: true})
	}
	const lanes = 8
	f := m.NewFunc(c.symbol, Void, params...)
	step := func(i, mask Value) {
		args := make([]Value, len(c.args))
		for k, e := range c.args {
			args[k] = f.LoadVec(VecOf(e, lanes), f.At(f.Param(2+k), e, i), mask)
		}
		f.StoreVec(c.apply(f, args), f.At(f.Param(0), c.result, i), mask)
	}
	n := f.Param(1)
	whole := f.Op("sub", n, f.Op("trem", n, Index(lanes)))
	f.For(Index(0), whole, Index(lanes), nil, func(i Value, _ []Value) []Value {
		step(i, Value{})
		return nil
	})
	step(whole, f.FirstN(f.Op("sub", n, whole), lanes))
	f.Return(Value{})
}

// Vectors mean the same as scalars, lane by lane, in the masked tail too.
func TestVectorOperatorsAgainstNum(t *testing.T) {
	here := native(t)
	for _, r := range []struct {
		cpu string
		opt int
	}{{"native", 3}, {"", 1}} {
		d, err := targets.Find(here.Family, r.cpu)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := NewModule("ops", d)
			all := slices.DeleteFunc(cases(), func(c opCase) bool { return c.ulps > 0 })
			for _, c := range all {
				emitVecMap(m, c)
			}
			lib := build(t, m, r.opt)
			for _, c := range all {
				check(t, lib, c)
			}
		})
	}
}

// lanesCase is a function of two arrays of 8 f32 that fills a third.
type lanesCase struct {
	name string
	emit func(f *Func, a, b Value) Value
	want func(a, b []float32) [8]float32
}

var lanesCases = []lanesCase{
	{"interleave", func(f *Func, a, b Value) Value { return f.Shuffle([]Value{a, b}, []int{0, 8, 1, 9, 2, 10, 3, 11}) },
		func(a, b []float32) [8]float32 { return [8]float32{a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]} }},
	{"three", func(f *Func, a, b Value) Value { return f.Shuffle([]Value{a, b, a}, []int{16, 8, 0, 23, 15, 7, 1, 2}) },
		func(a, b []float32) [8]float32 { return [8]float32{a[0], b[0], a[0], a[7], b[7], a[7], a[1], a[2]} }},
	{"permute", func(f *Func, a, _ Value) Value {
		return f.Permute(a, f.Op("sub", f.Splat(Int(num.I32, 3), 8), f.Iota(Int(num.I32, 0), 8)))
	},
		func(a, _ []float32) [8]float32 { return [8]float32{a[3], a[2], a[1], a[0], a[7], a[6], a[5], a[4]} }},
	{"halving", func(f *Func, a, _ Value) Value { return f.Splat(f.Reduce("add", a), 8) },
		func(a, _ []float32) [8]float32 {
			s := ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
			return [8]float32{s, s, s, s, s, s, s, s}
		}},
	{"odd", func(f *Func, a, _ Value) Value {
		return f.Splat(f.Reduce("sub", f.Shuffle([]Value{a}, []int{0, 1, 2, 3, 4, 5})), 8)
	}, func(a, _ []float32) [8]float32 {
		s := (a[0] - a[3]) - (a[1] - a[4]) - (a[2] - a[5])
		return [8]float32{s, s, s, s, s, s, s, s}
	}},
	{"gather", func(f *Func, a, b Value) Value {
		idx := f.Op("sub", f.Splat(Int(num.I32, 7), 8), f.Iota(Int(num.I32, 0), 8))
		return f.GatherVec(VecOf(num.F32, 8), f.Param(0), idx, f.Op("lt", a, b))
	}, func(a, b []float32) (r [8]float32) {
		for i := range r {
			if a[i] < b[i] {
				r[i] = a[7-i]
			}
		}
		return r
	}},
	{"any", func(f *Func, a, b Value) Value {
		yes := f.Any(f.Op("lt", a, f.Splat(Float(num.F32, -100), 8)))
		return f.Select(yes, a, f.Insert(b, f.Extract(a, 1), 2))
	}, func(a, b []float32) [8]float32 { return [8]float32{b[0], b[1], a[1], b[3], b[4], b[5], b[6], b[7]} }},
}

func TestLanes(t *testing.T) {
	m := NewModule("lanes", native(t))
	for _, c := range lanesCases {
		f := m.NewFunc("lanes_"+c.name, Void, Param{Name: "a", Type: Ptr}, Param{Name: "b", Type: Ptr}, Param{Name: "r", Type: Ptr})
		a, b := f.Load(VecOf(num.F32, 8), f.Param(0)), f.Load(VecOf(num.F32, 8), f.Param(1))
		f.Prefetch(f.Param(0), 1)
		f.Store(c.emit(f, a, b), f.Param(2))
		f.Return(Value{})
	}
	lib := build(t, m, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range lanesCases {
		fn, err := purego.Dlsym(lib, "lanes_"+c.name)
		if err != nil {
			t.Fatal(err)
		}
		var a, b, r [8]float32
		for i := range a {
			a[i], b[i] = rng.Float32(), rng.Float32()
		}
		purego.SyscallN(fn, uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&b)), uintptr(unsafe.Pointer(&r)))
		if want := c.want(a[:], b[:]); r != want {
			t.Errorf("%s of %v and %v: %v, want %v", c.name, a, b, r, want)
		}
	}
}
