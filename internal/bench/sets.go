package bench

import (
	"slices"

	"tenon/ir"
	"tenon/runtime"
)

// sets are the arguments of a row: one set, or where operands are to be cold as
// many as take twice the last cache. Then the constant operands are those that
// differ, as the weights of a network's layers do, and the others stay warm; of a
// function without any all operands differ.
func (s *session) sets(shape Shape) ([][]runtime.Arg, error) {
	first, err := arguments(s.f, shape)
	if err != nil || !s.o.Cold {
		return [][]runtime.Arg{first}, err
	}
	someConst := slices.ContainsFunc(s.f.Params, func(p *ir.Param) bool { return p.Const })
	rotates := func(i int) bool { return !someConst || i < len(s.f.Params) && s.f.Params[i].Const }
	bytes := int64(0)
	for i, a := range first {
		if t, ok := a.(*runtime.Tensor); ok && rotates(i) {
			bytes += int64(len(t.Data))
		}
	}
	all := [][]runtime.Arg{first}
	for range s.copies(bytes) - 1 {
		more := slices.Clone(first)
		for i, a := range first {
			t, ok := a.(*runtime.Tensor)
			if !ok || !rotates(i) {
				continue
			}
			copied, err := runtime.Alloc(t.Elem, t.Shape)
			if err != nil {
				return nil, err
			}
			copy(copied.Data, t.Data)
			more[i] = copied
		}
		all = append(all, more)
	}
	return all, nil
}

// copies is how many sets of so many bytes take twice the last cache.
func (s *session) copies(bytes int64) int {
	last := int64(32 << 20)
	if n := len(s.desc.Caches); n > 0 {
		last = s.desc.Caches[n-1].Bytes
	}
	return int(min(2*last/max(bytes, 1)+2, 4096))
}
