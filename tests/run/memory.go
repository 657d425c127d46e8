package run

import (
	"fmt"
	"syscall"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/runtime"
)

// Layout numbers ways to lie in memory: even ones end at a guard page, odd ones
// begin at one; from 2 on, strides alternate between C order (0, 1), gaps and
// reversed dims.
type Layout int

// Layouts is how many differ.
const Layouts = 6

// Beside ways of one tensor there are those of a whole call: a Layout from 0 on is
// that of the first tensor, and each next one lies the next way. AllBefore and
// AllBehind have every tensor in C order, so that compiled code works on the
// caller's memory alone, and end at a guard page or begin at one.
const (
	AllBefore Layout = -1 - iota
	AllBehind
)

// of is the way in which the i-th argument lies.
func (l Layout) of(i int) Layout {
	if l < 0 {
		return -1 - l
	}
	return (l + Layout(i)) % Layouts
}

// place is a tensor between guard pages.
type place struct {
	tensor  *runtime.Tensor
	mapping []byte
	pages   []byte  // what of the mapping can be read
	room    []byte  // what the tensor may use of it, gaps included
	first   int64   // element of room that subscript 0 means
	strides []int64 // in elements
	atEnd   bool    // the room ends at a guard page; else it begins at one
}

// gap fills what no element covers.
const gap = 0xa5

// put reserves room for a tensor. The page before and the page after what it
// covers cannot be read.
func put(e num.Elem, shape []int64, layout Layout) (*place, error) {
	layout %= Layouts
	p := &place{strides: ir.CStrides(shape)}
	span := int64(1) // elements from the first to the last
	if layout >= 2 {
		span = p.spread(shape, layout >= 4)
	} else if n, _ := ir.SizeOf(shape); n > 0 {
		span = n
	}
	if n, _ := ir.SizeOf(shape); n == 0 {
		span, p.first = 0, 0
	}
	if err := p.guarded(span*int64(e.Bytes()), layout%2 == 0); err != nil {
		return nil, err
	}
	at := p.first * int64(e.Bytes())
	p.tensor = &runtime.Tensor{Elem: e, Shape: shape, Data: p.room[min(at, int64(len(p.room))):]}
	if layout >= 2 {
		p.tensor.Strides = p.strides
	}
	return p, nil
}

// spread gives strides with the first dim innermost and a gap after each
// element, the dims at odd places reversed if asked for. It returns the span.
func (p *place) spread(shape []int64, reverse bool) int64 {
	step, last := int64(2), int64(0)
	for d, n := range shape {
		p.strides[d] = step
		reach := step * max(n-1, 0)
		if reverse && d%2 == 0 {
			p.strides[d] = -step
			p.first += reach
		}
		last += reach
		step *= max(n, 1)
	}
	return last + 1
}

// guarded maps n bytes at the end of their pages, or at the beginning.
func (p *place) guarded(n int64, atEnd bool) error {
	page := int64(syscall.Getpagesize())
	size := (n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, int(size+2*page), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("no memory between guard pages: %w", err)
	}
	p.mapping, p.atEnd = m, atEnd
	for _, guard := range [][]byte{m[:page], m[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			return err
		}
	}
	p.pages = m[page : page+size]
	for i := range p.pages {
		p.pages[i] = gap
	}
	start := page
	if atEnd {
		start = page + size - n
	}
	p.room = m[start : start+n : start+n]
	return nil
}

func (p *place) free() { syscall.Munmap(p.mapping) }

// each calls f with the row-major number and the place of every element.
func (p *place) each(f func(i int, at []byte)) {
	n, _ := ir.SizeOf(p.tensor.Shape)
	size := int64(p.tensor.Elem.Bytes())
	index := make([]int64, len(p.tensor.Shape))
	for i := range int(n) {
		pos := p.first
		for d, k := range index {
			pos += k * p.strides[d]
		}
		f(i, p.room[pos*size:(pos+1)*size])
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < p.tensor.Shape[d] {
				break
			}
			index[d] = 0
		}
	}
}

func (p *place) write(a *ir.Array) {
	p.each(func(i int, at []byte) { num.Encode(a.Elem, a.Mem.Cells[i], at) })
}

func (p *place) read() *ir.Array {
	a := ir.NewArray(p.tensor.Elem, p.tensor.Shape...)
	p.each(func(i int, at []byte) { a.Mem.Cells[i] = num.Decode(a.Elem, at) })
	return a
}

// intact reports a write into a gap, or beside the tensor on its pages.
func (p *place) intact() error {
	before := 0
	if p.atEnd {
		before = len(p.pages) - len(p.room)
	}
	used := make([]bool, len(p.pages))
	p.each(func(_ int, at []byte) {
		start := before + cap(p.room) - cap(at)
		for i := range at {
			used[start+i] = true
		}
	})
	for i, b := range p.pages {
		if !used[i] && b != gap {
			return fmt.Errorf("byte %d of the memory of a tensor is no element of it and was written", i-before)
		}
	}
	return nil
}
