package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/microkernels/gemm"
	"tenon/runtime"
	"tenon/targets"
)

// How kernels are measured: sums of few and of many products, from which a line
// is drawn; rounds and the time of a turn.
const (
	fewProducts, manyProducts = 64, 320
	profileRounds             = 7
	profileSlice              = time.Millisecond
)

// Measure times every register kernel of this machine and how fast it reads from
// each cache and memory. tell hears what is being done and how much of it is
// done, 0 to 1.
func Measure(ctx context.Context, tell func(what string, done float64)) (*targets.Profile, error) {
	desc, err := targets.Native()
	if err != nil {
		return nil, err
	}
	p := &targets.Profile{Machine: targets.HostOf(desc)}
	tell("multiply-adds", 0)
	run, flops, err := peak(ctx, num.F32, 1)
	if err != nil {
		return nil, err
	}
	clock := &contender{Name: "peak", runs: []func() bool{run}}
	perRun := flops / float64(2*desc.Lanes(num.F32.Bytes())*desc.FMA.PerCycle) // cycles
	if err := bandwidths(ctx, p, desc, clock, perRun, tell); err != nil {
		return nil, err
	}
	for i, e := range []num.Elem{num.F32, num.F64} {
		keys := profiled(gemmMachine(desc), e)
		lib, _, _, err := timers(ctx, keys)
		if err != nil {
			return nil, err
		}
		for j, k := range keys {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			tell(k.Name(), 0.1+0.9*(float64(i)+float64(j)/float64(len(keys)))/2)
			t, err := timeKernel(lib, desc, k, clock, perRun)
			if err != nil {
				return nil, err
			}
			p.Tiles = append(p.Tiles, t)
		}
	}
	tell("done", 1)
	return p, nil
}

