package llvm

import (
	"path/filepath"
	"reflect"
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	lltypes "github.com/llir/llvm/ir/types"

	"tenon/internal/diag"
)

// debug is a module's line information. Only lines are kept, so that perf and
// gdb show sources; variables are not.
type debug struct {
	unit  *metadata.DICompileUnit
	files map[string]*metadata.DIFile // looked up by name only
}

// Source says that what is emitted from now on comes from pos. The first call
// in a function gives the place of the function itself.
func (f *Func) Source(pos diag.Pos) {
	if !pos.IsValid() || pos == f.pos {
		return
	}
	if f.place == nil {
		f.place = f.m.subprogram(f, pos)
		f.locations = map[diag.Pos]*metadata.DILocation{}
		f.stamped = map[*ir.Block]int{}
	} else {
		f.stamp()
	}
	f.pos = pos
}

// stamp attaches the current place to all that has none yet. LLVM insists on a
// place for every call that it might inline. Blocks that have ended get no more
// instructions and are not looked at again, else a long function would take
// time quadratic in its length.
func (f *Func) stamp() {
	if f.place == nil {
		return
	}
	at := []*metadata.Attachment{{Name: "dbg", Node: f.location()}}
	f.open = append(f.open, f.f.Blocks[f.seen:]...)
	f.seen = len(f.f.Blocks)
	growing := f.open[:0]
	for _, b := range f.open {
		for _, inst := range b.Insts[f.stamped[b]:] {
			attach(inst, at)
		}
		f.stamped[b] = len(b.Insts)
		if b.Term == nil || b == f.entry {
			growing = append(growing, b)
		}
	}
	f.open = growing
}

// attach adds to the metadata of an instruction. llir has a field for it in every
// instruction but no interface that sets it.
func attach(inst any, at []*metadata.Attachment) {
	field := reflect.ValueOf(inst).Elem().FieldByName("Metadata")
	if !field.IsValid() {
		diag.Bugf("%T takes no metadata", inst)
	}
	if old := field.Interface().(ir.Metadata); len(old) > 0 {
		at = append(slices.Clone(old), at...)
	}
	field.Set(reflect.ValueOf(ir.Metadata(at)))
}

func (f *Func) location() *metadata.DILocation {
	if l := f.locations[f.pos]; l != nil {
		return l
	}
	l := &metadata.DILocation{MetadataID: -1, Line: int64(f.pos.Line), Column: int64(f.pos.Col), Scope: f.place}
	f.m.define(l)
	f.locations[f.pos] = l
	return l
}

// subprogram describes f, which begins at pos.
func (m *Module) subprogram(f *Func, pos diag.Pos) *metadata.DISubprogram {
	file := m.file(pos.File)
	list := &metadata.Tuple{MetadataID: -1, Fields: []metadata.Field{metadata.Null}}
	m.define(list)
	typ := &metadata.DISubroutineType{MetadataID: -1, Types: list}
	m.define(typ)
	p := &metadata.DISubprogram{
		MetadataID: -1, Distinct: true, Scope: file, Name: f.Name(), File: file, Line: int64(pos.Line), ScopeLine: int64(pos.Line),
		Type: typ, SPFlags: enum.DISPFlagDefinition | enum.DISPFlagOptimized, Unit: m.debug.unit,
	}
	m.define(p)
	f.f.Metadata = append(f.f.Metadata, &metadata.Attachment{Name: "dbg", Node: p})
	return p
}

// file describes a source file by its name alone: a folder would make the same
// source give different objects in different places.
func (m *Module) file(path string) *metadata.DIFile {
	name := filepath.Base(path)
	if m.debug != nil && m.debug.files[name] != nil {
		return m.debug.files[name]
	}
	file := &metadata.DIFile{MetadataID: -1, Filename: name, Directory: "."}
	m.define(file)
	if m.debug == nil {
		m.startDebug(file)
	}
	m.debug.files[name] = file
	return file
}

func (m *Module) startDebug(file *metadata.DIFile) {
	unit := &metadata.DICompileUnit{
		MetadataID: -1, Distinct: true, Language: enum.DwarfLangC99, File: file, Producer: "tenon", IsOptimized: true,
		EmissionKind: enum.EmissionKindLineTablesOnly,
	}
	m.define(unit)
	m.debug = &debug{unit: unit, files: map[string]*metadata.DIFile{}}
	m.m.NamedMetadataDefs["llvm.dbg.cu"] = &metadata.NamedDef{Name: "llvm.dbg.cu", Nodes: []metadata.Node{unit}}
	flags := &metadata.NamedDef{Name: "llvm.module.flags"}
	for _, f := range []struct {
		name  string
		value int64
	}{{"Debug Info Version", 3}, {"Dwarf Version", 4}} {
		t := &metadata.Tuple{MetadataID: -1, Fields: []metadata.Field{
			constant.NewInt(lltypes.I32, 2), &metadata.String{Value: f.name}, constant.NewInt(lltypes.I32, f.value),
		}}
		m.define(t)
		flags.Nodes = append(flags.Nodes, t)
	}
	m.m.NamedMetadataDefs["llvm.module.flags"] = flags
}

func (m *Module) define(d metadata.Definition) { m.m.MetadataDefs = append(m.m.MetadataDefs, d) }
