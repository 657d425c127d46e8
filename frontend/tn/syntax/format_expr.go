package syntax

// Layouts of the parts of a statement: expressions, types, axes. A tree made by
// the parser has its parentheses as nodes, so none are added here.

func exprLayout(e Expr) *layout {
	switch e := e.(type) {
	case *Name:
		return text(e.Name)
	case *Lit:
		return text(e.Text)
	case *Unary:
		return cat(text(unaryText[e.Op]), exprLayout(e.X))
	case *Binary:
		return binaryLayout(e)
	case *Paren:
		return cat(text("("), nest(exprLayout(e.X)), text(")"))
	case *Tuple:
		return listLayout("(", exprList(e.List), ")")
	case *Index:
		return indexLayout(e)
	case *Call:
		return listLayout(e.Fn.Name+"(", argList(e.Args), ")")
	case *Reduce:
		return reduceLayout(e)
	}
	return text("")
}

var unaryText = map[string]string{"-": "-", "not": "not "}

// binaryLayout lays out a whole chain of operators of one level, so that it
// breaks behind all of them or none.
func binaryLayout(e *Binary) *layout {
	level := levelOf[e.Op]
	var chain []*Binary // outermost first
	for {
		chain = append(chain, e)
		x, ok := e.X.(*Binary)
		if !ok || levelOf[x.Op] != level {
			break
		}
		e = x
	}
	parts := []*layout{exprLayout(e.X)}
	for i := len(chain) - 1; i >= 0; i-- {
		parts = append(parts, text(" "+chain[i].Op), line(), exprLayout(chain[i].Y))
	}
	return group(nest(parts...))
}

// listLayout is a bracketed list that breaks one element a line.
func listLayout(open string, list []*layout, closing string) *layout {
	if len(list) == 0 {
		return text(open + closing)
	}
	return group(text(open), nest(soft(), join(list)), soft(), text(closing))
}

func indexLayout(e *Index) *layout {
	l := cat(exprLayout(e.X), text("["), joinTight(subList(e.Subs)), text("]"))
	if e.Policy != "" {
		l = cat(l, text(" "+e.Policy))
	}
	return l
}

// reduceLayout keeps the body on the line of the bracket: there a user's monoid
// is told from a subscript.
func reduceLayout(e *Reduce) *layout {
	head := []*layout{joinTight(axisList(e.Axes))}
	if len(e.Where) > 0 {
		if len(e.Axes) > 0 {
			head = append(head, line())
		}
		head = append(head, text("where "), join(exprList(e.Where)))
	}
	return cat(group(text(e.Op.Name+"["), nest(head...), text("] ")), nest(exprLayout(e.Body)))
}

func exprList(list []Expr) []*layout { return mapAll(list, exprLayout) }

func subList(list []*Sub) []*layout { return mapAll(list, subLayout) }

func axisList(list []*Axis) []*layout { return mapAll(list, axisLayout) }

func argList(list []*Arg) []*layout { return mapAll(list, argLayout) }

func mapAll[T any](list []T, f func(T) *layout) []*layout {
	out := make([]*layout, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

func argLayout(a *Arg) *layout {
	if a.Name != nil {
		return cat(text(a.Name.Name+"="), exprLayout(a.X))
	}
	return exprLayout(a.X)
}

func subLayout(s *Sub) *layout {
	if s.Pack != "" {
		return text(".." + s.Pack)
	}
	return tightLayout(s.X)
}

func axisLayout(a *Axis) *layout {
	if a.Pack != "" {
		return text(".." + a.Pack)
	}
	return rangeLayout(a.Name, a.In, a.Hi, a.Step)
}

func rangeLayout(name *Ident, lo, hi, step Expr) *layout {
	if lo == nil {
		return text(name.Name)
	}
	l := cat(text(name.Name+" in "), tightLayout(lo))
	if hi != nil {
		l = cat(l, text(".."), tightLayout(hi))
	}
	if step != nil {
		l = cat(l, text(" step "), tightLayout(step))
	}
	return l
}

// tightLayout is for subscripts, dims and bounds: `j-1`, `2*p`, and with both
// kinds of operators `2*p + r - 1`.
func tightLayout(e Expr) *layout {
	b, ok := e.(*Binary)
	if !ok || levelOf[b.Op] < levelAdd {
		return exprLayout(e)
	}
	return tightBinary(b, hasProduct(b) && hasSum(b))
}

func tightBinary(b *Binary, mixed bool) *layout {
	op := b.Op
	if mixed && levelOf[op] == levelAdd {
		op = " " + op + " "
	}
	side := func(e Expr) *layout {
		if s, ok := e.(*Binary); ok {
			return tightBinary(s, mixed)
		}
		return exprLayout(e)
	}
	return cat(side(b.X), text(op), side(b.Y))
}

func hasProduct(e Expr) bool {
	b, ok := e.(*Binary)
	return ok && (levelOf[b.Op] > levelAdd || hasProduct(b.X) || hasProduct(b.Y))
}

func hasSum(e Expr) bool {
	b, ok := e.(*Binary)
	return ok && (levelOf[b.Op] == levelAdd || hasSum(b.X) || hasSum(b.Y))
}

func typeLayout(t *Type) *layout {
	l := text(t.Name.Name)
	if len(t.Opts) > 0 {
		l = listLayout(t.Name.Name+"(", argList(t.Opts), ")")
	}
	l = cat(l, dimsLayout(t.Dims))
	if t.Elem != nil {
		l = cat(l, text(" "), elemLayout(t.Elem))
	}
	return l
}

func elemLayout(t *ElemType) *layout { return cat(text(t.Name.Name), dimsLayout(t.Dims)) }

func dimsLayout(d *Dims) *layout {
	if d == nil {
		return text("")
	}
	return cat(text("["), joinTight(subList(d.List)), text("]"))
}

func targetLayout(t *Target) *layout {
	if !t.Indexed {
		return text(t.Name.Name)
	}
	return cat(text(t.Name.Name+"["), joinTight(axisList(t.Index)), text("]"))
}

func valuesLayout(v *Values) *layout {
	if len(v.List) == 1 {
		return exprLayout(v.List[0])
	}
	return listLayout("(", exprList(v.List), ")")
}

func identList(list []*Ident) []*layout {
	return mapAll(list, func(i *Ident) *layout { return text(i.Name) })
}

func directiveLayout(d *Directive) *layout {
	if len(d.Args) == 0 {
		return text("@" + d.Name.Name)
	}
	return listLayout("@"+d.Name.Name+"(", mapAll(d.Args, directiveArgLayout), ")")
}

func directiveArgLayout(a *DirectiveArg) *layout {
	l := text("")
	if a.Key != nil {
		l = text(a.Key.Name + ": ")
	}
	switch {
	case a.Star:
		return cat(l, text("*"))
	case a.Str != "":
		return cat(l, text(a.Str))
	case a.Hi != nil:
		return cat(l, exprLayout(a.Lo), text(":"), exprLayout(a.Hi))
	}
	return cat(l, exprLayout(a.Lo))
}
