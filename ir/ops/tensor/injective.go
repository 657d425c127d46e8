package tensor

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// injective checks that two points of par write two elements: every par axis
// must be recoverable from the subscripts. An axis is recovered by a subscript
// in which it has a constant coefficient other than 0 and stands, other axes
// already recovered aside, alone; or where the rest stays below its coefficient
// (mixed radix, as in 32*i + j with j < 32, or W*i + j with j < W). An extent known to be at most 1
// needs no recovering.
func (c compCheck) injective(o ir.Out) {
	open := map[string]ir.Axis{}
	for i, a := range c.Par {
		pairedRow := i+1 < len(c.Par) && c.Par[i+1].Pattern != nil
		single := a.Pattern == nil && c.Facts != nil && c.Facts.Prove(sym.Le(a.Extent, sym.Const(1)))
		if n, ok := a.Extent.IsConst(); single || a.Pattern == nil && ok && n <= 1 {
			continue
		}
		if !pairedRow || c.subsUse(o, a.Name) {
			open[key(a)] = a
		}
	}
	for progress := true; progress && len(open) > 0; {
		progress = false
		for _, s := range o.Subs {
			for _, n := range c.recovered(s, open) {
				delete(open, n)
				progress = true
			}
		}
	}
	for _, a := range c.Par {
		if _, ok := open[key(a)]; ok {
			c.Errorf(c.Op, "two points may write one element of %%%s: axis %s does not follow from the subscripts",
				o.Buf.Name, key(a))
			return
		}
	}
}

func (c compCheck) subsUse(o ir.Out, name string) bool {
	for _, s := range o.Subs {
		if s.Uses(name) {
			return true
		}
	}
	return false
}

// key is the name of a that identifies its point: the entry of an entry axis.
func key(a ir.Axis) string {
	if a.Pattern != nil {
		return a.Entry
	}
	return a.Name
}

// recovered lists the open axes that the value of subscript s determines.
func (c compCheck) recovered(s sym.Expr, open map[string]ir.Axis) []string {
	var names []string
	coefs := map[string]sym.Expr{}
	for _, a := range c.Par {
		n := key(a)
		if _, ok := open[n]; !ok || !s.Uses(n) {
			continue
		}
		k, _, ok := s.Linear(n)
		if !ok {
			return nil
		}
		coefs[n] = k
		names = append(names, n)
	}
	coef := map[string]int64{}
	for n, k := range coefs {
		v, isConst := k.IsConst()
		if !isConst {
			return c.symbolicRadix(names, coefs, open)
		}
		coef[n] = max(v, -v)
	}
	if len(names) <= 1 {
		return names
	}
	return mixedRadix(names, coef, open)
}

// symbolicRadix accepts W*i + j where the extent of j is known to be at most W,
// and W*i alone where W is known not to be 0.
func (c compCheck) symbolicRadix(names []string, coefs map[string]sym.Expr, open map[string]ir.Axis) []string {
	prove := func(k sym.Cond) bool { return c.Facts != nil && c.Facts.Prove(k) }
	if len(names) == 1 && prove(sym.Le(sym.Const(1), coefs[names[0]])) {
		return names
	}
	if len(names) != 2 {
		return nil
	}
	for i, low := range names {
		one, ok := coefs[low].IsConst()
		a := open[low]
		if !ok || one != 1 || a.Pattern != nil {
			continue
		}
		if wide := coefs[names[1-i]]; wide.Equal(a.Extent) || prove(sym.Le(a.Extent, wide)) {
			return names
		}
	}
	return nil
}

// mixedRadix accepts names if, by falling coefficient, each exceeds what all
// the smaller ones can add up to.
func mixedRadix(names []string, coef map[string]int64, open map[string]ir.Axis) []string {
	for _, n := range names {
		rest := int64(0)
		for _, m := range names {
			if m == n || coef[m] > coef[n] {
				continue
			}
			extent, ok := open[m].Extent.IsConst()
			if open[m].Pattern != nil || !ok || coef[m] == coef[n] {
				return nil
			}
			rest += coef[m] * (extent - 1)
		}
		if rest >= coef[n] {
			return nil
		}
	}
	return names
}
