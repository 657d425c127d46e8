package ir

import (
	"fmt"
	"strconv"
	"strings"
)

func (w *printer) item(it Item) {
	switch it := it.(type) {
	case *Func:
		w.function(it)
	case *Monoid:
		w.monoid(it)
	case *Encoding:
		w.encoding(it)
	case *Kernel:
		w.kernel(it)
	case *Grid:
		w.line("grid @" + it.Name + "(" + strings.Join(it.Axes, ", ") + ")")
	case *Extern:
		w.line("extern @" + it.Name + " " + it.What)
	case *Data:
		w.data(it)
	}
}

func (w *printer) function(f *Func) {
	word := "func"
	if f.IsProc {
		word = "proc"
	}
	w.inScope(func() {
		w.signature(fmt.Sprintf("%s %s @%s%s", word, f.Level, f.Name, dimsText(f.Dims, f.ExDims)), f.Params, f.IsProc)
		if !f.IsProc {
			w.piece("-> (" + w.results(f.Results) + ")")
		}
		if len(f.Where) > 0 {
			w.piece(w.where(f.Where))
		}
		if len(f.Directives) > 0 {
			w.piece("directives" + directivesText(f.Directives))
		}
		w.loc(f.Loc)
		w.region(f.Body)
	})
	w.flush()
}

func dimsText(dims, ex []string) string {
	switch {
	case len(ex) > 0:
		return "<" + strings.Join(dims, ", ") + "; " + strings.Join(ex, ", ") + ">"
	case len(dims) > 0:
		return "<" + strings.Join(dims, ", ") + ">"
	}
	return ""
}

// signature starts the line with head(params); long lists get a line a
// parameter.
func (w *printer) signature(head string, ps []*Param, moded bool) {
	texts := make([]string, len(ps))
	for i, q := range ps {
		texts[i] = w.param(q, moded)
	}
	one := head + "(" + strings.Join(texts, ", ") + ")"
	if 2*w.indent+len(one)+len(" {") <= lineWidth {
		w.piece(one)
		return
	}
	w.line(head + "(")
	w.indent += 2
	for _, t := range texts[:len(texts)-1] {
		w.line(t + ",")
	}
	w.indent -= 2
	w.piece("    " + texts[len(texts)-1] + ")")
}

func (w *printer) param(q *Param, moded bool) string {
	s := ""
	if moded {
		s = string(q.Mode) + " "
	}
	if q.Const {
		s += "const "
	}
	return s + w.bind(q.Value) + ": " + w.typ(q.Value.Type)
}

// results writes `%y: T` where the source names a result, else the bare types.
func (w *printer) results(rs []Result) string {
	var parts []string
	var bare []Type
	flush := func() {
		if len(bare) > 0 {
			parts = append(parts, w.types(bare))
		}
		bare = nil
	}
	for _, r := range rs {
		if r.Name == "" {
			bare = append(bare, r.Type)
			continue
		}
		flush()
		parts = append(parts, "%"+r.Name+": "+w.typ(r.Type))
	}
	flush()
	return strings.Join(parts, ", ")
}

func (w *printer) monoid(m *Monoid) {
	w.inScope(func() {
		ps := joined(m.Params, func(v *Value) string { return w.bind(v) + ": " + w.typ(v.Type) })
		w.piece("monoid @" + m.Name + "(" + ps + ")")
		if m.Assoc {
			w.piece("assoc")
		}
		if m.Comm {
			w.piece("comm")
		}
		w.loc(m.Loc)
		w.more(" {")
		w.flush()
		w.indent++
		if m.Base != nil {
			w.line("base " + w.monoidUse(m.Base) + " over " + w.monoidUse(m.Over))
		}
	})
	if m.Base != nil {
		w.valueRegion("act", m.ActParams, m.Act)
	} else {
		w.valueRegion("identity", nil, m.Identity)
		w.valueRegion("combine", m.CombineParams, m.Combine)
	}
	w.indent--
	w.line("}")
}

// monoidUse writes `@mean(%n, %u)`, and a built-in without its types: those of
// the components say them.
func (w *printer) monoidUse(u *MonoidUse) string {
	name := "@" + u.Monoid.Name
	if u.Monoid.Builtin {
		name = u.Monoid.Name
	}
	return name + "(" + joined(u.Params, w.use) + ")"
}

func (w *printer) valueRegion(word string, params []*Value, r *Region) {
	w.piece(word)
	w.inScope(func() {
		if params != nil {
			w.more("(" + joined(params, w.bind) + ")")
		}
		w.region(r)
	})
	w.flush()
}

func (w *printer) encoding(e *Encoding) {
	w.inScope(func() {
		w.piece("encoding @" + e.Name + dimsText(e.Dims, nil) + " of " + e.Elem.String())
		if len(e.Where) > 0 {
			w.piece(w.where(e.Where))
		}
		w.loc(e.Loc)
		w.more(" {")
		w.flush()
		w.indent++
		for _, q := range e.Parts {
			w.line("part " + w.param(q, false))
		}
		w.piece("decode(" + strings.Join(e.Subs, ", ") + ")")
		w.region(e.Decode)
		w.flush()
		w.indent--
	})
	w.line("}")
}

func (w *printer) kernel(k *Kernel) {
	w.inScope(func() {
		w.piece("kernel @" + k.Name + dimsText(k.Dims, nil))
		w.piece("tile(" + joined(k.Tile, func(n int64) string { return strconv.FormatInt(n, 10) }) + ")")
		w.piece("needs(" + joined(k.Needs, Quote) + ")")
		w.piece("cost @" + k.Cost + " body @" + k.Body)
		w.piece("(" + joined(k.Params, func(q *Param) string { return w.param(q, true) }) + ")")
		w.loc(k.Loc)
		w.region(k.Meaning)
	})
	w.flush()
}

func (w *printer) data(d *Data) {
	s := "data @" + d.Name + " : " + d.Type.String() + " = "
	if d.List == nil {
		w.line(s + "file " + Quote(d.File) + " key " + Quote(d.Key))
		return
	}
	w.line(s + "[" + joined(d.List, Literal.String) + "]")
}
