package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"tenon/internal/diag"
)

// Shape gives dims their sizes.
type Shape map[string]int64

// String lists the sizes by name: K=768 M=1.
func (s Shape) String() string {
	var parts []string
	for name, n := range s {
		parts = append(parts, name+"="+strconv.FormatInt(n, 10))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// mostShapes bounds a list that a slip would make endless.
const mostShapes = 100_000

const shapeSyntax = "NAME=ITEM,..: an item is 7, 1..512, 1..512:16 (step 16) or ~1..512:20 (20 log-uniform draws)"

// dimList is what a specification says of one dim.
type dimList struct {
	name  string
	sizes []int64
	drawn bool
}

// ParseShapes reads specifications as `M=1,2,16..64:16,K=768`. Sizes of different
// dims are combined, each with each, the last dim fastest; draws
// (`M=~1..512:20,N=~1..64:20`) of several dims belong together, the first of one
// with the first of the other. A list of specifications is read one after the
// other. seed determines the draws.
func ParseShapes(specs []string, seed uint64) ([]Shape, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var all []Shape
	for _, spec := range specs {
		dims, err := parseDims(spec, rng)
		if err == nil {
			all, err = combine(all, dims, spec)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func parseDims(spec string, rng *rand.Rand) ([]*dimList, error) {
	var dims []*dimList
	for _, part := range strings.Split(spec, ",") {
		if name, rest, ok := strings.Cut(part, "="); ok {
			name, part = strings.TrimSpace(name), rest
			if name == "" || slices.ContainsFunc(dims, func(d *dimList) bool { return d.name == name }) {
				return nil, diag.Usagef("--shape %s: a dim without a name, or named twice; %s", spec, shapeSyntax)
			}
			dims = append(dims, &dimList{name: name})
		}
		if len(dims) == 0 {
			return nil, diag.Usagef("--shape %s: expected %s", spec, shapeSyntax)
		}
		d := dims[len(dims)-1]
		sizes, drawn, ok := parseItem(strings.TrimSpace(part), rng)
		if !ok || len(d.sizes)+len(sizes) > mostShapes || len(d.sizes) > 0 && d.drawn != drawn {
			return nil, diag.Usagef("--shape %s: %q is no list of sizes of %s; expected %s", spec, part, d.name, shapeSyntax)
		}
		d.sizes, d.drawn = append(d.sizes, sizes...), drawn
	}
	return dims, nil
}

// parseItem reads 7, 1..512, 1..512:16 or ~1..512:20.
func parseItem(item string, rng *rand.Rand) (sizes []int64, drawn, ok bool) {
	item, drawn = strings.CutPrefix(item, "~")
	ends, count, counted := strings.Cut(item, ":")
	low, high, isRange := strings.Cut(ends, "..")
	if !isRange {
		high = low
	}
	from, err1 := strconv.ParseInt(low, 10, 64)
	to, err2 := strconv.ParseInt(high, 10, 64)
	step := int64(1)
	if counted {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 || !isRange {
			return nil, false, false
		}
		step = n
	}
	if err1 != nil || err2 != nil || from < 0 || to < from || drawn && (from < 1 || !counted || step > mostShapes) || !drawn && (to-from)/step >= mostShapes {
		return nil, false, false
	}
	if drawn {
		for range step {
			sizes = append(sizes, logUniform(from, to, rng))
		}
		return sizes, true, true
	}
	for n := from; n <= to; n += step {
		sizes = append(sizes, n)
	}
	return sizes, false, true
}

// logUniform draws from low..high so that every doubling is as likely.
func logUniform(low, high int64, rng *rand.Rand) int64 {
	a, b := math.Log(float64(low)), math.Log(float64(high)+1)
	return min(max(int64(math.Exp(a+rng.Float64()*(b-a))), low), high)
}

// combine adds the shapes that dims span: the draws side by side, the others
// each with each.
func combine(all []Shape, dims []*dimList, spec string) ([]Shape, error) {
	draws := -1
	for _, d := range dims {
		if !d.drawn {
			continue
		}
		if draws >= 0 && draws != len(d.sizes) {
			return nil, diag.Usagef("--shape %s: %d draws of one dim and %d of %s; draws of several dims belong together and must be as many", spec, draws, len(d.sizes), d.name)
		}
		draws = len(d.sizes)
	}
	out := []Shape{{}}
	if draws >= 0 {
		out = make([]Shape, draws)
		for i := range out {
			out[i] = Shape{}
			for _, d := range dims {
				if d.drawn {
					out[i][d.name] = d.sizes[i]
				}
			}
		}
	}
	for _, d := range dims {
		if d.drawn {
			continue
		}
		if len(all)+len(out)*len(d.sizes) > mostShapes {
			return nil, diag.Usagef("--shape %s: more than %d shapes", spec, mostShapes)
		}
		var wider []Shape
		for _, s := range out {
			for _, n := range d.sizes {
				t := Shape{d.name: n}
				for k, v := range s {
					t[k] = v
				}
				wider = append(wider, t)
			}
		}
		out = wider
	}
	return append(all, out...), nil
}
