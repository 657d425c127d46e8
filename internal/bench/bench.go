package bench

import (
	"context"
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/runtime"
	"tenon/targets"
)

// Options say what is measured and how.
type Options struct {
	Shapes  []Shape
	Against string // peers, with commas between; "" for none
	Threads int
	Rounds  int
	Slice   time.Duration // of a contender in a round
	Cold    bool          // constant operands, or all where none is constant, rotate through more memory than the last cache holds
	Regret  bool          // every variant of the function's choice is measured too
	Stream  bool          // so is reading what the constant operands take
	Wall    bool          // time on the wall, though there is one thread: to compare with several
	Forced  []driver.Forced
	Compile driver.Options

	// Product is what the function computes, where it cannot be recognised; nil: it is.
	Product *Product
}

// Report is what a run found.
type Report struct {
	Function string  `json:"function"`
	Machine  string  `json:"machine"`
	Peer     string  `json:"peer,omitempty"`
	ISA      string  `json:"peer_isa,omitempty"`
	Cold     bool    `json:"cold"`
	Threads  int     `json:"threads"`
	Compile  float64 `json:"compile_seconds"`
	Bytes    int     `json:"library_bytes"`
	Rows     []*Row  `json:"rows"`
	Geomean  float64 `json:"geomean,omitempty"`      // of the medians of ratios
	Best     float64 `json:"geomean_best,omitempty"` // of the ratios of least times
	Regret   float64 `json:"geomean_regret,omitempty"`
	Voided   int     `json:"voided,omitempty"` // rows that have no peer that counts
}

// Row is one shape. Rates are of the product's operations; without a recognised
// product there is only the time. Ratio is how often Tenon goes into the best way
// of the peers that counts, round by round. Of all rounds, Least is the shortest
// time; Best is the same of the other figures, from the shortest times: they are
// steadier than medians where the machine does other work.
type Row struct {
	Function    string  `json:"function"`
	Shape       Shape   `json:"shape"`
	Seconds     Spread  `json:"seconds"`
	Least       float64 `json:"least_seconds,omitempty"`
	GFlops      *Spread `json:"gflops,omitempty"`
	Share       *Spread `json:"share_of_peak,omitempty"`
	Peak        float64 `json:"peak_gflops,omitempty"` // from its least time, on all threads
	BestShare   float64 `json:"best_share_of_peak,omitempty"`
	Stream      float64 `json:"stream_gbytes,omitempty"` // read in a second, of as much memory as the constant operands
	StreamShare float64 `json:"share_of_stream,omitempty"`
	Peers       []Way   `json:"peers,omitempty"`
	Ratio       *Spread `json:"ratio,omitempty"`
	BestRatio   float64 `json:"best_ratio,omitempty"`
	Regret      *Regret `json:"regret,omitempty"`
	Skipped     string  `json:"skipped,omitempty"`
}

// Way is one entry of a peer. Where Void says why, it takes no part in ratios.
type Way struct {
	Name    string  `json:"name"`
	Note    string  `json:"implementation"`
	Seconds Spread  `json:"seconds"`
	Least   float64 `json:"least_seconds"`
	GFlops  Spread  `json:"gflops"`
	Void    string  `json:"void,omitempty"`
}

// session is a run in progress.
type session struct {
	o        Options
	f        *ir.Func
	lib      *runtime.Lib
	watched  *runtime.Lib     // the same, with a choice that can be forced; nil if none is to be
	opens    bool             // f computes something from const parameters when it is opened
	states   []*runtime.State // of the row at hand
	releases []func()         // of its calls
	desc     *targets.Desc
	vector   int      // bytes of this machine's vectors
	product  *Product // nil if it was not recognised and no peer asks for it
	peers    []peer

	top      func() bool // multiply-adds in registers, nil if this machine's are not measured
	topFlops float64     // of one run of top, on all threads
	fastest  float64     // GFLOP/s of top in any row so far
	bytes    int         // of the operands of the row at hand
	stream   *streamer
}

// Run compiles f once and measures every shape; progress is told of each row.
func Run(ctx context.Context, m *ir.Module, f *ir.Func, file string, o Options, progress func(*Row)) (*Report, error) {
	s := &session{o: o, f: f, product: o.Product}
	r := &Report{Function: f.Name, Cold: o.Cold, Threads: o.Threads}
	if err := s.prepare(ctx, r); err != nil {
		return nil, err
	}
	start := time.Now()
	compiled := o.Compile
	compiled.Watch = len(o.Forced) > 0
	lib, prepares, bytes, err := compile(ctx, driver.Only(m, f), file, compiled)
	if err != nil {
		return nil, err
	}
	s.lib, s.opens, r.Bytes = lib, slices.Contains(prepares, f.Name), bytes
	defer s.lib.Close()
	r.Compile = time.Since(start).Seconds()
	if err := s.watch(ctx, m, file); err != nil {
		return nil, err
	}
	for _, shape := range o.Shapes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, err := s.row(shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shape, err)
		}
		r.Rows = append(r.Rows, row)
		progress(row)
	}
	r.conclude()
	return r, nil
}

