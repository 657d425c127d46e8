package pass

import (
	"strconv"
	"strings"

	"tenon/ir"
)

// UniqueNames renames values so that none hides another that is visible where
// it is bound. Passes may then reuse any name while they build; the manager
// calls this after each pass, so that printing and parsing between two passes
// changes nothing. Whoever comes first in the text keeps its name.
func UniqueNames(m *ir.Module) { uniqueNames(m, nil) }

func uniqueNames(m *ir.Module, done map[*ir.Func]bool) {
	for _, f := range m.Funcs() {
		if done[f] {
			continue
		}
		n := &namer{visible: map[string]bool{}, next: map[string]int{}}
		for _, p := range f.Params {
			n.bind(p.Value)
		}
		n.region(f.Body)
	}
}

// namer knows the names in scope. next is where the search for a free suffix
// starts: all from 2 up to it are taken. It only saves time, and much of it:
// thousands of values may share a stem.
type namer struct {
	visible map[string]bool
	next    map[string]int
	trail   []string
}

func (n *namer) bind(v *ir.Value) {
	if n.visible[v.Name] || v.Name == "" {
		v.Name = n.free(stem(v.Name))
	}
	n.visible[v.Name] = true
	n.trail = append(n.trail, v.Name)
}

func (n *namer) free(base string) string {
	if base == "" {
		base = "v"
	}
	for i := max(n.next[base], 2); ; i++ {
		name := base + "_" + strconv.Itoa(i)
		if !n.visible[name] {
			n.next[base] = i + 1
			return name
		}
	}
}

// stem is name without a numeric suffix.
func stem(name string) string {
	i := strings.LastIndexByte(name, '_')
	if i <= 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name
	}
	return name[:i]
}

func (n *namer) scoped(f func()) {
	mark := len(n.trail)
	f()
	for _, name := range n.trail[mark:] {
		delete(n.visible, name)
		base := stem(name)
		if i, err := strconv.Atoi(name[min(len(base)+1, len(name)):]); err == nil && i < n.next[base] {
			n.next[base] = i
		}
	}
	n.trail = n.trail[:mark]
}

func (n *namer) region(r *ir.Region) {
	n.scoped(func() {
		for _, op := range r.Ops {
			n.scoped(func() { n.clauses(op) })
			for _, v := range op.Results {
				n.bind(v)
			}
		}
	})
}

func (n *namer) clauses(op *ir.Op) {
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *ir.Reads:
			for _, r := range c.List {
				n.bind(r.Res)
			}
		case *ir.Carry:
			for _, v := range c.Params {
				n.bind(v)
			}
		case *ir.Block:
			n.block(c)
		case *ir.Variants:
			for _, v := range c.List {
				n.region(v.Region)
			}
			n.region(c.Pick)
		}
	}
}

func (n *namer) block(b *ir.Block) {
	n.scoped(func() {
		for _, p := range b.Params {
			if p.Val != nil {
				n.bind(p.Val)
			}
		}
		n.region(b.Region)
	})
}
