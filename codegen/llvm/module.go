package llvm

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	lltypes "github.com/llir/llvm/ir/types"

	"tenon/internal/diag"
	"tenon/targets"
)

// Module is one LLVM module for one machine.
type Module struct {
	m        *ir.Module
	desc     *targets.Desc
	attrs    *ir.AttrGroupDef
	declared map[string]*ir.Func // looked up by name only, never ranged over
	defined  map[string]*Func
	funcs    []*Func
	debug    *debug          // nil while no source is known
	mark     *metadata.Tuple // see one
}

// NewModule starts a module. The name is kept in objects as that of the source
// file, so it must not hold a path of this machine.
func NewModule(name string, desc *targets.Desc) *Module {
	m := ir.NewModule()
	m.SourceFilename, m.TargetTriple = name, desc.Triple
	mod := &Module{m: m, desc: desc, declared: map[string]*ir.Func{}, defined: map[string]*Func{}}
	mod.attrs = &ir.AttrGroupDef{ID: 0, FuncAttrs: cpuAttrs(desc)}
	m.AttrGroupDefs = []*ir.AttrGroupDef{mod.attrs}
	return mod
}

// cpuAttrs tell LLVM about the machine. "min-legal-vector-width" stays out: 0
// would split every 64-byte vector in two.
func cpuAttrs(d *targets.Desc) []ir.FuncAttribute {
	attrs := []ir.FuncAttribute{enum.FuncAttrNoUnwind, ir.AttrPair{Key: "target-cpu", Value: d.CPU}}
	if len(d.Features) > 0 {
		attrs = append(attrs, ir.AttrPair{Key: "target-features", Value: d.FeatureString()})
	}
	if d.Tune != "" {
		attrs = append(attrs, ir.AttrPair{Key: "tune-cpu", Value: d.Tune})
	}
	if d.VectorBytes == 64 { // generic cores prefer half of it
		attrs = append(attrs, ir.AttrPair{Key: "prefer-vector-width", Value: "512"})
	}
	return attrs
}

// Desc is the machine that the module is for.
func (m *Module) Desc() *targets.Desc { return m.desc }

// Text is the module as LLVM reads it; equal modules give equal text.
func (m *Module) Text() []byte {
	for _, f := range m.funcs {
		f.open, f.seen = nil, 0 // look at every block once more
		f.stamp()
	}
	return []byte(m.m.String())
}

// Data is the address of constant bytes, aligned to a cache line.
func (m *Module) Data(name string, bytes []byte) Value {
	g := m.m.NewGlobalDef(name, constant.NewCharArray(bytes))
	g.Linkage, g.Immutable, g.Align = enum.LinkageInternal, true, 64
	return Value{constant.NewBitCast(g, lltypes.I8Ptr), Ptr}
}

// Export puts constant bytes under a name that other objects see.
func (m *Module) Export(name string, bytes []byte) {
	m.m.NewGlobalDef(name, constant.NewCharArray(bytes)).Immutable = true
}

// Words is the address of n words of 8 bytes, 0 at first, under a name that other
// objects see.
func (m *Module) Words(name string, n int64) Value {
	g := m.m.NewGlobalDef(name, constant.NewZeroInitializer(lltypes.NewArray(uint64(n), lltypes.I64)))
	g.Align = 64
	return Value{constant.NewBitCast(g, lltypes.I8Ptr), Ptr}
}

// Param is a parameter of a function under construction.
type Param struct {
	Name    string
	Type    Type
	NoAlias bool // nothing else points where this pointer points
	Const   bool // nothing is written through this pointer
}

// NewFunc starts a function that other objects can call. Its result is Void or
// a scalar.
func (m *Module) NewFunc(name string, result Type, params ...Param) *Func {
	return m.newFunc(name, enum.LinkageNone, result, params)
}

// NewInternal starts a function of this module alone.
func (m *Module) NewInternal(name string, result Type, params ...Param) *Func {
	return m.newFunc(name, enum.LinkageInternal, result, params)
}

func (m *Module) newFunc(name string, linkage enum.Linkage, result Type, params []Param) *Func {
	if m.defined[name] != nil || m.declared[name] != nil {
		diag.Bugf("function %s is defined twice", name)
	}
	f := &Func{m: m, result: result}
	var lls []*ir.Param
	for _, p := range params {
		q := ir.NewParam(p.Name, p.Type.register())
		q.Attrs = append(q.Attrs, paramAttrs(p)...)
		lls = append(lls, q)
		f.params = append(f.params, Value{q, p.Type})
	}
	f.f = m.m.NewFunc(name, result.register(), lls...)
	f.f.Linkage = linkage
	f.f.FuncAttrs = append(f.f.FuncAttrs, m.attrs)
	f.entry = f.f.NewBlock("entry")
	f.cur = f.f.NewBlock("body")
	f.entry.NewBr(f.cur)
	m.defined[name] = f
	m.funcs = append(m.funcs, f)
	return f
}

func paramAttrs(p Param) []ir.ParamAttribute {
	var attrs []ir.ParamAttribute
	if p.NoAlias {
		attrs = append(attrs, enum.ParamAttrNoAlias)
	}
	if p.Const {
		attrs = append(attrs, enum.ParamAttrReadOnly)
	}
	return attrs
}

// declare returns a function of another object. A pure one neither reads nor
// writes memory (errno is nobody's business here), so calls may be hoisted.
func (m *Module) declare(name string, result lltypes.Type, pure bool, params ...lltypes.Type) *ir.Func {
	if f := m.declared[name]; f != nil {
		return f
	}
	var lls []*ir.Param
	for _, t := range params {
		lls = append(lls, ir.NewParam("", t))
	}
	f := m.m.NewFunc(name, result, lls...)
	f.FuncAttrs = append(f.FuncAttrs, enum.FuncAttrNoUnwind)
	if pure {
		f.FuncAttrs = append(f.FuncAttrs, enum.FuncAttrReadNone, enum.FuncAttrWillReturn)
	}
	m.declared[name] = f
	return f
}

// one is the node that marks what LLVM's metadata mark by a 1.
func (m *Module) one() *metadata.Tuple {
	if m.mark == nil {
		m.mark = &metadata.Tuple{MetadataID: -1, Fields: []metadata.Field{constant.NewInt(lltypes.I32, 1)}}
		m.define(m.mark)
	}
	return m.mark
}
