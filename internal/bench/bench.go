package bench

import (
	"context"
	"fmt"
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
	Cold    bool          // operands rotate through more memory than the last cache holds
	Compile driver.Options
}

// Report is what a run found.
type Report struct {
	Function string  `json:"function"`
	Machine  string  `json:"machine"`
	Peer     string  `json:"peer,omitempty"`
	ISA      string  `json:"peer_isa,omitempty"`
	Void     string  `json:"void,omitempty"` // why comparisons do not count
	Cold     bool    `json:"cold"`
	Threads  int     `json:"threads"`
	Compile  float64 `json:"compile_seconds"`
	Rows     []*Row  `json:"rows"`
	Geomean  float64 `json:"geomean,omitempty"`
}

// Row is one shape. Rates are of the product's operations; without a recognised
// product there is only the time. Ratio is how often Tenon goes into the best way
// of the peer, round by round.
type Row struct {
	Shape   Shape   `json:"shape"`
	Seconds Spread  `json:"seconds"`
	GFlops  *Spread `json:"gflops,omitempty"`
	Share   *Spread `json:"share_of_peak,omitempty"`
	Peers   []Way   `json:"peers,omitempty"`
	Ratio   *Spread `json:"ratio,omitempty"`
	Skipped string  `json:"skipped,omitempty"`
}

// Way is one entry of the peer.
type Way struct {
	Name    string `json:"name"`
	Note    string `json:"implementation"`
	Seconds Spread `json:"seconds"`
	GFlops  Spread `json:"gflops"`
}

// session is a run in progress.
type session struct {
	o       Options
	f       *ir.Func
	lib     *runtime.Lib
	opens   bool             // f computes something from const parameters when it is opened
	states  []*runtime.State // of the row at hand
	desc    *targets.Desc
	product *Product // nil if it was not recognised and no peer asks for it
	peers   []peer

	top      func() bool // multiply-adds in registers, nil if this machine's are not measured
	topFlops float64     // of one run of top, on all threads
}

// Run compiles f once and measures every shape; progress is told of each row.
func Run(ctx context.Context, m *ir.Module, f *ir.Func, file string, o Options, progress func(*Row)) (*Report, error) {
	s := &session{o: o, f: f}
	r := &Report{Function: f.Name, Cold: o.Cold, Threads: o.Threads}
	p, err := Recognise(f)
	if err == nil {
		s.product = p
		if s.top, s.topFlops, err = peak(ctx, p.Elem); err != nil {
			return nil, err
		}
		s.topFlops *= float64(o.Threads)
	} else if o.Against != "" {
		return nil, err
	}
	if s.desc, err = targets.Find(o.Compile.Target, o.Compile.CPU); err != nil {
		return nil, err
	}
	r.Machine = s.desc.Name
	if err := s.open(r); err != nil {
		return nil, err
	}
	start := time.Now()
	lib, prepares, err := compile(ctx, driver.Only(m, f), file, o.Compile)
	if err != nil {
		return nil, err
	}
	s.lib, s.opens = lib, slices.Contains(prepares, f.Name)
	defer s.lib.Close()
	r.Compile = time.Since(start).Seconds()
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
	var ratios []float64
	for _, row := range r.Rows {
		if row.Ratio != nil {
			ratios = append(ratios, row.Ratio.Median)
		}
		for _, w := range row.Peers {
			if why := below(w.Note, hasAVX512()); why != "" {
				r.Void = w.Name + " " + why
			}
		}
	}
	if len(ratios) > 0 {
		r.Geomean = Geomean(ratios)
	}
}

// below says why figures of a peer do not count on a machine with AVX-512.
func below(note string, avx512 bool) string {
	note = strings.ToLower(note)
	for _, word := range []string{"avx512", "skylakex", "cooperlake", "sapphirerapids", "zen4", "zen5"} {
		if !avx512 || strings.Contains(note, word) {
			return ""
		}
	}
	return "did not use AVX-512"
}

func hasAVX512() bool {
	d, err := targets.Native()
	return err == nil && d.VectorBytes >= 64 && d.Family == "x86-64"
}

