package bench

import (
	"context"
	"fmt"
	"strings"

	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/runtime"
	"tenon/targets"
)

// streamer reads memory as fast as loads go: the bound of products with few rows,
// whose weights are read once.
type streamer struct {
	lib   *runtime.Lib
	elem  num.Elem
	lanes int
	runs  []func() bool
	bytes float64 // of one run
	cs    *contender

	releases []func() // of what the row at hand prepared
}

// streamChains is how many sums a run of the streamer keeps in flight.
const streamChains = 8

// streamText adds up all vectors of an array.
func streamText(e num.Elem, lanes int) string {
	list := func(format string) string {
		var parts []string
		for i := range streamChains {
			parts = append(parts, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return strings.Join(parts, ", ")
	}
	v := fmt.Sprintf("vec<%d x %v>", lanes, e)
	s := &strings.Builder{}
	fmt.Fprintf(s, "tenon ir 1\nproc vec @stream<n>(in %%x: buf<%v[n, %d]>, out %%y: buf<%v[%d, %d]>) {\n", e, streamChains*lanes, e, streamChains, lanes)
	fmt.Fprintf(s, "  %%f = const 0.0 : %v\n  %%m = vec.splat(%%f) : %s\n  %s = loop.for i = 0 to n carry(%s) {\n", e, v, list("%r#"), list("%c# = %m"))
	for i := range streamChains {
		fmt.Fprintf(s, "    %%l%d = vec.load(%%x[i, %d]) : %s\n    %%d%d = vec.add(%%c%d, %%l%d)\n", i, i*lanes, v, i, i, i)
	}
	fmt.Fprintf(s, "    yield(%s)\n  } : %d * %s\n", list("%d#"), streamChains, v)
	for i := range streamChains {
		fmt.Fprintf(s, "  vec.store(%%r%d, %%y[%d, 0])\n", i, i)
	}
	return s.String() + "  return()\n}\n"
}

// newStreamer compiles the loop for this machine; nil for types without
// arithmetic in vectors.
func newStreamer(ctx context.Context, e num.Elem) (*streamer, error) {
	if e != num.F32 && e != num.F64 {
		return nil, nil
	}
	desc, err := targets.Native()
	if err != nil {
		return nil, err
	}
	s := &streamer{elem: e, lanes: desc.Lanes(e.Bytes())}
	m, err := driver.Parse("stream.tnir", streamText(e, s.lanes))
	if err != nil {
		return nil, err
	}
	s.lib, _, _, err = compile(ctx, m, "stream.tnir", driver.Options{CPU: "native", Opt: 2})
	return s, err
}

// add lets the streamer read as much memory as b takes, of its own.
func (s *streamer) add(q *problem) {
	if s == nil {
		return
	}
	rows := max(q.k*q.n*int64(len(q.b))/int64(streamChains*s.lanes), 1)
	x, err := runtime.Alloc(s.elem, []int64{rows, int64(streamChains * s.lanes)})
	if err != nil {
		return // then there is no figure
	}
	for i := range x.Data {
		x.Data[i] = 0 // touched: untouched pages are all the same one
	}
	y, err := runtime.Alloc(s.elem, []int64{streamChains, int64(s.lanes)})
	if err != nil {
		return
	}
	if run, release, err := prepare(s.lib, nil, "stream", []runtime.Arg{x, y}, 1); err == nil {
		s.runs, s.bytes, s.releases = append(s.runs, run), float64(len(x.Data)), append(s.releases, release)
	}
}

// contender is the streamer of the row at hand, nil without one; the next row
// begins anew.
func (s *streamer) contender() *contender {
	if s == nil || len(s.runs) == 0 {
		return nil
	}
	s.cs = &contender{Name: "stream", runs: s.runs}
	s.runs = nil
	return s.cs
}

// release lets the memory of a row go.
func (s *streamer) release() {
	if s == nil {
		return
	}
	for _, f := range s.releases {
		f()
	}
	s.releases, s.runs = nil, nil
}

// share fills in what part of the rate the weights are read at.
func (s *streamer) share(row *Row, x *field) {
	if s == nil || s.cs == nil {
		return
	}
	row.Stream = s.bytes / s.cs.best() / 1e9
	weights := float64(x.q.k*x.q.n) * float64(len(x.q.b)) * float64(x.q.elem.Bytes())
	row.StreamShare = weights / row.Least / 1e9 / row.Stream
	s.cs = nil
}
