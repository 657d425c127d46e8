package weights

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tenon/internal/diag"
)

// A Slice selects a part of an array as Python's a[...] does: one item per
// axis, from the first on; axes without an item are taken whole.
type Slice struct {
	items []sliceItem
	text  string
}

type sliceItem struct {
	ellipsis          bool
	index             bool // one integer (in start); drops the axis
	start, stop, step int64
	hasStart, hasStop bool
}

func (s Slice) String() string { return s.text }

// ParseSlice reads a slice with its brackets, such as [1297:, ::-1].
func ParseSlice(s string) (Slice, error) {
	t := strings.TrimSpace(s)
	if len(t) < 2 || t[0] != '[' || t[len(t)-1] != ']' {
		return Slice{}, diag.Usagef("slice %q: expected [...] with one item per axis, such as [:100, 0, ::2]", s)
	}
	sl := Slice{text: t}
	seen := false
	for _, part := range strings.Split(t[1:len(t)-1], ",") {
		item, err := parseItem(strings.TrimSpace(part))
		if err == nil && item.ellipsis && seen {
			err = fmt.Errorf("`...` may stand once")
		}
		if err != nil {
			return Slice{}, diag.Usagef("slice %s: %s", t, err)
		}
		seen = seen || item.ellipsis
		sl.items = append(sl.items, item)
	}
	return sl, nil
}

func parseItem(s string) (sliceItem, error) {
	if s == "..." {
		return sliceItem{ellipsis: true}, nil
	}
	parts := strings.Split(s, ":")
	item := sliceItem{step: 1, index: len(parts) == 1}
	if s == "" || len(parts) > 3 {
		return item, fmt.Errorf("item %q: expected an integer, start:stop or start:stop:step", s)
	}
	places := []*int64{&item.start, &item.stop, &item.step}
	for k, p := range parts {
		p = strings.TrimSpace(p)
		if p == "" {
			continue
		}
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return item, fmt.Errorf("%q is not a 64-bit integer", p)
		}
		*places[k] = n
		item.hasStart = item.hasStart || k == 0
		item.hasStop = item.hasStop || k == 1
	}
	if item.step == 0 {
		return item, fmt.Errorf("item %q: a step of 0 never ends; use 1 or -1", s)
	}
	return item, nil
}

// apply narrows v. The errors are those that depend on the shape.
func (s Slice) apply(v view) (view, error) {
	named := 0
	for _, it := range s.items {
		if !it.ellipsis {
			named++
		}
	}
	if named > len(v.shape) {
		return view{}, fmt.Errorf("slice %s has %d items, the array has rank %d (shape %s)",
			s.text, named, len(v.shape), shapeString(v.shape))
	}
	out := view{offset: v.offset}
	axis := 0
	for _, it := range s.items {
		if it.ellipsis {
			for n := len(v.shape) - named; n > 0; n-- {
				out.keep(v, axis)
				axis++
			}
			continue
		}
		if err := out.take(v, axis, it); err != nil {
			return view{}, fmt.Errorf("slice %s: %w", s.text, err)
		}
		axis++
	}
	for ; axis < len(v.shape); axis++ {
		out.keep(v, axis)
	}
	if lenOf(out.shape) == 0 {
		out.offset, out.strides = 0, cStrides(out.shape)
	}
	return out, nil
}

func (v *view) keep(from view, axis int) {
	v.shape = append(v.shape, from.shape[axis])
	v.strides = append(v.strides, from.strides[axis])
}

func (v *view) take(from view, axis int, it sliceItem) error {
	n, stride := from.shape[axis], from.strides[axis]
	if it.index {
		i := it.start
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			return fmt.Errorf("index %d is out of range for axis %d of %d", it.start, axis, n)
		}
		v.offset += i * stride
		return nil
	}
	start, count, step := it.bounds(n)
	v.shape = append(v.shape, count)
	v.strides = append(v.strides, stride*step)
	if count > 0 {
		v.offset += start * stride
	}
	return nil
}

// bounds resolves an item against an axis of n elements as Python's
// slice.indices does: bounds are clamped, never an error. A step longer than
// the axis selects at most one element, so it is clamped too; that keeps
// stride*step within 64 bits.
func (it sliceItem) bounds(n int64) (start, count, step int64) {
	step = min(max(it.step, -max(n, 1)), max(n, 1))
	low, high := int64(0), n
	start, stop := low, high
	if step < 0 {
		low, high = -1, n-1
		start, stop = high, low
	}
	if it.hasStart {
		start = clampIndex(it.start, n, low, high)
	}
	if it.hasStop {
		stop = clampIndex(it.stop, n, low, high)
	}
	switch {
	case step > 0 && start < stop:
		count = (stop-start-1)/step + 1
	case step < 0 && start > stop:
		count = (start-stop-1)/-step + 1
	}
	return start, count, step
}

func clampIndex(i, n, low, high int64) int64 {
	if i < 0 {
		if i < math.MinInt64+n {
			return low
		}
		i += n
	}
	return min(max(i, low), high)
}