// prepare finds out what f computes and makes ready what bounds and rivals it.
func (s *session) prepare(ctx context.Context, r *Report) (err error) {
	if s.desc, err = targets.Find(s.o.Compile.Target, s.o.Compile.CPU); err != nil {
		return err
	}
	if d, err := targets.Native(); err == nil {
		s.vector = d.VectorBytes
	}
	r.Machine = s.desc.Name
	if s.product == nil {
		p, fault := Recognise(s.f)
		switch {
		case fault == nil:
			s.product = p
		case s.o.Against != "":
			return fault
		}
	}
	if s.product != nil {
		if s.top, s.topFlops, err = peak(ctx, s.product.Elem, s.o.Threads); err != nil {
			return err
		}
	}
	if s.o.Stream && s.product != nil {
		if s.stream, err = newStreamer(ctx, s.product.Elem); err != nil {
			return err
		}
	}
	return s.open(r)
}

// open loads the peers and says which they are.
func (s *session) open(r *Report) error {
	if s.o.Against == "" {
		return nil
	}
	var names, isas []string
	for _, against := range strings.Split(s.o.Against, ",") {
		p, err := openPeer(against, s.o.Threads)
		if err != nil {
			return err
		}
		s.peers = append(s.peers, p)
		names, isas = append(names, p.name()), append(isas, p.isa())
	}
	r.Peer, r.ISA = strings.Join(names, ", "), strings.Join(isas, ", ")
	return nil
}

func (r *Report) conclude() {
	var ratios, bests, regrets []float64
	for _, row := range r.Rows {
		if row.Ratio != nil {
			ratios, bests = append(ratios, row.Ratio.Median), append(bests, row.BestRatio)
		} else if len(row.Peers) > 0 {
			r.Voided++
		}
		if row.Regret != nil {
			regrets = append(regrets, 1+row.Regret.Regret)
		}
	}
	if len(ratios) > 0 {
		r.Geomean, r.Best = Geomean(ratios), Geomean(bests)
	}
	if len(regrets) > 0 {
		r.Regret = Geomean(regrets) - 1
	}
}

// row measures a shape: the function, the peers' ways, the peak, the variants.
func (s *session) row(shape Shape) (*Row, error) {
	row := &Row{Function: s.f.Name, Shape: shape}
	x := &field{ours: &contender{Name: "Tenon"}}
	defer s.close()
	sets, err := s.sets(shape)
	if err != nil {
		return nil, err
	}
	s.bytes = 0
	for i, args := range sets {
		for _, a := range args {
			if t, ok := a.(*runtime.Tensor); ok {
				s.bytes += len(t.Data)
			}
		}
		run, err := s.ready(s.lib, args)
		if err != nil {
			return nil, err
		}
		x.ours.runs = append(x.ours.runs, run)
		if s.product == nil {
			continue
		}
		q := s.product.problem(args, s.o.Threads)
		if q.flops() == 0 {
			row.Skipped = "nothing to compute"
			return row, nil
		}
		if x.q = q; i == 0 {
			q.keepBase()
		}
		if err = s.theirs(q, x, i == 0); err != nil {
			return nil, err
		}
		s.stream.add(q)
	}
	if err := s.variants(x, sets); err != nil {
		return nil, err
	}
	return row, s.measure(row, x)
}

// field are the contenders of a row.
type field struct {
	q        *problem // of the last set of arguments
	ours     *contender
	theirs   []*contender
	isas     []string // of the libraries that theirs belong to
	variants []*contender
	chosen   int // which of them is picked, -1 if there are none
}

// ready plans a call of f, opened first where that computes something.
func (s *session) ready(lib *runtime.Lib, args []runtime.Arg) (func() bool, error) {
	state, err := s.state(lib, args)
	if err != nil {
		return nil, err
	}
	if lib == s.lib && len(s.o.Forced) > 0 {
		if err := driver.Force(lib, s.f.Name, s.o.Forced); err != nil {
			return nil, err
		}
	}
	run, release, err := prepare(lib, state, s.f.Name, args, s.o.Threads)
	if err == nil {
		s.releases = append(s.releases, release)
	}
	return run, err
}

