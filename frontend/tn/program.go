package tn

import (
	"os"
	"path/filepath"
	"sort"

	"tenon/frontend/tn/prelude"
	"tenon/frontend/tn/syntax"
	"tenon/internal/diag"
	"tenon/ir"
)

// Load reads, resolves and elaborates the file at path. The error is a
// diag.List for faults of the program.
func Load(path string) (*ir.Module, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.Errorf(diag.Pos{File: path}, "cannot be read: %v", err).WithFix("check the path and its permissions")
	}
	return Parse(path, string(data))
}

// Parse elaborates the text src of a file named filename; imports are read
// relative to it.
func Parse(filename, src string) (*ir.Module, error) {
	p := &program{
		decls: map[string]*decl{}, module: &ir.Module{},
		funcs: map[*decl]*ir.Func{}, monoids: map[string]*ir.Monoid{}, encodings: map[string]*ir.Encoding{},
		imported: map[string]bool{}, used: map[string]bool{},
		building: map[string]bool{}, cyclic: map[*decl]bool{}, faulty: map[*decl]bool{},
	}
	file, err := syntax.Parse(filename, src)
	if err != nil {
		return nil, err
	}
	p.loadPrelude()
	p.imported[canonical(filename)] = true
	own := p.declare(file, declOwn)
	for _, d := range own {
		p.elaborateItem(d)
	}
	if err := distinct(p.errs).Err(); err != nil {
		return nil, err
	}
	p.order(own)
	return p.module, nil
}

// distinct drops errors reported twice: an expanded function is elaborated once
// for each call.
func distinct(list diag.List) diag.List {
	var out diag.List
	seen := map[string]bool{}
	for _, e := range list {
		if key := e.Pos.String() + e.Msg; !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out
}

// declOrigin says where a declaration stands; it decides what may hide what.
type declOrigin int

const (
	declPrelude declOrigin = iota
	declImport
	declOwn
)

// decl is a top-level declaration.
type decl struct {
	name   string
	node   syntax.Decl
	item   *syntax.Item
	origin declOrigin
}

// program is the state of one elaboration.
type program struct {
	decls     map[string]*decl
	module    *ir.Module
	funcs     map[*decl]*ir.Func
	monoids   map[string]*ir.Monoid
	encodings map[string]*ir.Encoding
	used      map[string]bool // monoids that some comp reduces by
	building  map[string]bool // monoids being elaborated
	cyclic    map[*decl]bool  // functions of a cycle that is reported
	faulty    map[*decl]bool  // functions with a reported error, theirs or of one they call
	imported  map[string]bool
	stack     []*decl // functions being elaborated or expanded, outermost first
	errs      diag.List
}

// abort unwinds to the statement or item that an error spoils.
type abort struct{}

// fail records an error at n and unwinds.
func (p *program) fail(n syntax.Node, format string, args ...any) {
	p.failWith(n.Errorf(format, args...))
}

func (p *program) failWith(e *diag.Error) {
	p.errs = append(p.errs, e)
	panic(abort{})
}

// try runs f and reports whether it came through without an error.
func (p *program) try(f func()) (ok bool) {
	depth := len(p.stack)
	defer func() {
		if r := recover(); r != nil {
			if _, mine := r.(abort); !mine {
				panic(r)
			}
			p.stack = p.stack[:depth]
			ok = false
		}
	}()
	f()
	return true
}

func (p *program) loadPrelude() {
	for _, f := range prelude.Files() {
		file, err := syntax.Parse(f.Name, f.Src)
		if err != nil {
			diag.Bugf("the prelude does not parse: %v", err)
		}
		p.declare(file, declPrelude)
	}
}

// declare enters the declarations of a file and of what it imports, and returns
// the file's own.
func (p *program) declare(file *syntax.File, origin declOrigin) []*decl {
	var own []*decl
	for _, it := range file.Items {
		if imp, ok := it.Decl.(*syntax.Import); ok {
			p.try(func() { p.importFile(file, imp) })
			continue
		}
		d := &decl{name: declName(it.Decl).Name, node: it.Decl, item: it, origin: origin}
		p.try(func() { p.enter(d) })
		own = append(own, d)
	}
	return own
}

func declName(d syntax.Decl) *syntax.Ident {
	switch d := d.(type) {
	case *syntax.Fn:
		return d.Name
	case *syntax.Proc:
		return d.Name
	case *syntax.Monoid:
		return d.Name
	}
	return &syntax.Ident{}
}

// enter adds d. A file's own names hide those of imports, which hide the
// prelude's; two of one origin clash.
func (p *program) enter(d *decl) {
	id := declName(d.node)
	if why := reservedName(id.Name); why != "" && d.origin != declPrelude {
		p.failWith(id.Errorf("%s cannot be the name of a function: it %s", id.Name, why).WithFix("choose another name"))
	}
	old := p.decls[d.name]
	if old != nil && old.origin == d.origin {
		p.failWith(id.Errorf("%s is declared twice", d.name).WithNote(declName(old.node).At(), "the first declaration is here").
			WithFix("rename one of them"))
	}
	if old == nil || old.origin < d.origin {
		p.decls[d.name] = d
	}
}

func (p *program) importFile(from *syntax.File, imp *syntax.Import) {
	path := imp.File()
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from.Name), path)
	}
	if p.imported[canonical(path)] {
		return
	}
	p.imported[canonical(path)] = true
	data, err := os.ReadFile(path)
	if err != nil {
		p.failWith(imp.Errorf("cannot import %s: %v", imp.Path, err).WithFix("give a path relative to the importing file"))
	}
	file, err := syntax.Parse(path, string(data))
	if list, ok := err.(diag.List); ok {
		p.errs = append(p.errs, list...)
		panic(abort{})
	}
	p.declare(file, declImport)
}

func canonical(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// elaborateItem turns a declaration of the file into an item of the module.
// Generic functions and monoids are expanded where they are used; here they are
// only checked.
func (p *program) elaborateItem(d *decl) {
	p.try(func() {
		switch n := d.node.(type) {
		case *syntax.Fn:
			if len(n.TypeParams) == 0 && !hasPacks(n) {
				p.function(d, n.Name)
			} else {
				p.checkGeneric(d)
			}
		case *syntax.Monoid:
			p.checkMonoid(n)
		case *syntax.Proc:
			p.procedure(d, n.Name)
		}
	})
}

// order sorts the module: encodings and monoids by name, then functions as the
// file has them.
func (p *program) order(own []*decl) {
	var items []ir.Item
	for _, k := range sortedKeys(p.encodings) {
		items = append(items, p.encodings[k])
	}
	for _, k := range p.monoidOrder() {
		items = append(items, p.monoids[k])
	}
	for _, d := range own {
		if f := p.funcs[d]; f != nil {
			items = append(items, f)
		}
	}
	p.module.Items = items
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// reservedName says why a name cannot be exported, "" if it can: every fn and
// proc becomes a C symbol.
func reservedName(name string) string {
	if len(name) > 0 && name[0] == '_' {
		return "starts with an underscore, which C reserves"
	}
	if cNames[name] {
		return "is reserved in C, libc or libm"
	}
	if scalarFuncs[name] != "" || tensorFuncs[name] != nil || castElem(name) != 0 || builtinReductions[name] {
		return "is built into the language"
	}
	return ""
}
