package llvm

import (
	"sort"
	"strings"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// Names that LLVM gives to what NVIDIA GPUs have, from its user guide for the
// NVPTX back-end.
const (
	threadID    = "llvm.nvvm.read.ptx.sreg.tid.x"
	blockID     = "llvm.nvvm.read.ptx.sreg.ctaid.x"
	barrier     = "llvm.nvvm.barrier0"
	annotations = "nvvm.annotations"
	sharedSpace = lltypes.AddrSpace(3)
)

// NewKernel starts a function that a GPU is asked to run, with a fixed number of
// threads in a block. It returns nothing.
func (m *Module) NewKernel(name string, threads int64, params ...Param) *Func {
	f := m.newFunc(name, enum.LinkageNone, Void, params)
	f.f.CallingConv = enum.CallingConvPTXKernel
	for _, size := range []struct {
		key string
		n   int64
	}{{"reqntidx", threads}, {"reqntidy", 1}, {"reqntidz", 1}} {
		m.annotate(f, size.key, size.n)
	}
	return f
}

// annotate says something of a kernel that no attribute does.
func (m *Module) annotate(f *Func, key string, n int64) {
	list := m.m.NamedMetadataDefs[annotations]
	if list == nil {
		list = &metadata.NamedDef{Name: annotations}
		m.m.NamedMetadataDefs[annotations] = list
	}
	note := &metadata.Tuple{MetadataID: -1, Fields: []metadata.Field{
		f.f, &metadata.String{Value: key}, constant.NewInt(lltypes.I32, n)}}
	m.define(note)
	list.Nodes = append(list.Nodes, note)
}

// Shared is memory of n elements that the threads of a block share, undefined
// when they start.
func (m *Module) Shared(name string, e num.Elem, n int64) Value {
	t := lltypes.NewArray(uint64(n), TypeOf(e).memory())
	g := ir.NewGlobal(name, t)
	g.Init, g.Linkage, g.AddrSpace, g.Align = constant.NewUndef(t), enum.LinkageInternal, sharedSpace, 16
	g.Typ = &lltypes.PointerType{ElemType: t, AddrSpace: sharedSpace}
	m.m.Globals = append(m.m.Globals, g)
	return Value{constant.NewAddrSpaceCast(g, lltypes.I8Ptr), Ptr}
}

// Thread is the number of the thread in its block, of which there are as many
// as the kernel says; Block is the number of the block.
func (f *Func) Thread() Value { return f.register32(threadID) }

// Block is the number of the block in its grid.
func (f *Func) Block() Value { return f.register32(blockID) }

func (f *Func) register32(name string) Value {
	id := f.cur.NewCall(f.m.declare(name, lltypes.I32, true))
	return Value{f.cur.NewZExt(id, lltypes.I64), TypeOf(num.Index)}
}

// Barrier waits for all threads of the block.
func (f *Func) Barrier() {
	callee := f.m.declare(barrier, lltypes.Void, false)
	if len(callee.FuncAttrs) == 1 {
		callee.FuncAttrs = append(callee.FuncAttrs, enum.FuncAttrConvergent)
	}
	f.cur.NewCall(callee, []value.Value{}...)
}

// Externals are the functions of other objects that the module calls, sorted;
// LLVM's own are not among them.
func (m *Module) Externals() []string {
	var names []string
	for name := range m.declared {
		if !strings.HasPrefix(name, "llvm.") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
