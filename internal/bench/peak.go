package bench

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"

	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/runtime"
	"tenon/targets"
)

// Independent multiply-adds that the measure of the peak keeps in flight, and
// how often a run goes round.
const peakChains, peakRounds = 12, 2000

// peakText is a loop of multiply-adds in registers alone.
func peakText(e num.Elem, lanes int) string {
	list := func(format string) string {
		var parts []string
		for i := range peakChains {
			parts = append(parts, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return strings.Join(parts, ", ")
	}
	v := fmt.Sprintf("vec<%d x %v>", lanes, e)
	s := &strings.Builder{}
	fmt.Fprintf(s, "tenon ir 1\nproc vec @peak(in %%n: index, in %%f: %v, out %%y: buf<%v[%d, %d]>) {\n  %%m = vec.splat(%%f) : %s\n", e, e, peakChains, lanes, v)
	fmt.Fprintf(s, "  %s = loop.for i = 0 to %%n carry(%s) {\n", list("%r#"), list("%c# = %m"))
	for i := range peakChains {
		fmt.Fprintf(s, "    %%d%d = vec.fma(%%c%d, %%m, %%m)\n", i, i)
	}
	fmt.Fprintf(s, "    yield(%s)\n  } : %d * %s\n", list("%d#"), peakChains, v)
	for i := range peakChains {
		fmt.Fprintf(s, "  vec.store(%%r%d, %%y[%d, 0])\n", i, i)
	}
	return s.String() + "  return()\n}\n"
}

// peak compiles the loop for the machine it runs on and prepares it: flops
// operations a run, on all of so many threads at the same time. Types without
// arithmetic in vectors have none.
func peak(ctx context.Context, e num.Elem, threads int) (run func() bool, flops float64, err error) {
	if e != num.F32 && e != num.F64 {
		return nil, 0, nil
	}
	desc, err := targets.Native()
	if err != nil {
		return nil, 0, err
	}
	lanes := desc.Lanes(e.Bytes())
	m, err := driver.Parse("peak.tnir", peakText(e, lanes))
	if err != nil {
		return nil, 0, err
	}
	lib, _, _, err := compile(ctx, m, "peak.tnir", driver.Options{CPU: "native", Opt: 2})
	if err != nil {
		return nil, 0, err
	}
	rounds := peakRounds
	if threads > 1 { // so long that starting and joining threads do not count
		rounds *= 200
	}
	var runs []func() bool
	for range threads {
		y, err := runtime.Alloc(e, []int64{peakChains, int64(lanes)})
		if err != nil {
			return nil, 0, err
		}
		args := []runtime.Arg{runtime.Scalar{Elem: num.Index, Cell: num.FromInt(int64(rounds))}, runtime.Scalar{Elem: e, Cell: num.FromFloat(0.5)}, y}
		if run, _, err = prepare(lib, nil, "peak", args, 1); err != nil {
			return nil, 0, err
		}
		runs = append(runs, run)
	}
	return together(runs), 2 * peakChains * float64(rounds) * float64(lanes) * float64(threads), nil
}

// together runs all at once, the first on the thread that calls, each other one on
// a thread of its own that waits from one run to the next.
func together(runs []func() bool) func() bool {
	if len(runs) == 1 {
		return runs[0]
	}
	begin, end := make(chan func() bool), make(chan bool)
	for range len(runs) - 1 {
		go func() {
			goruntime.LockOSThread()
			for run := range begin {
				end <- run()
			}
		}()
	}
	return func() bool {
		for _, run := range runs[1:] {
			begin <- run
		}
		ok := runs[0]()
		for range len(runs) - 1 {
			ok = <-end && ok
		}
		return ok
	}
}

// compile makes and loads the library of a module; prepares are the functions
// that compute something when they are opened, bytes the size of the library.
func compile(ctx context.Context, m *ir.Module, name string, o driver.Options) (lib *runtime.Lib, prepares []string, bytes int, err error) {
	code, err := driver.Compile(m, name, o)
	if err != nil {
		return nil, nil, 0, err
	}
	so, err := code.Library(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	lib, err = runtime.OpenBytes(so)
	return lib, driver.PreparingFuncs(code.Module), len(so), err
}

// prepare plans a call, with a state or with none, and makes it ready to repeat.
// Its arguments stay in place until it is released.
func prepare(lib *runtime.Lib, state *runtime.State, name string, args []runtime.Arg, threads int) (run func() bool, release func(), err error) {
	plan, status, err := lib.PlanWith(state, name, args, threads)
	if err == nil {
		err = status.Err(name, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	call, err := lib.Prepare(name, args, plan)
	if err != nil {
		return nil, nil, err
	}
	return func() bool { return call.Run().Code == runtime.OK }, call.Release, nil
}
