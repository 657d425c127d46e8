package llvm

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
)

// partInsts is about how many instructions a part has: what LLVM takes half a
// second for, ten times as long as to start its tools.
const partInsts = 12000

// Parts is the module as the texts of several that can be compiled side by side
// and linked to the library that the whole module gives. What was internal is
// hidden instead: objects of a static library should be compiled whole. How a
// module is cut depends on the module alone.
func (m *Module) Parts() [][]byte {
	var total int
	sizes := make([]int, len(m.m.Funcs))
	for i, f := range m.m.Funcs {
		for _, b := range f.Blocks {
			sizes[i] += len(b.Insts) + 1
		}
		total += sizes[i]
	}
	n := total / partInsts
	if n < 2 {
		return [][]byte{m.Text()}
	}
	m.Text() // stamps what is to be printed
	defer m.hide()()
	texts := make([][]byte, n)
	done, from := 0, 0
	for p := range texts {
		to := from
		for ; to < len(sizes) && (done < total*(p+1)/n || p == n-1); to++ {
			done += sizes[to]
		}
		texts[p] = []byte(m.part(from, to, p == 0).String())
		from = to
	}
	return texts
}

// hide makes everything internal hidden; what it returns takes that back.
func (m *Module) hide() (show func()) {
	var back []func()
	hidden := func(l *enum.Linkage, v *enum.Visibility) {
		if *l != enum.LinkageInternal {
			return
		}
		*l, *v = enum.LinkageNone, enum.VisibilityHidden
		back = append(back, func() { *l, *v = enum.LinkageInternal, enum.VisibilityNone })
	}
	for _, f := range m.m.Funcs {
		hidden(&f.Linkage, &f.Visibility)
	}
	for _, g := range m.m.Globals {
		hidden(&g.Linkage, &g.Visibility)
	}
	return func() {
		for _, b := range back {
			b()
		}
	}
}

// part is a module that defines functions from..to, and the data if it is the
// first, and declares the others.
func (m *Module) part(from, to int, first bool) *ir.Module {
	p := ir.NewModule()
	p.SourceFilename, p.TargetTriple, p.DataLayout = m.m.SourceFilename, m.m.TargetTriple, m.m.DataLayout
	p.TypeDefs, p.AttrGroupDefs = m.m.TypeDefs, m.m.AttrGroupDefs
	p.NamedMetadataDefs, p.MetadataDefs = m.m.NamedMetadataDefs, m.m.MetadataDefs
	for i, f := range m.m.Funcs {
		if len(f.Blocks) > 0 && (i < from || i >= to) {
			f = &ir.Func{GlobalIdent: f.GlobalIdent, Sig: f.Sig, Params: f.Params, Typ: f.Typ, Visibility: f.Visibility,
				ReturnAttrs: f.ReturnAttrs, FuncAttrs: f.FuncAttrs}
		}
		p.Funcs = append(p.Funcs, f)
	}
	for _, g := range m.m.Globals {
		if !first && g.Init != nil {
			g = &ir.Global{GlobalIdent: g.GlobalIdent, ContentType: g.ContentType, Typ: g.Typ, Immutable: g.Immutable,
				Linkage: enum.LinkageExternal, Visibility: g.Visibility, Align: g.Align}
		}
		p.Globals = append(p.Globals, g)
	}
	return p
}
