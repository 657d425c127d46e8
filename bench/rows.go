package main

// row is a program at a size, and what is asked of it.
type row struct {
	program string // programs/NAME.tn, and the peers' name of the operation
	m, n    int64

	// Arrays of m*n elements that are read and written, for bytes per second.
	touched int

	// Arithmetic instructions an element, each a vector of elements, of the
	// shortest formula known to us for the accuracy that docs/semantics.md asks
	// for: what bounds a row whose data is in the cache. exp: range reduction 4,
	// polynomial 6, scaling 3; erf and tanh: a rational function of 12 and a
	// division, counted as 4.
	instructions float64

	// bound is the kernel that bounds the row: memcpy or read. share is the part
	// of its bytes per second to be reached, 0 if none is asked for.
	bound string
	share float64

	// times is how much faster than oneDNN it is to be, 0 if nothing is asked.
	times float64
}

func (r row) elements() int64 { return r.m * r.n }

// large are larger than any cache: 64 MB an array.
var large = []row{
	{program: "add", m: 16384, n: 1024, touched: 3, instructions: 1, bound: "memcpy", share: 0.85},
	{program: "bias_gelu", m: 16384, n: 1024, touched: 2, instructions: 22, bound: "memcpy", share: 0.85},
	{program: "layernorm", m: 16384, n: 1024, touched: 2, instructions: 7, bound: "memcpy", share: 0.85},
	{program: "softmax", m: 16384, n: 1024, touched: 2, instructions: 17, bound: "memcpy", share: 0.75},
	{program: "sum", m: 16384, n: 1024, touched: 1, instructions: 1, bound: "read", share: 0.90},
	{program: "transpose", m: 16384, n: 1024, touched: 2, instructions: 1, bound: "memcpy", share: 0.60},
}

// cached are in the second or third level cache, in three shapes: the rows of a
// transformer, short rows, long rows.
var cached = func() []row {
	var rows []row
	for _, op := range []row{
		{program: "softmax", instructions: 17, times: 1.5},
		{program: "layernorm", instructions: 7, times: 1.15},
		{program: "gelu", instructions: 21, times: 1.4},
		{program: "gelu_tanh", instructions: 24, times: 1.4},
	} {
		for _, s := range [][2]int64{{128, 768}, {1536, 128}, {128, 3072}} {
			op.m, op.n, op.touched, op.bound = s[0], s[1], 2, "memcpy"
			rows = append(rows, op)
		}
	}
	return rows
}()

// threaded are measured with one thread and with two: one that memory bounds,
// one that arithmetic does.
var threaded = []row{
	{program: "add", m: 16384, n: 1024, touched: 3, bound: "stream"},
	{program: "gelu", m: 512, n: 3072, touched: 2, bound: "fma"},
}

// Of the two-thread over one-thread ratio of what bounds a row, the part that
// the row must reach; and the ratio below which a machine has not got two
// processors to offer.
const (
	threadShare = 0.9
	threadFloor = 1.5
)
