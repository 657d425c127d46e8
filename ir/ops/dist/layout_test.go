package dist

import (
	"fmt"
	"testing"

	"tenon/ir/ops/access"
)

// Every element has one owner a replica, which says so; block shares are
// balanced, in order and without gaps; Owner agrees with Owns.
func TestOwnership(t *testing.T) {
	grids := [][]int64{{1}, {2}, {3}, {7}, {2, 3}, {3, 1}}
	for _, grid := range grids {
		for _, extent := range []int64{0, 1, 2, 5, 7, 16} {
			for _, m := range []Map{{Axis: 0}, {Axis: 0, Cyclic: true, Block: 1}, {Axis: 0, Cyclic: true, Block: 3}, {Axis: len(grid) - 1}, {Axis: -1}} {
				l := &Layout{Shape: []int64{extent, 2}, Grid: grid, Dims: []Map{m, {Axis: -1}}}
				t.Run(fmt.Sprint(grid, extent, m), func(t *testing.T) { checkOwners(t, l) })
			}
		}
	}
}

func checkOwners(t *testing.T, l *Layout) {
	replicas := l.Ranks()
	if a := l.Dims[0].Axis; a >= 0 {
		replicas /= int(l.Grid[a])
	}
	access.Each(l.Shape, func(idx []int64) {
		owners := 0
		for rank := range l.Ranks() {
			if l.Owns(rank, idx) {
				owners++
				if o := l.Owner(rank, idx); o != rank {
					t.Errorf("rank %d owns %v, but Owner is %d", rank, idx, o)
				}
			}
			if !l.Owns(l.Owner(rank, idx), idx) {
				t.Errorf("Owner(%d, %v) does not own it", rank, idx)
			}
		}
		if owners != replicas {
			t.Errorf("%v has %d owners, want %d", idx, owners, replicas)
		}
	})
}

func TestBlockRange(t *testing.T) {
	for _, parts := range []int64{1, 2, 3, 7} {
		for extent := range int64(30) {
			end := int64(0)
			for k := range parts {
				lo, hi := BlockRange(extent, parts, k)
				if size := hi - lo; lo != end || size < extent/parts || size > (extent+parts-1)/parts {
					t.Errorf("share %d of %d in %d is %d..%d after %d", k, extent, parts, lo, hi, end)
				}
				end = hi
			}
			if end != extent {
				t.Errorf("the shares of %d in %d end at %d", extent, parts, end)
			}
		}
	}
}

// A halo reaches exactly the elements at most that far from an owned one.
func TestReaches(t *testing.T) {
	for _, m := range []Map{{Axis: 0, HaloLow: 1, HaloTop: 2}, {Axis: 0, HaloLow: 5}, {Axis: 0, Cyclic: true, Block: 2, HaloTop: 1}} {
		for _, parts := range []int64{1, 2, 3, 7} {
			l := &Layout{Shape: []int64{11}, Grid: []int64{parts}, Dims: []Map{m}}
			for rank := range l.Ranks() {
				for i := range int64(11) {
					want := false
					for j := range int64(11) {
						want = want || l.Owns(rank, []int64{j}) && j-m.HaloLow <= i && i <= j+m.HaloTop
					}
					if got := l.Reaches(rank, []int64{i}); got != want {
						t.Errorf("%v on %d ranks: rank %d reaches %d: %v, want %v", m, parts, rank, i, got, want)
					}
				}
			}
		}
	}
}
