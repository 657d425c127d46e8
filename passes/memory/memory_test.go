package memory_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/ir/ops/loop"
	"tenon/passes/memory"
	"tenon/passes/pass"
)

// drawn writes a random proc: buffers of a few shapes, loops that fill one from
// another in order, transposed, shifted or in any order, some of them inside a
// loop that carries buffers from one iteration to the next.
type drawn struct {
	r    *rand.Rand
	b    strings.Builder
	next int
	live [][2]string // names and shapes of what can be read
}

var shapes = []string{"M, N", "N, M", "N", "M", "2*N", "M, M"}

func (d *drawn) line(depth int, format string, args ...any) {
	fmt.Fprintf(&d.b, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (d *drawn) pick(n int) int { return d.r.IntN(n) }

// fill writes every element of a new buffer from one that is there.
func (d *drawn) fill(depth int) {
	name, shape := fmt.Sprintf("%%b%d", d.next), shapes[d.pick(len(shapes))]
	d.next++
	d.line(depth, "%s = loop.alloc : buf<f32[%s]>", name, shape)
	d.write(depth, name, shape)
	d.live = append(d.live, [2]string{name, shape})
}

// write fills to from some other buffer.
func (d *drawn) write(depth int, to, shape string) {
	from := d.live[d.pick(len(d.live))]
	for from[0] == to { // iterations that run in any order may not read what others write
		from = d.live[d.pick(len(d.live))]
	}
	kind := []string{"for", "parallel"}[d.pick(2)]
	dims := strings.Split(shape, ", ")
	subs := []string{"i", "j"}[:len(dims)]
	for k, n := range dims {
		d.line(depth+k, "loop.%s %s = 0 to %s {", kind, subs[k], n)
	}
	in := depth + len(dims)
	d.line(in, "%%v = load(%s[%s])", from[0], d.source(from[1], shape, subs))
	d.line(in, "store(neg(%%v), %s[%s])", to, strings.Join(subs, ", "))
	for k := range dims {
		d.line(in-k-1, "}")
	}
}

// source are subscripts in range of a buffer of shape from at a point of shape.
func (d *drawn) source(from, shape string, subs []string) string {
	if from == shape && d.pick(3) > 0 {
		return strings.Join(subs, ", ")
	}
	var at []string
	for k, n := range strings.Split(from, ", ") {
		i := subs[min(k, len(subs)-1)]
		at = append(at, []string{fmt.Sprintf("min(%s, %s - 1)", i, n), fmt.Sprintf("max(%s - 1 - %s, 0)", n, i), "0"}[d.pick(3)])
	}
	return strings.Join(at, ", ")
}

func draw(seed uint64) string {
	d := &drawn{r: rand.New(rand.NewPCG(seed, 1)), live: [][2]string{{"%x", "M, N"}, {"%z", "N"}}}
	d.line(0, "tenon ir 1\nproc loop @f<M, N>(in %%x: buf<f32[M, N]>, in %%z: buf<f32[N]>, out %%y: buf<f32[M, N]>) where(declared 1 <= M, declared 1 <= N) {")
	for range 2 + d.pick(6) {
		if d.pick(4) > 0 {
			d.fill(1)
			continue
		}
		outer := len(d.live)
		d.line(1, "loop.for t = 0 to 3 {")
		for range 1 + d.pick(3) {
			d.fill(2)
		}
		if to := d.live[2:outer]; len(to) > 0 {
			x := to[d.pick(len(to))]
			d.write(2, x[0], x[1])
		}
		d.line(1, "}")
		d.live = d.live[:outer]
	}
	d.write(1, "%y", "M, N")
	d.line(1, "return()\n}")
	return d.b.String()
}

// event is a step of a run with loops of two iterations: a buffer is made, or
// used.
type event struct {
	buf  *ir.Value
	made bool
}

func trace(r *ir.Region, out []event) []event {
	for _, op := range r.Ops {
		if op.Def.Name == "loop.alloc" {
			out = append(out, event{op.Results[0], true})
			continue
		}
		op.Values(func(v *ir.Value) *ir.Value {
			if _, ok := v.Type.(ir.Buf); ok {
				out = append(out, event{v, false})
			}
			return v
		})
		for _, in := range op.Regions() {
			out = trace(in, out)
			if strings.HasPrefix(op.Def.Name, "loop.") {
				out = trace(in, out)
			}
		}
	}
	return out
}

// apart wants that no buffer is used after another has been made in its slot.
func apart(t *testing.T, f *ir.Func) {
	t.Helper()
	holds := map[int64]*ir.Value{}
	for _, e := range trace(f.Body, nil) {
		if e.buf.Def == nil {
			continue
		}
		n, ok := loop.Slot(e.buf.Def)
		switch {
		case !ok:
		case e.made:
			holds[n] = e.buf
		case holds[n] != e.buf:
			t.Fatalf("%%%s is used when slot %d holds %%%s", e.buf.Name, n, holds[n].Name)
		}
	}
}

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse("drawn.tnir", text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// No two buffers that live at the same time share memory, random programs mean
// the same before and after, and the passes find nothing more a second time.
func TestDrawnPrograms(t *testing.T) {
	shared, merged := 0, 0
	for seed := range uint64(400) {
		text := draw(seed)
		m := parse(t, text)
		before := ir.Clone(m)
		g := &pass.Manager{TempDir: t.TempDir()}
		if err := g.Run(m, pass.Of(memory.ReuseBuffers, memory.PlanWorkspace)); err != nil {
			t.Fatal(err)
		}
		apart(t, m.Funcs()[0])
		runs, err := pass.SameMeaning(before, m, pass.Exact)
		if err != nil || runs == 0 {
			t.Fatalf("seed %d: %d runs: %v\n%s\n%s", seed, runs, err, text, ir.Print(m))
		}
		for _, r := range g.Remarks {
			if r.Done && r.Pass == memory.PlanWorkspace.Name {
				shared++
			} else if r.Done {
				merged++
			}
		}
		once := ir.Print(m)
		if err := g.Run(m, pass.Of(memory.ReuseBuffers, memory.PlanWorkspace)); err != nil {
			t.Fatal(err)
		}
		if twice := ir.Print(m); twice != once {
			t.Fatalf("seed %d: the second time gives\n%s\nthe first\n%s", seed, twice, once)
		}
	}
	if shared < 100 || merged < 100 {
		t.Errorf("only %d buffers shared and %d merged: the programs show little", shared, merged)
	}
}

// A buffer that outlives its place in a slot is found by the interpreter: what
// the property above rests on.
func TestWrongSlotsChangeTheMeaning(t *testing.T) {
	text := `tenon ir 1
proc loop @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) where(declared 1 <= N) {
  %a = loop.alloc : buf<f32[N]>
  loop.for i = 0 to N { store(load(%x[i]), %a[i]) }
  %b = loop.alloc : buf<f32[N]>
  loop.for i = 0 to N { store(neg(load(%x[i])), %b[i]) }
  loop.for i = 0 to N { store(add(load(%a[i]), load(%b[i])), %y[i]) }
  return()
}`
	before := parse(t, text)
	wrong := parse(t, strings.ReplaceAll(text, "loop.alloc", "loop.alloc slot=0"))
	if _, err := pass.SameMeaning(before, wrong, pass.Exact); err == nil {
		t.Error("two buffers that live at the same time share a slot, and nothing shows it")
	}
}

// What stands in a parallel loop has no slot.
func TestSlotInParallelLoopIsRefused(t *testing.T) {
	m, err := ir.Parse("p.tnir", `tenon ir 1
proc loop @f<N>(out %y: buf<f32[N]>) {
  loop.parallel i = 0 to N { %a = loop.alloc slot=0 : buf<f32[1]>
    store(1.0: f32, %a[0]); store(load(%a[0]), %y[i]) }
  return()
}`)
	if err == nil {
		err = ir.Verify(m)
	}
	if err == nil || !strings.Contains(err.Error(), "would share the slot") {
		t.Errorf("the error is %v", err)
	}
}
