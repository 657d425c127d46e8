package interp

import (
	"fmt"
	"math"
	"sort"

	"tenon/internal/num"
	"tenon/ir"
)

// CheckPattern checks that p is in range throughout: row pointers rise from 0
// to the number of entries, columns lie in the matrix, Perm is a permutation.
func CheckPattern(p *ir.PatternValue) error {
	if p == nil || p.Rows < 0 || p.Cols < 0 || p.Rows == math.MaxInt64 {
		return fmt.Errorf("its size is no size")
	}
	if int64(len(p.Ptr)) != p.Rows+1 {
		return fmt.Errorf("it has %d row pointers; expected rows + 1 = %d", len(p.Ptr), p.Rows+1)
	}
	if p.Ptr[0] != 0 || p.Ptr[p.Rows] != p.NNZ() {
		return fmt.Errorf("its row pointers run from %d to %d; expected 0 to %d, the number of entries", p.Ptr[0], p.Ptr[p.Rows], p.NNZ())
	}
	for i := int64(0); i < p.Rows; i++ {
		if p.Ptr[i] > p.Ptr[i+1] {
			return fmt.Errorf("its row pointers fall at row %d: %d, then %d", i, p.Ptr[i], p.Ptr[i+1])
		}
	}
	for e, c := range p.Col {
		if c < 0 || c >= p.Cols {
			return fmt.Errorf("entry %d has column %d; expected 0 to %d", e, c, p.Cols-1)
		}
	}
	return checkPerm(p)
}

func checkPerm(p *ir.PatternValue) error {
	if p.Perm == nil {
		return nil
	}
	seen := make([]bool, len(p.Col))
	if len(p.Perm) != len(p.Col) {
		return fmt.Errorf("it has %d entries and a permutation of %d", len(p.Col), len(p.Perm))
	}
	for _, e := range p.Perm {
		if e < 0 || e >= p.NNZ() || seen[e] {
			return fmt.Errorf("its permutation is none")
		}
		seen[e] = true
	}
	return nil
}

// NewPattern brings index arrays of the given format into row form. csr and csc
// take pointers and indices, coo takes rows as ptr and columns as idx, bsr takes
// the pointers and column indices of its blocks. Values stay in the caller's
// order: the number of an entry is its place there (a block's elements in C
// order). The arrays are checked.
func NewPattern(format ir.Format, rows, cols int64, ptr, idx *ir.Array) (*ir.PatternValue, error) {
	for _, a := range []*ir.Array{ptr, idx} {
		if a == nil || len(a.Shape) != 1 || a.Elem != num.I32 && a.Elem != num.I64 {
			return nil, fmt.Errorf("the index arrays of a pattern are vectors of i32 or i64, not %s", describe(a))
		}
	}
	p, x := ints(ptr), ints(idx)
	var pv *ir.PatternValue
	var err error
	switch format.Kind {
	case "csr":
		pv = &ir.PatternValue{Rows: rows, Cols: cols, Ptr: p, Col: x}
		return pv, CheckPattern(pv)
	case "csc":
		pv = &ir.PatternValue{Rows: cols, Cols: rows, Ptr: p, Col: x}
		if err = CheckPattern(pv); err == nil {
			pv = Transpose(pv)
		}
	case "coo":
		pv, err = fromPairs(rows, cols, p, x)
	case "bsr":
		pv, err = fromBlocks(format, rows, cols, p, x)
	default:
		err = fmt.Errorf("%s is no format of a pattern", format.Kind)
	}
	return pv, err
}

func ints(a *ir.Array) []int64 {
	v := make([]int64, a.Shape[0])
	for i := range v {
		v[i] = num.Int(a.Mem.Cells[a.Off+int64(i)*a.Strides[0]])
	}
	return v
}

// number is the entry number, in the order of the caller's values, of row-form
// entry e.
func number(p *ir.PatternValue, e int64) int64 {
	if p.Perm == nil {
		return e
	}
	return p.Perm[e]
}

// fromPairs sorts entries by row, keeping the given order inside one.
func fromPairs(rows, cols int64, r, c []int64) (*ir.PatternValue, error) {
	if len(r) != len(c) {
		return nil, fmt.Errorf("there are %d rows and %d columns of entries", len(r), len(c))
	}
	for e := range r {
		if r[e] < 0 || r[e] >= rows || c[e] < 0 || c[e] >= cols {
			return nil, fmt.Errorf("entry %d is (%d, %d), outside %d x %d", e, r[e], c[e], rows, cols)
		}
	}
	perm := make([]int64, len(r))
	for e := range perm {
		perm[e] = int64(e)
	}
	sort.SliceStable(perm, func(a, b int) bool { return r[perm[a]] < r[perm[b]] })
	p := &ir.PatternValue{Rows: rows, Cols: cols, Ptr: make([]int64, rows+1), Col: make([]int64, len(c)), Perm: perm}
	for e, old := range perm {
		p.Col[e] = c[old]
		p.Ptr[r[old]+1]++
	}
	for i := int64(0); i < rows; i++ {
		p.Ptr[i+1] += p.Ptr[i]
	}
	return p, nil
}

func fromBlocks(f ir.Format, rows, cols int64, ptr, idx []int64) (*ir.PatternValue, error) {
	br, bc := f.BlockRows, f.BlockCols
	if br <= 0 || bc <= 0 || rows%br != 0 || cols%bc != 0 {
		return nil, fmt.Errorf("blocks of %d x %d do not fill %d x %d", br, bc, rows, cols)
	}
	blocks := &ir.PatternValue{Rows: rows / br, Cols: cols / bc, Ptr: ptr, Col: idx}
	if err := CheckPattern(blocks); err != nil {
		return nil, err
	}
	var r, c []int64
	for i := int64(0); i < blocks.Rows; i++ {
		for b := ptr[i]; b < ptr[i+1]; b++ {
			for k := int64(0); k < br*bc; k++ {
				r, c = append(r, i*br+k/bc), append(c, idx[b]*bc+k%bc)
			}
		}
	}
	return fromPairs(rows, cols, r, c)
}

// Transpose is p with rows and columns exchanged; entries keep their numbers.
// The entries of a row stand in the order of p's rows.
func Transpose(p *ir.PatternValue) *ir.PatternValue {
	t := &ir.PatternValue{Rows: p.Cols, Cols: p.Rows, Ptr: make([]int64, p.Cols+1),
		Col: make([]int64, len(p.Col)), Perm: make([]int64, len(p.Col))}
	for _, c := range p.Col {
		t.Ptr[c+1]++
	}
	for i := int64(0); i < t.Rows; i++ {
		t.Ptr[i+1] += t.Ptr[i]
	}
	next := append([]int64(nil), t.Ptr...)
	for i := int64(0); i < p.Rows; i++ {
		for e := p.Ptr[i]; e < p.Ptr[i+1]; e++ {
			at := next[p.Col[e]]
			next[p.Col[e]]++
			t.Col[at], t.Perm[at] = i, number(p, e)
		}
	}
	return t
}
