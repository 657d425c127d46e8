// Package gemm makes the micro-kernels of matrix products: C[m, n] += sum over k
// of A[m, k] B[k, n] for a tile of at most MR rows and NV vectors of columns.
//
// A body holds one loop over k for every number of rows and of vectors. It
// broadcasts an element of A a row, loads a vector of B a column vector, and
// does an fma for each pair; the accumulators stay in registers. That K is not
// unrolled costs nothing: the loads and the fma of one step fill the ports.
//
// The rule for tiles is that of register-blocked products (Goto and van de
// Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008): all
// accumulators, a row of B and one element of A in registers; as many
// accumulators as fma take to fill the pipes; no more loads than the ports do.
package gemm
