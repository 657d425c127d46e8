package helix

import (
	"tenon/internal/num"
	"tenon/microkernels/gemm"
)

// columns is how many columns of b are copied at a time: what half of the second
// cache holds; where a is copied or computed too, so many that this is seldom done
// again.
func (m machine) columns(x *contraction, s strategy) int64 {
	const seldom = 4096
	width, most := int64(s.key.Cols()), int64(seldom)
	if s.pack && !s.packA && x.formA != made {
		most = m.L2 / 2 / (m.depth(s.key) * int64(s.key.Acc.Bytes()))
	}
	return max(1, most/width) * width
}

// depth is how much of the depth is summed at a time: so much of two vectors of b
// takes three quarters of the first cache; where sums run along the depth, so much
// of a few rows of a takes half of it.
func (m machine) depth(k gemm.Key) int64 {
	const vectors, few = 2, 4
	d := m.L1 * 3 / 4 / int64(vectors*m.Gemm.VectorBytes)
	if k.B == gemm.Columns {
		d = m.L1 / 2 / int64(few*k.Acc.Bytes())
	}
	return max(16, d/16*16)
}

// rows is how many rows of a are used at a time: half of the second cache.
func (m machine) rows(k gemm.Key) int64 {
	return max(48, m.L2/2/(m.depth(k)*int64(k.Acc.Bytes()))/48*48)
}

// strategies lists the ways to decompose x: tiles of few rows read b where it
// lies; where b is copied there are rows enough for the tile that reuses it most.
// Panels that were made in advance serve all tiles.
func (h *decomposer) strategies(x *contraction) (list []strategy) {
	keys := gemm.Shapes(h.machine.Gemm, x.acc)
	best := keys[len(keys)-1]
	if ready := h.prepare(x, best.Lanes); ready != nil {
		for _, k := range keys {
			list = append(list, strategy{key: k, ready: ready})
		}
		if x.formA != made {
			list = append(list, strategy{key: best, ready: ready, packA: true})
		}
		return list
	}
	for _, k := range keys {
		if x.formB != alongDepth {
			list = append(list, strategy{key: k})
		}
	}
	list = append(list, h.dots(x)...)
	list = append(list, h.swappedStrategies(x)...)
	if x.formB != made {
		list = append(list, strategy{key: best, pack: true})
	}
	if x.formB != made && x.formA != made {
		list = append(list, strategy{key: best, pack: true, packA: true})
	}
	return list
}

// dots lists the strategies whose sums run along the depth: for few rows where b
// lies so, else, for few columns, with a copy of b.
func (h *decomposer) dots(x *contraction) (list []strategy) {
	if x.formA == alongWidth {
		return nil
	}
	keys := gemm.DotCandidates(h.machine.Gemm, x.acc)
	if x.formB != alongDepth && len(keys) > 0 {
		return []strategy{{key: keys[len(keys)-1], pack: true}}
	}
	for _, k := range keys {
		list = append(list, strategy{key: k})
	}
	return list
}

// kernel is the micro-kernel that the strategy's tiles call.
func (s strategy) kernel(x *contraction) gemm.Key {
	k := s.key
	k.Elem, k.BElem = x.elems()
	if k.B == gemm.Columns && s.pack {
		k.BElem = x.acc
	}
	if k.BElem == k.Elem {
		k.BElem = num.Invalid
	}
	if s.packA || x.formA == alongWidth {
		k.A = gemm.Columns
	}
	if k.B != gemm.Columns && (s.pack || s.ready != nil) {
		k.B = gemm.Panels
	}
	return k
}
