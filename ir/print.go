package ir

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"tenon/ir/sym"
)

// PrintOption changes what Print writes.
type PrintOption func(*printer)

// WithLocations makes Print write where ops and items come from, as .tnir files
// do; golden tests leave it out.
func WithLocations() PrintOption { return func(w *printer) { w.locs = true } }

// Print writes m in the canonical text form: Parse gives a module Equal to m.
// Value names are kept; one that is taken where it stands gets a number.
func Print(m *Module, opts ...PrintOption) string {
	w := newPrinter(opts)
	w.line(fmt.Sprintf("tenon ir %d", Version))
	for _, it := range m.Items {
		w.item(it)
	}
	return w.b.String()
}

// PrintFunc writes one func or proc without the module's first line.
func PrintFunc(f *Func, opts ...PrintOption) string {
	w := newPrinter(opts)
	w.function(f)
	return w.b.String()
}

// PrintOp writes one op with its regions, for messages and dumps.
func PrintOp(op *Op, opts ...PrintOption) string {
	w := newPrinter(opts)
	w.op(op)
	return strings.TrimSuffix(w.b.String(), "\n")
}

const lineWidth = 120

// printer writes lines. The line in hand is a list of pieces: they stand on one
// line if they fit, else those after the first get lines of their own.
type printer struct {
	b      strings.Builder
	locs   bool
	indent int
	pieces []string
	tight  bool // operands follow without a space

	names   map[*Value]string // where the printed name is not the value's own
	visible map[string]*Value // printed name to value, while it is in scope
	trail   []string          // names in the order they came into scope
}

func newPrinter(opts []PrintOption) *printer {
	w := &printer{names: map[*Value]string{}, visible: map[string]*Value{}}
	for _, o := range opts {
		o(w)
	}
	return w
}

// line writes one line at the current indentation.
func (w *printer) line(s string) {
	w.b.WriteString(strings.Repeat("  ", w.indent) + s + "\n")
}

// piece adds a part of the line in hand that may start a new line; more adds to
// the part written last.
func (w *printer) piece(s string) { w.pieces = append(w.pieces, s) }
func (w *printer) more(s string)  { w.pieces[len(w.pieces)-1] += s }

// flush writes the line in hand.
func (w *printer) flush() {
	one := strings.Join(w.pieces, " ")
	if 2*w.indent+len(one) <= lineWidth || len(w.pieces) == 1 {
		w.line(one)
	} else {
		w.line(w.pieces[0])
		w.indent += 2
		for _, s := range w.pieces[1:] {
			w.line(s)
		}
		w.indent -= 2
	}
	w.pieces = w.pieces[:0]
}

// region writes " {", the ops and leaves "}" as the start of the next line.
func (w *printer) region(r *Region) {
	w.more(" {")
	w.flush()
	w.indent++
	w.inScope(func() {
		for _, op := range r.Ops {
			w.op(op)
		}
	})
	w.indent--
	w.piece("}")
}

// inScope forgets the names that f brings into scope.
func (w *printer) inScope(f func()) {
	n := len(w.trail)
	f()
	for _, name := range w.trail[n:] {
		delete(w.visible, name)
	}
	w.trail = w.trail[:n]
}

// bind brings v into scope and returns its printed name, sign included.
func (w *printer) bind(v *Value) string {
	base := plainName(v.Name)
	name := base
	for i := 2; w.visible[name] != nil; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	w.show(v, name)
	return "%" + name
}

// plainName is name with what no name may hold replaced by _.
func plainName(name string) string {
	if isName(name) {
		return name
	}
	plain := []byte(name)
	for i, c := range plain {
		if !isNameByte(c) {
			plain[i] = '_'
		}
	}
	return cmp.Or(string(plain), "v")
}

// show brings v into scope as name.
func (w *printer) show(v *Value, name string) {
	if name != v.Name {
		w.names[v] = name
	}
	w.visible[name] = v
	w.trail = append(w.trail, name)
}

// use is the printed name of v, sign included.
func (w *printer) use(v *Value) string {
	if name, ok := w.names[v]; ok {
		return "%" + name
	}
	return "%" + v.Name
}

func (w *printer) expr(e sym.Expr) string {
	if len(w.names) > 0 {
		e = w.rename(e)
	}
	return e.String()
}

func (w *printer) rename(e sym.Expr) sym.Expr {
	return e.SubstRef(func(r sym.Ref) (sym.Expr, bool) {
		v, _ := r.(*Value)
		name, ok := w.names[v]
		return sym.Val(&Value{Name: name}), ok
	})
}

func (w *printer) exprs(es []sym.Expr) string {
	return joined(es, w.expr)
}

func (w *printer) cond(c sym.Cond) string {
	return w.expr(c.L) + " " + string(c.Rel) + " " + w.expr(c.R)
}

func (w *printer) typ(t Type) string {
	if len(w.names) > 0 {
		t = MapType(t, w.rename)
	}
	return t.String()
}

// types writes a list; equal neighbours as `n * T`.
func (w *printer) types(ts []Type) string {
	var parts []string
	for i := 0; i < len(ts); {
		s, n := w.typ(ts[i]), 1
		for i+n < len(ts) && w.typ(ts[i+n]) == s {
			n++
		}
		if n > 1 {
			s = fmt.Sprintf("%d * %s", n, s)
		}
		parts = append(parts, s)
		i += n
	}
	return strings.Join(parts, ", ")
}

// op writes one op, its regions included.
func (w *printer) op(op *Op) {
	head, names := w.resultNames(op)
	w.piece(head + op.Def.Name)
	w.tight = true
	w.inScope(func() {
		for i, c := range op.Clauses {
			if c != nil {
				w.clause(op.Def.Clauses[i], c)
			}
		}
	})
	if len(op.Results) > 0 && !op.Def.TypesInferred {
		w.piece(": " + w.types(TypesOf(op.Results)))
	}
	w.loc(op.Loc)
	w.flush()
	for i, v := range op.Results {
		w.show(v, names[i])
	}
}

// resultNames chooses names for the results, which are in scope only behind op.
func (w *printer) resultNames(op *Op) (head string, names []string) {
	if len(op.Results) == 0 {
		return "", nil
	}
	w.inScope(func() {
		for _, v := range op.Results {
			names = append(names, w.bind(v)[1:])
		}
	})
	return "%" + strings.Join(names, ", %") + " = ", names
}

// clause adds a clause as a piece of its own or, when no word introduces it, to
// the piece before: a line must not start with it. The main operands stand tight
// behind the op's name or a bare @name.
func (w *printer) clause(s ClauseSpec, c Clause) {
	word := s.word()
	block, isBlock := c.(*Block)
	bare := word == "" && s.Kind == KindAttr
	switch {
	case word != "":
		w.piece(word)
		if s.Kind == KindRange || s.Kind == KindLiteral {
			w.more(" ")
		}
	case isBlock && len(block.Params) == 0, s.Kind == KindOperands && w.tight:
	default:
		w.more(" ")
	}
	w.tight = bare
	clauseKinds[s.Kind].write(w, c)
	w.tight = bare
}

// loc adds `at ..` where locations are wanted and known.
func (w *printer) loc(l Loc) {
	if w.locs && l.IsKnown() {
		w.piece("at " + l.String())
	}
}

// joined writes a list with commas.
func joined[T any](list []T, text func(T) string) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = text(x)
	}
	return strings.Join(parts, ", ")
}
