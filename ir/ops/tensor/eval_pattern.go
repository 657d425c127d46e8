package tensor

import (
	"slices"
	"sort"

	"tenon/internal/num"
	"tenon/ir"
)

// number is the entry number of row-form place k.
func number(p *ir.PatternValue, k int64) int64 {
	if p.Perm == nil {
		return k
	}
	return p.Perm[k]
}

func stageSamePattern(m ir.Machine, op *ir.Op) ir.Step {
	vs := op.OperandValues("")
	p, q := m.Object(vs[0]), m.Object(vs[1])
	var from, to []int
	for i, r := range op.Results {
		from, to = append(from, m.Object(vs[i+2])), append(to, m.Object(r))
	}
	return func(f *ir.Frame) {
		a, b := f.O[p].(*ir.PatternValue), f.O[q].(*ir.PatternValue)
		if !sameEntries(a, b) {
			m.Trap(op, ir.TrapShape, "%%%s and %%%s are different patterns", vs[0].Name, vs[1].Name)
		}
		for i, s := range from {
			f.O[to[i]] = f.O[s]
		}
	}
}

// sameEntries: each entry number is the same place of the matrix.
func sameEntries(a, b *ir.PatternValue) bool {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.NNZ() != b.NNZ() {
		return false
	}
	if a.Perm == nil && b.Perm == nil {
		return slices.Equal(a.Ptr, b.Ptr) && slices.Equal(a.Col, b.Col)
	}
	return slices.Equal(places(a), places(b))
}

// places lists (row, column) by entry number.
func places(p *ir.PatternValue) [][2]int64 {
	at := make([][2]int64, p.NNZ())
	for i := int64(0); i < p.Rows; i++ {
		for k := p.Ptr[i]; k < p.Ptr[i+1]; k++ {
			at[number(p, k)] = [2]int64{i, p.Col[k]}
		}
	}
	return at
}

// build makes a pattern from the places of its entries, listed in the order
// that gives them their numbers.
func build(rows, cols int64, at [][2]int64) *ir.PatternValue {
	p := &ir.PatternValue{Rows: rows, Cols: cols, Ptr: make([]int64, rows+1), Col: make([]int64, len(at)), Perm: make([]int64, len(at))}
	for k := range p.Perm {
		p.Perm[k] = int64(k)
		p.Ptr[at[k][0]+1]++
	}
	for i := int64(0); i < rows; i++ {
		p.Ptr[i+1] += p.Ptr[i]
	}
	sort.SliceStable(p.Perm, func(a, b int) bool { return at[p.Perm[a]][0] < at[p.Perm[b]][0] })
	inOrder := true
	for k, e := range p.Perm {
		p.Col[k] = at[e][1]
		inOrder = inOrder && int64(k) == e
	}
	if inOrder {
		p.Perm = nil
	}
	return p
}

// renumber orders entries, given by their places, as format stores them: by row
// (csr, and coo, whose order is free), by column (csc), by block (bsr). Inside a
// row, column or block the order stays. It gives the old entry numbers.
func renumber(format ir.Format, at [][2]int64) []int64 {
	from := make([]int64, len(at))
	for e := range from {
		from[e] = int64(e)
	}
	key := func(e int64) [4]int64 {
		r, c := at[e][0], at[e][1]
		switch format.Kind {
		case "csc":
			return [4]int64{c}
		case "bsr":
			br, bc := max(format.BlockRows, 1), max(format.BlockCols, 1)
			return [4]int64{r / br, c / bc, r % br, c % bc}
		}
		return [4]int64{r}
	}
	sort.SliceStable(from, func(a, b int) bool {
		x, y := key(from[a]), key(from[b])
		return slices.Compare(x[:], y[:]) < 0
	})
	return from
}

// stagePatternMap stages an op that makes a pattern and a map of entries.
func stagePatternMap(m ir.Machine, op *ir.Op, run func(p *ir.PatternValue, to ir.Format) (*ir.PatternValue, []int64)) ir.Step {
	src, dst, at := m.Object(op.Operand(0)), m.Object(op.Results[0]), m.Object(op.Results[1])
	t := op.Results[0].Type.(ir.Pattern)
	nnz := m.Symbol("nnz#" + t.ID)
	return func(f *ir.Frame) {
		q, entries := run(f.O[src].(*ir.PatternValue), t.Format)
		f.S[nnz] = num.FromInt(q.NNZ())
		a := m.Array(f, num.I64, []int64{int64(len(entries))})
		for i, e := range entries {
			setInt(a, int64(i), e)
		}
		f.O[dst], f.O[at] = q, a
	}
}

// rearranged is the pattern of the entries at, stored as format, and the old
// numbers of its entries.
func rearranged(rows, cols int64, at [][2]int64, format ir.Format) (*ir.PatternValue, []int64) {
	from := renumber(format, at)
	moved := make([][2]int64, len(at))
	for e, old := range from {
		moved[e] = at[old]
	}
	return build(rows, cols, moved), from
}

func stagePatternTranspose(m ir.Machine, op *ir.Op) ir.Step {
	return stagePatternMap(m, op, func(p *ir.PatternValue, to ir.Format) (*ir.PatternValue, []int64) {
		at := places(p)
		for e := range at {
			at[e][0], at[e][1] = at[e][1], at[e][0]
		}
		return rearranged(p.Cols, p.Rows, at, to)
	})
}

func stagePatternConvert(m ir.Machine, op *ir.Op) ir.Step {
	return stagePatternMap(m, op, func(p *ir.PatternValue, to ir.Format) (*ir.PatternValue, []int64) {
		return rearranged(p.Rows, p.Cols, places(p), to)
	})
}

func stageCoalesce(m ir.Machine, op *ir.Op) ir.Step {
	return stagePatternMap(m, op, func(p *ir.PatternValue, to ir.Format) (*ir.PatternValue, []int64) {
		at := places(p)
		distinct := slices.Clone(at)
		slices.SortFunc(distinct, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		distinct = slices.Compact(distinct)
		q, from := rearranged(p.Rows, p.Cols, distinct, to)
		became := make(map[[2]int64]int64, len(from))
		for e, d := range from {
			became[distinct[d]] = int64(e)
		}
		entries := make([]int64, len(at))
		for e, x := range at {
			entries[e] = became[x]
		}
		return q, entries
	})
}