// row measures a shape: the function, the peer's ways, the peak.
func (s *session) row(shape Shape) (*Row, error) {
	row := &Row{Shape: shape}
	ours := &contender{Name: "Tenon"}
	defer s.close()
	var theirs []*contender
	var q *problem
	for i, copies := 0, 1; i < copies; i++ {
		args, err := arguments(s.f, shape)
		if err != nil {
			return nil, err
		}
		state, err := s.state(args)
		if err != nil {
			return nil, err
		}
		run, err := prepare(s.lib, state, s.f.Name, args, s.o.Threads)
		if err != nil {
			return nil, err
		}
		ours.runs = append(ours.runs, run)
		if s.o.Cold && i == 0 {
			copies = s.copies(args)
		}
		if s.product == nil {
			continue
		}
		q = s.product.problem(args, s.o.Threads)
		if q.flops() == 0 {
			row.Skipped = "nothing to compute"
			return row, nil
		}
		if theirs, err = s.theirs(q, theirs, i == 0); err != nil {
			return nil, err
		}
	}
	return row, s.measure(row, q, ours, theirs)
}

// state opens the function where that computes something: weights stay the same
// from run to run, as they do for a peer that packs its own. close ends it.
func (s *session) state(args []runtime.Arg) (*runtime.State, error) {
	if !s.opens {
		return nil, nil
	}
	state, err := driver.OpenState(s.lib, s.f, args, nil)
	if err == nil {
		s.states = append(s.states, state)
	}
	return state, err
}

func (s *session) close() {
	for _, state := range s.states {
		state.Close()
	}
	s.states = nil
}

// copies is how many sets of arguments take twice the last cache.
func (s *session) copies(args []runtime.Arg) int {
	bytes, last := int64(0), int64(32<<20)
	if n := len(s.desc.Caches); n > 0 {
		last = s.desc.Caches[n-1].Bytes
	}
	for _, a := range args {
		if t, ok := a.(*runtime.Tensor); ok {
			bytes += int64(len(t.Data))
		}
	}
	return int(min(2*last/max(bytes, 1)+2, 4096))
}

// theirs adds the peers' ways over one more set of arguments. In the first set
// every way, and ours, is held against dot products.
func (s *session) theirs(q *problem, cs []*contender, check bool) ([]*contender, error) {
	if check && (q.elem == num.F32 || q.elem == num.F64) {
		if err := q.check("Tenon"); err != nil {
			return nil, &diag.Bug{Func: s.f.Name, Msg: err.Error()}
		}
	}
	var ways []*way
	for _, p := range s.peers {
		list, err := p.prepare(q)
		if err != nil {
			return nil, err
		}
		ways = append(ways, list...)
	}
	for i, w := range ways {
		if check {
			if !w.run() {
				return nil, fmt.Errorf("%s fails", w.name)
			}
			if err := q.check(w.name); err != nil {
				return nil, err
			}
			cs = append(cs, &contender{Name: w.name, Note: w.note})
		}
		cs[i].runs = append(cs[i].runs, w.run)
	}
	return cs, nil
}

func (s *session) measure(row *Row, q *problem, ours *contender, theirs []*contender) error {
	all := append([]*contender{ours}, theirs...)
	var top *contender
	if s.top != nil {
		top = &contender{Name: "peak", runs: []func() bool{s.top}}
		all = append(all, top)
	}
	if err := race(all, s.o.Rounds, s.o.Slice, s.o.Threads); err != nil {
		return err
	}
	row.Seconds = SpreadOf(ours.times)
	if s.product == nil {
		return nil
	}
	gflops := rates(ours.times, q.flops())
	of := SpreadOf(gflops)
	row.GFlops = &of
	if top != nil {
		share := SpreadOf(quotients(gflops, rates(top.times, s.topFlops)))
		row.Share = &share
	}
	var best []float64
	for _, c := range theirs {
		row.Peers = append(row.Peers, Way{c.Name, c.Note, SpreadOf(c.times), SpreadOf(rates(c.times, q.flops()))})
		if best == nil {
			best = c.times
		}
		best = least(best, c.times)
	}
	if best != nil {
		ratio := SpreadOf(quotients(best, ours.times))
		row.Ratio = &ratio
	}
	return nil
}

// rates are GFLOP/s.
func rates(times []float64, flops float64) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = flops / t / 1e9
	}
	return out
}
