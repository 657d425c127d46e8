package ops_test

import (
	"strings"
	"testing"

	"tenon/ir"
)

// prepared fills %P, which a loop behind it reads. Each edit below breaks one
// rule of loop.prepare.
const prepared = `
proc loop @f<M, N, K>(in %x: buf<f32[M]>, in %s: f32, in const %k: f32, in const %w: buf<f32[N]>, in const %v: buf<f32[2*K]>,
    inout %z: buf<f32[N]>, out %y: buf<f32[N]>) where(declared K <= 4, declared N <= M) {
  %P = loop.alloc : buf<f32[N]>
  %two = const 2.0: f32
  loop.prepare(%P) {
    loop.for i = 0 to N { store(mul(mul(load(%w[i]), %k), %two), %P[i]) } }
  loop.for i = 0 to N { store(load(%P[i]), %y[i]) }
  return() }`

func TestPrepare(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"what is right", "", "", ""},
		{"a size that is a quotient", "buf<f32[N]>\n  %two", "buf<f32[N//2 + K]>\n  %two", ""},
		{"a size from elsewhere", "buf<f32[N]>\n  %two", "buf<f32[M]>\n  %two", "a size of %P uses the dim M, which no const parameter binds"},
		{"an argument", "load(%w[i])", "load(%x[i])", "the region uses %x, which does not follow from const parameters"},
		{"a scalar argument", "%k), %two", "%s), %two", "the region uses %s, which does not"},
		{"a scalar made of one", "const 2.0: f32", "neg(%s)", "the region uses %two, which does not"},
		{"a value read from memory", "const 2.0: f32", "load(%w[0])", "the region uses %two, which does not"},
		{"a dim of arguments in the region", "loop.for i = 0 to N { store(mul", "loop.for i = 0 to min(M, N) { store(mul", "the region uses the dim M"},
		{"a result", "%two), %P[i])", "%two), %y[i])", "the region uses %y, which does not"},
		{"an inout parameter", "load(%w[i])", "load(%z[i])", "the region uses %z"},
		{"use before", "%two = const", "store(1.0: f32, %P[0]); %two = const", "%P is used before it, by store"},
		{"a write behind", "store(load(%P[i]), %y[i])", "store(load(%y[i]), %P[i])", "%P is written behind it too, by store"},
		{"a call that writes", "return() }", "loop.call @g(%P); return() }\nproc loop @g<N>(inout %a: buf<f32[N]>) { return() }", "%P is written behind it too, by loop.call"},
		{"a call that reads", "return() }", "loop.call @g(%P); return() }\nproc loop @g<N>(in %a: buf<f32[N]>) { return() }", ""},
		{"a second time", "  return() }", "  loop.prepare(%P) { store(1.0: f32, %P[0]) }; return() }", "%P is written behind it too, by store"},
		{"inside a loop", "loop.prepare(%P) {", "loop.if (0 < N) { loop.prepare(%P) {", "its place is the body of a proc"},
		{"a parameter", "loop.prepare(%P)", "loop.prepare(%z)", "%z is not allocated in the body of @f"},
		{"a slot", "loop.alloc :", "loop.alloc slot=0 :", "a prepared buffer has memory of its own"},
		{"strides", "buf<f32[N]>\n  %two", "buf<f32[N], strides(2)>\n  %two", "a prepared buffer has memory of its own"},
		{"no buffer", "loop.prepare(%P)", "loop.prepare()", "fills no buffer"},
		{"one twice", "loop.prepare(%P)", "loop.prepare(%P, %P)", "%P stands twice"},
		{"a part", "loop.prepare(%P)", "loop.prepare(%P[0:1])", "operand 1 is no whole buffer"},
		{"another buffer in the region", "loop.for i = 0 to N { store(mul", "%Q = loop.alloc : buf<f32[K]>; loop.for i = 0 to N { store(mul", ""},
		{"a write to an unnamed buffer", "%two = const", "%Q = loop.alloc : buf<f32[N]>; %two = const 2.0: f32; loop.prepare(%P) { store(1.0: f32, %Q[0]) }; %three = const", "the region uses %Q"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(prepared, c.old, c.new, 1)
			if c.old != "" && text == prepared {
				t.Fatalf("%q is not in the program", c.old)
			}
			if c.name == "inside a loop" {
				text = strings.Replace(text, "%P[i]) } }", "%P[i]) } } }", 1)
			}
			m, err := ir.Parse("p.tnir", "tenon ir 1"+text)
			if err == nil {
				err = ir.Verify(m)
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A dim that only an argument binds is not bound when const parameters are; what
// const parameters alone have to agree on is checked then.
func TestOpenPlan(t *testing.T) {
	m := mustParse(t, `tenon ir 1
proc loop @f<M, N, K>(in %x: buf<f32[M, K]>, in const %w: buf<f32[2*K, N]>, in const %b: buf<f32[N, K]>, in const %c: buf<f32[N + 1]>)
    where(declared N <= K, declared K <= M, declared K <= 4) { return() }`)
	plan := ir.OpenPlan(m.Items[0].(*ir.Func))
	var got []string
	for _, b := range plan.Bindings {
		got = append(got, b.Dim+" = "+b.Value.String())
	}
	for _, k := range plan.Checks {
		got = append(got, k.Cond.String())
	}
	want := "N = %w[1]; K = %b[1]; %w[0] == 2*K; %b[0] == N; %c[0] == N + 1; N <= K; K <= 4"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}
