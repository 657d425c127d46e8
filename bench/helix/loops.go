package main

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/bench"
	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/ir"
)

// gemmLoops is PolyBench's gemm as three loops, with the body in the order of the
// suite. Scalars are 1 here, so each run adds a product to C.
const gemmLoops = `
proc gemm(alpha: f64, beta: f64, A: in f64[M, K], B: in f64[K, N], C: inout f64[M, N]) {
  for i in 0..M {
    for j in 0..N { C[i, j] *= beta }
    for k in 0..K { for j in 0..N { C[i, j] += alpha * A[i, k] * B[k, j] } }
  }
}
`

// gemmProduct is what the loops compute: loops are not recognised by the benchmark
// itself.
func gemmProduct(f *ir.Func) *bench.Product {
	return &bench.Product{Func: f, Elem: num.F64, M: "i", N: "j", K: "k",
		A: bench.Access{Arg: 2, Axes: []string{"i", "k"}}, B: bench.Access{Arg: 3, Axes: []string{"k", "j"}}, C: bench.Access{Arg: 4, Axes: []string{"i", "j"}}}
}

// loops: a loop nest in double precision, PolyBench's LARGE sizes.
func (s *suite) loops() error {
	m, err := driver.Parse("gemm.tn", gemmLoops)
	if err != nil {
		return err
	}
	o := s.options([]bench.Shape{{"M": 1000, "N": 1100, "K": 1200}})
	o.Against = strings.Join(slices.DeleteFunc(slices.Clone(s.peers), func(p string) bool { return strings.Contains(p, "dnn") }), ",") // it has no f64
	o.Product = gemmProduct(ir.Lookup[*ir.Func](m, "gemm"))
	fmt.Fprint(s.out, "### Three loops in f64: PolyBench's gemm, LARGE\n\n")
	r, err := s.measure(gemmLoops, "gemm", o)
	if err != nil {
		return err
	}
	s.print(r)
	s.perPeer(r.Rows)
	if c := ratios(r.Rows, "OpenBLAS"); len(c) > 0 {
		s.say(goal{what: "loops: f64 gemm LARGE to OpenBLAS", got: leastOf(c), want: 1})
	}
	return nil
}
