package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/targets"
)

// library builds int NAME(args, error) by hand: a sum over a strided row with
// scalars of every size before and after the tensors.
func library(t *testing.T, emit func(m *llvm.Module)) *Lib {
	t.Helper()
	tc, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	d, err := targets.Native()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	m := llvm.NewModule("test", d)
	emit(m)
	obj, err := tc.Compile(context.Background(), m.Text(), targets.CompileOpts{Opt: 2})
	if err != nil {
		t.Fatal(err)
	}
	so, err := tc.Link(context.Background(), d, obj)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := OpenBytes(so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lib.Close() })
	return lib
}

var i32 = llvm.TypeOf(num.I32)

// entry starts int NAME(const struct *, tenon_error *).
func entry(m *llvm.Module, name string) *llvm.Func {
	return m.NewFunc(name, i32, llvm.Param{Name: "args", Type: llvm.Ptr}, llvm.Param{Name: "err", Type: llvm.Ptr})
}

func field(f *llvm.Func, typ llvm.Type, offset int64) llvm.Value {
	return f.Load(typ, f.Offset(f.Param(0), offset))
}

// scaled is struct { u8 a; tensor x; bool b; i16 c; f32 d; f16 e; f64 f; tensor y }
// and y[i] = x[i] * d + f where b, else a + c + e.
func scaled(m *llvm.Module) {
	f := entry(m, "scaled")
	at := []int64{0, 8, 32, 34, 36, 40, 48, 56}
	x, sx := field(f, llvm.Ptr, at[1]), field(f, llvm.Ptr, at[1]+16)
	y := field(f, llvm.Ptr, at[7])
	n := f.Load(llvm.TypeOf(num.Index), field(f, llvm.Ptr, at[7]+8))
	stride := f.If(f.IsNull(sx),
		func() []llvm.Value { return []llvm.Value{llvm.Index(1)} },
		func() []llvm.Value { return []llvm.Value{f.Load(llvm.TypeOf(num.Index), sx)} })[0]
	f64 := func(e num.Elem, at int64) llvm.Value { return f.Cast(field(f, llvm.TypeOf(e), at), num.F64) }
	a, c, d, e, k := f64(num.U8, at[0]), f64(num.I16, at[3]), f64(num.F32, at[4]), f64(num.F16, at[5]), f64(num.F64, at[6])
	b := field(f, llvm.TypeOf(num.Bool), at[2])
	f.For(llvm.Index(0), n, llvm.Index(1), nil, func(i llvm.Value, _ []llvm.Value) []llvm.Value {
		v := f.Cast(f.LoadElem(num.F32, x, f.Op("mul", i, stride)), num.F64)
		yes, no := f.Op("add", f.Op("mul", v, d), k), f.Op("add", f.Op("add", a, c), e)
		f.StoreElem(f.Select(b, yes, no), y, i)
		return nil
	})
	f.Return(llvm.Int(num.I32, 0))
}

func floats(t *testing.T, e num.Elem, values ...float64) *Tensor {
	t.Helper()
	x, err := Alloc(e, []int64{int64(len(values))})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		num.Encode(e, num.Cast(num.F64, e, num.FromFloat(v)), x.Data[i*e.Bytes():])
	}
	return x
}

func TestCallPacksAsC(t *testing.T) {
	lib := library(t, scaled)
	x := floats(t, num.F32, 1, 2, 3, 4, 5, 6)
	x.Strides = []int64{2}
	for _, b := range []bool{true, false} {
		y := floats(t, num.F64, 0, 0, 0)
		status, err := lib.Call("scaled", []Arg{
			Scalar{num.U8, num.FromInt(200)}, x, Scalar{num.Bool, num.FromBool(b)}, Scalar{num.I16, num.FromInt(-300)},
			Scalar{num.F32, num.FromFloat(10)}, Scalar{num.F16, num.FromFloat(0.5)}, Scalar{num.F64, num.FromFloat(7)}, y,
		})
		if err != nil || status.Err("scaled", nil) != nil {
			t.Fatal(err, status)
		}
		for i := range 3 {
			want := 200 - 300 + 0.5
			if b {
				want = float64(2*i+1)*10 + 7
			}
			if got := num.Float(num.Decode(num.F64, y.Data[8*i:])); got != want {
				t.Errorf("b = %v: y[%d] = %v, want %v", b, i, got, want)
			}
		}
	}
}

func TestEmptyTensorsAreNotNull(t *testing.T) {
	lib := library(t, func(m *llvm.Module) {
		f := entry(m, "nulls")
		n := llvm.Int(num.I32, 0)
		for _, offset := range []int64{0, 8, 16} {
			n = f.Op("add", n, f.Cast(f.IsNull(field(f, llvm.Ptr, offset)), num.I32))
		}
		f.Return(n)
	})
	status, err := lib.Call("nulls", []Arg{&Tensor{Elem: num.F32, Shape: []int64{0}}})
	if err != nil || status.Code != 1 { // the absent strides
		t.Errorf("%v, %v", status, err)
	}
}

func TestStatusNamesTheArgument(t *testing.T) {
	lib := library(t, func(m *llvm.Module) {
		f := entry(m, "refuses")
		f.Store(llvm.Int(num.I32, int64(Shape)), f.Param(1))
		f.Store(llvm.Int(num.I32, 1), f.Offset(f.Param(1), 4))
		f.Store(llvm.Int(num.I32, 2), f.Offset(f.Param(1), 8))
		f.Return(llvm.Int(num.I32, int64(Shape)))
	})
	status, err := lib.Call("refuses", nil)
	if err != nil || status != (Status{Shape, 1, 2}) {
		t.Fatalf("%v, %v", status, err)
	}
	text := status.Err("refuses", []string{"q", "k"}).Error()
	for _, want := range []string{"argument k of refuses", "dim 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if code := diag.ExitCode(Status{Code: 99}.Err("f", nil)); code != diag.ExitBug {
		t.Errorf("an unknown code is exit %d", code)
	}
}

func TestOpenFaults(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "none.so"), text} {
		if _, err := Open(path); diag.ExitCode(err) != diag.ExitUser || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	lib := library(t, scaled)
	if _, err := lib.Call("absent", nil); diag.ExitCode(err) != diag.ExitUser || lib.Has("absent") || !lib.Has("scaled") {
		t.Errorf("absent function: %v", err)
	}
}

func TestAllocRefusesBeforeAllocating(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		say   string
	}{
		{[]int64{1 << 40, 1 << 40}, "overflows"}, {[]int64{1 << 31, 1 << 31}, "overflows"}, {[]int64{1 << 50}, "more than"}, {[]int64{3, -1}, "negative"}, {[]int64{0, -1}, "negative"},
	} {
		if _, err := Alloc(num.F64, c.shape); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: %v", c.shape, err)
		}
	}
	x, err := Alloc(num.F64, []int64{1 << 40, 0, 1 << 40})
	if err != nil || len(x.Data) != 0 {
		t.Errorf("a size of 0: %v", err)
	}
	if y, err := Alloc(num.I16, []int64{3, 5}); err != nil || y.Count() != 15 || len(y.Data) != 30 {
		t.Errorf("%v, %v", y, err)
	}
	if got := fmt.Sprint(CStrides([]int64{2, 0, 5}), CStrides(nil)); got != "[5 5 1] []" {
		t.Errorf("strides %s", got)
	}
}
