package gemm

import (
	"slices"

	"tenon/internal/num"
)

// Machine is what the candidates depend on: numbers, no name of a target.
type Machine struct {
	VectorBytes, VectorRegs int
	Masked, FusedMul        bool // masked memory access, fused multiply and add
	FMALatency              int  // cycles
	FMAPerCycle             int
	LoadsPerCycle           int
}

// Candidates lists the register tiles for accumulators of type acc, by rows and
// then vectors; forms are the caller's to set. For each number of vectors it is
// the tile of the most rows that the registers hold, NV vectors of B and one of A
// beside the accumulators; it must have accumulators enough to fill the fma pipes
// and, unless it is one vector wide, no more loads than the ports do beside the
// fma. A single row has as many vectors as fill the pipes: its fma take B from
// memory. A body runs every smaller number of rows and vectors too.
func Candidates(m Machine, acc num.Elem) []Key {
	var keys []Key
	for mr := 1; mr < m.VectorRegs; mr++ {
		for nv := 1; fits(m, mr, nv); nv++ {
			if mr == 1 && nv == chains(m) || mr > 1 && !fits(m, mr+1, nv) && feeds(m, mr, nv) {
				keys = append(keys, Key{Elem: acc, Acc: acc, MR: mr, NV: nv, Lanes: m.VectorBytes / acc.Bytes()})
			}
		}
	}
	return keys
}

// Shapes are the candidates that are worth their code, the best one last: that
// which uses most often what it loads, the one like it with fewer rows, and a
// single row; none of a machine with too few registers. A body takes smaller tiles
// too, so that more shapes gain little.
func Shapes(m Machine, acc num.Elem) []Key {
	keys := Candidates(m, acc)
	if len(keys) == 0 {
		return nil
	}
	slices.SortStableFunc(keys, func(a, b Key) int { return reuse(a) - reuse(b) })
	shapes := keys[len(keys)-1:]
	for _, k := range slices.Backward(keys) {
		first := shapes[0]
		if k.MR < first.MR && (k.MR == 1 || len(shapes) < 2) {
			shapes = slices.Insert(shapes[:len(shapes):len(shapes)], 0, k)
		}
	}
	return shapes
}

// reuse orders tiles by how often they use what they load: by accumulators, then
// by rows; those of one vector, whose loads do not keep up, come before others.
func reuse(k Key) int {
	if k.NV == 1 {
		return -k.MR
	}
	return 100*k.MR*k.NV + k.MR
}

// mostDotRows bounds the rows of tiles that sum along k: where there are more, a
// copy of B in panels costs less than the shuffles.
const mostDotRows = 4

// DotCandidates lists the tiles with B by columns, for 1, 2, 4 rows the one of the
// fewest columns whose accumulators fill the fma pipes.
func DotCandidates(m Machine, acc num.Elem) (keys []Key) {
	for mr := 1; mr <= mostDotRows; mr *= 2 {
		nv := (chains(m) + mr - 1) / mr
		if mr*nv+mr+1 <= m.VectorRegs {
			keys = append(keys, Key{Elem: acc, Acc: acc, MR: mr, NV: nv, Lanes: m.VectorBytes / acc.Bytes(), B: Columns})
		}
	}
	return keys
}

// fits reports that the registers hold a tile.
func fits(m Machine, mr, nv int) bool {
	if mr == 1 {
		return nv+1 < m.VectorRegs
	}
	return mr*nv+nv+1 <= m.VectorRegs
}

// chains is the number of independent accumulators that fill the fma pipes.
func chains(m Machine) int { return m.FMALatency * m.FMAPerCycle }

// feeds reports that a tile fills the pipes and that its loads keep up.
func feeds(m Machine, mr, nv int) bool {
	keepsUp := nv == 1 || (mr+nv)*m.FMAPerCycle <= mr*nv*m.LoadsPerCycle
	return mr*nv >= chains(m) && keepsUp
}