// profiled are the kernels that programs use, in every form.
func profiled(m gemm.Machine, e num.Elem) []gemm.Key {
	keys := gemm.DotCandidates(m, e)
	for _, k := range gemm.Shapes(m, e) {
		for _, k.A = range []gemm.Form{gemm.Rows, gemm.Columns} {
			for _, k.B = range []gemm.Form{gemm.Rows, gemm.Panels} {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// timers is a library of procs time_KERNEL: n calls of the kernel on full tiles,
// each on the next strip of B.
func timers(ctx context.Context, keys []gemm.Key) (*runtime.Lib, []string, int, error) {
	var items []ir.Item
	text := &strings.Builder{}
	for _, k := range keys {
		kernel, body := gemm.Build(k, gemm.Machine{})
		items = append(items, &ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body)
		a, b := "0:D0, 0:D1", fmt.Sprintf("0:D2, %d*(r mod (D3//%[1]d)):%[1]d", k.Cols())
		dims := "D2, D3"
		switch k.B {
		case gemm.Columns:
			b = fmt.Sprintf("%d*(r mod (D2//%[1]d)):%[1]d, 0:D3", k.Cols())
		case gemm.Panels:
			dims, b = "D2, D3, D4", fmt.Sprintf("%d*(r mod (D2//%[1]d)):%[1]d, 0:D3, 0:%d", k.NV, k.Lanes)
		}
		fmt.Fprintf(text, "proc loop @time_%s<D0, D1, %s, D5, D6>(in %%A: buf<%s[D0, D1]>, in %%B: buf<%s[%s]>, inout %%C: buf<%s[D5, D6]>, in %%n: index) {\n"+
			"  %%first = idx(1) : index\n  loop.for r = 0 to %%n { loop.call @%s(%%A[%s], %%B[%s], %%C[0:%d, 0:%d], %%first) }\n  return() }\n",
			k.Name(), dims, k.Elem, k.Elem, dims, k.Acc, k.BodyName(), a, b, k.MR, k.Cols())
	}
	m, err := driver.Parse("profile.tnir", ir.Print(&ir.Module{Items: items})+text.String())
	if err != nil {
		return nil, nil, 0, err
	}
	return compile(ctx, m, "profile.tnir", driver.Options{CPU: "native", Profile: targets.AnalyticProfile, Opt: 2})
}

// timeKernel draws the line through sums of few and many products with B in the
// first cache, and takes the step with a strip of B from beyond the second one.
func timeKernel(lib *runtime.Lib, desc *targets.Desc, k gemm.Key, clock *contender, perRun float64) (targets.TileTime, error) {
	t := targets.TileTime{Kernel: k.Name()}
	const calls = 64 // beside which entering the library does not count
	far := 4 * nearBytesOf(desc) / (manyProducts * int64(k.Cols()*k.Elem.Bytes()))
	var cs []*contender
	for _, c := range []struct{ depth, strips int64 }{{fewProducts, 1}, {manyProducts, 1}, {manyProducts, max(far, 2)}} {
		n := max(calls, c.strips)
		run, err := kernelRun(lib, k, c.depth, c.strips, n)
		if err != nil {
			return t, err
		}
		cs = append(cs, &contender{Name: k.Name(), runs: []func() bool{run}})
	}
	clock.times = nil
	if err := race(append(cs, clock), profileRounds, 0, profileSlice, 1, nil); err != nil {
		return t, err
	}
	cycle := clock.best() / perRun
	few, many := cs[0].best()/calls/cycle, cs[1].best()/calls/cycle
	t.Step = (many - few) / (manyProducts - fewProducts)
	t.Enter = max(0, few-fewProducts*t.Step)
	t.Stream = max(t.Step, (cs[2].best()/float64(max(calls, far, 2))/cycle-t.Enter)/manyProducts)
	return t, nil
}

// kernelRun prepares n calls on tiles of sums of depth products.
func kernelRun(lib *runtime.Lib, k gemm.Key, depth, strips, n int64) (func() bool, error) {
	a, b := []int64{int64(k.MR), depth}, []int64{depth, strips * int64(k.Cols())}
	if k.A == gemm.Columns {
		a[0], a[1] = a[1], a[0]
	}
	switch k.B {
	case gemm.Columns:
		b[0], b[1] = b[1], b[0]
	case gemm.Panels:
		b = []int64{strips * int64(k.NV), depth, int64(k.Lanes)}
	}
	var args []runtime.Arg
	for _, shape := range [][]int64{a, b, {int64(k.MR), int64(k.Cols())}} {
		x, err := runtime.Alloc(k.Elem, shape)
		if err != nil {
			return nil, err
		}
		clear(x.Data)
		args = append(args, x)
	}
	args = append(args, runtime.Scalar{Elem: num.Index, Cell: num.FromInt(n)})
	run, _, err := prepare(lib, nil, "time_"+k.Name(), args, 1) // for the life of the process: it is small
	return run, err
}

// bandwidths measures how many bytes a cycle are read from each level.
func bandwidths(ctx context.Context, p *targets.Profile, desc *targets.Desc, clock *contender, perRun float64, tell func(string, float64)) error {
	lanes := desc.Lanes(num.F32.Bytes())
	m, err := driver.Parse("stream.tnir", streamText(num.F32, lanes))
	if err != nil {
		return err
	}
	lib, _, _, err := compile(ctx, m, "stream.tnir", driver.Options{CPU: "native", Profile: targets.AnalyticProfile, Opt: 2})
	if err != nil {
		return err
	}
	near, last := nearBytesOf(desc), desc.Caches[len(desc.Caches)-1].Bytes
	for i, l := range []struct {
		name  string
		bytes int64
		rate  *float64
	}{{"own caches", near / 2, &p.Near}, {"last cache", min(8*near, max(last/4, near)), &p.Far}, {"memory", min(4*last, 1<<28), &p.Memory}} {
		tell("reading from "+l.name, 0.02+0.02*float64(i))
		row := int64(streamChains * lanes)
		x, err := runtime.Alloc(num.F32, []int64{max(1, l.bytes/4/row), row})
		if err != nil {
			return err
		}
		clear(x.Data) // touched: untouched pages are all the same one
		y, err := runtime.Alloc(num.F32, []int64{streamChains, int64(lanes)})
		if err != nil {
			return err
		}
		run, release, err := prepare(lib, nil, "stream", []runtime.Arg{x, y}, 1)
		if err != nil {
			return err
		}
		defer release()
		c := &contender{Name: l.name, runs: []func() bool{run}}
		clock.times = nil
		if err := race([]*contender{c, clock}, profileRounds, 0, profileSlice, 1, nil); err != nil {
			return err
		}
		*l.rate = float64(len(x.Data)) / (c.best() / (clock.best() / perRun))
	}
	return nil
}

// nearBytesOf is the size of the largest cache that a core has for itself.
func nearBytesOf(d *targets.Desc) (bytes int64) {
	for _, c := range d.Caches {
		if !c.Shared {
			bytes = max(bytes, c.Bytes)
		}
	}
	return bytes
}

// gemmMachine are the numbers that the candidates follow from.
func gemmMachine(d *targets.Desc) gemm.Machine {
	return gemm.Machine{VectorBytes: d.VectorBytes, VectorRegs: d.VectorRegs, Masked: d.Masked, FusedMul: d.FusedMul,
		FMALatency: d.FMA.Latency, FMAPerCycle: d.FMA.PerCycle, LoadsPerCycle: d.Load.PerCycle}
}
