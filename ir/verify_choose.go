package ir

import "slices"

// checkVariants checks a choice: the last variant is unguarded, all give the
// same or write the same buffers, and the region that picks has no effects.
func (v *verifier) checkVariants(op *Op, _ int, c Clause) {
	vs := c.(*Variants)
	if len(vs.List) == 0 || vs.Pick == nil {
		v.Errorf(op, "needs variants and a pick region")
		return
	}
	if len(vs.List[len(vs.List)-1].Where) > 0 {
		v.Errorf(op, "the last variant, %s, is guarded; it must run where no other does", vs.List[len(vs.List)-1].Name)
	}
	seen := map[string]bool{}
	for i, x := range vs.List {
		if seen[x.Name] {
			v.Errorf(op, "variant %s stands twice", x.Name)
		}
		seen[x.Name] = true
		v.scoped(func() {
			v.where(x.Where, Guarded)
			v.region(x.Region)
		})
		if i > 0 {
			v.sameVariant(op, vs.List[0], x)
		}
	}
	v.region(vs.Pick)
	v.pick(vs.Pick)
}

func (v *verifier) sameVariant(op *Op, a, b Variant) {
	ta, tb := TypesOf(a.Region.Yields()), TypesOf(b.Region.Yields())
	if !slices.EqualFunc(ta, tb, SameType) {
		v.Errorf(op, "variant %s yields %s, variant %s %s", a.Name, typesText(ta), b.Name, typesText(tb))
	}
	wa, wb := written(a.Region), written(b.Region)
	for x := range wa {
		if !wb[x] {
			v.Errorf(op, "variant %s writes %%%s, variant %s does not", a.Name, x.Name, b.Name)
			return
		}
	}
	for x := range wb {
		if !wa[x] {
			v.Errorf(op, "variant %s writes %%%s, variant %s does not", b.Name, x.Name, a.Name)
			return
		}
	}
}

func typesText(ts []Type) string {
	if len(ts) == 0 {
		return "nothing"
	}
	return joined(ts, Type.String)
}

// written lists the buffers from outside that r writes.
func written(r *Region) map[*Value]bool {
	out, own := map[*Value]bool{}, map[*Value]bool{}
	r.Walk(func(op *Op) bool {
		for _, x := range op.Results {
			own[x] = true
		}
		if op.Def.Effects != nil {
			for _, e := range op.Def.Effects(op) {
				if e.Kind == EffectWrite && e.Value != nil {
					out[e.Value] = true
				}
			}
		}
		return true
	})
	for x := range own {
		delete(out, x)
	}
	return out
}

// pick: dims, statistics and cost tables, but no data.
func (v *verifier) pick(r *Region) {
	if r.Last() == nil {
		v.fault(nil, "the pick region does not yield a variant's number")
	}
	r.Walk(func(op *Op) bool {
		if op.Def.Effects != nil && len(op.Def.Effects(op)) > 0 {
			v.Errorf(op, "stands in a pick region, which reads dims, statistics and cost tables only")
		}
		op.Values(func(x *Value) *Value {
			switch x.Type.(type) {
			case Tensor, Buf:
				v.Errorf(op, "uses %%%s in a pick region, which reads no data", x.Name)
			}
			return x
		})
		return true
	})
}