// state opens the function where that computes something: weights stay the same
// from run to run, as they do for a peer that packs its own. close ends it.
func (s *session) state(lib *runtime.Lib, args []runtime.Arg) (*runtime.State, error) {
	if !s.opens {
		return nil, nil
	}
	state, err := driver.OpenState(lib, s.f, args, nil)
	if err == nil {
		s.states = append(s.states, state)
	}
	return state, err
}

// close lets go of what a row has made.
func (s *session) close() {
	for _, release := range s.releases {
		release()
	}
	s.releases = nil
	s.stream.release()
	for _, state := range s.states {
		state.Close()
	}
	s.states = nil
	for _, p := range s.peers {
		p.release()
	}
	if s.bytes > largeRow {
		debug.FreeOSMemory()
	}
}

// largeRow are bytes of operands that are not left for the next collection of
// garbage: a few such rows would fill the machine.
const largeRow = 256 << 20

// theirs adds the peers' ways over one more set of arguments. In the first set
// every way, and ours, is held against dot products.
func (s *session) theirs(q *problem, x *field, check bool) error {
	checked := q.elem == num.F32 || q.elem == num.F64
	if check && checked {
		if !x.ours.runs[0]() {
			return fmt.Errorf("%s fails", s.f.Name)
		}
		if err := q.check("Tenon"); err != nil {
			return &diag.Bug{Func: s.f.Name, Msg: err.Error()}
		}
	}
	var ways []*way
	for _, p := range s.peers {
		list, err := p.prepare(q)
		if err != nil {
			return err
		}
		for _, w := range list {
			w.isa = p.isa()
		}
		ways = append(ways, list...)
	}
	for i, w := range ways {
		if check {
			q.restore()
			if !w.run() {
				return fmt.Errorf("%s fails", w.name)
			}
			if err := q.check(w.name); checked && err != nil {
				return err
			}
			x.theirs, x.isas = append(x.theirs, &contender{Name: w.name, Note: w.note}), append(x.isas, w.isa)
		}
		x.theirs[i].runs = append(x.theirs[i].runs, w.run)
	}
	return nil
}

// measure races the field and fills in the row.
func (s *session) measure(row *Row, x *field) error {
	all := append([]*contender{x.ours}, x.theirs...)
	var top *contender
	if s.top != nil {
		top = &contender{Name: "peak", runs: []func() bool{s.top}}
		all = append(all, top)
	}
	if c := s.stream.contender(); c != nil {
		all = append(all, c)
	}
	goruntime.GC() // not while it is measured
	err := race(append(all, x.variants...), s.o.Rounds, again, s.o.Slice, s.clock(), s.begin)
	if err != nil {
		return err
	}
	row.Seconds, row.Least = SpreadOf(x.ours.times), x.ours.best()
	row.Regret = regretOf(x)
	if s.product == nil {
		return nil
	}
	gflops := rates(x.ours.times, x.q.flops())
	of := SpreadOf(gflops)
	row.GFlops = &of
	most := 0.0
	if top != nil {
		share := SpreadOf(quotients(gflops, rates(top.times, s.topFlops)))
		most = s.topFlops / top.best() / 1e9
		row.Peak, s.fastest = most, max(s.fastest, most)
		row.Share, row.BestShare = &share, x.q.flops()/row.Least/1e9/most
	}
	s.stream.share(row, x)
	s.compare(row, x)
	return nil
}

// clock is the number of threads that times are taken for.
func (s *session) clock() int {
	if s.o.Wall {
		return max(s.o.Threads, 2)
	}
	return s.o.Threads
}

// begin limits the threads of libraries, on the thread from which they are called.
func (s *session) begin() {
	for _, p := range s.peers {
		p.limit(s.o.Threads)
	}
}

// compare fills in the ways of the peers and the ratio to the best of them.
func (s *session) compare(row *Row, x *field) {
	var best []float64
	least := 0.0
	for i, c := range x.theirs {
		w := Way{c.Name, c.Note, SpreadOf(c.times), c.best(), SpreadOf(rates(c.times, x.q.flops())), ""}
		w.Void = s.void(c, x.isas[i], x.q.flops()/w.Least/1e9, s.fastest)
		row.Peers = append(row.Peers, w)
		if w.Void != "" {
			continue
		}
		if best == nil {
			best, least = c.times, w.Least
		}
		best, least = lesser(best, c.times), min(least, w.Least)
	}
	if best != nil {
		ratio := SpreadOf(quotients(best, x.ours.times))
		row.Ratio, row.BestRatio = &ratio, least/row.Least
	}
}

// rates are GFLOP/s.
func rates(times []float64, flops float64) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = flops / t / 1e9
	}
	return out
}
