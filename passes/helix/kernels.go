package helix

import (
	"tenon/ir"
	"tenon/microkernels/gemm"
)

// kernels are the micro-kernels that a module's tiles call.
type kernels struct {
	used []gemm.Key
	at   []ir.Loc // who asked for each first
	seen map[string]bool
}

// name is the name of the kernel k, which the module will have.
func (s *kernels) name(k gemm.Key, at ir.Loc) string {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if !s.seen[k.Name()] {
		s.seen[k.Name()] = true
		s.used, s.at = append(s.used, k), append(s.at, at)
	}
	return k.Name()
}

// addTo puts the kernels, their bodies and cost tables in front of m's items. Their
// place in the source is that of the first product which needs them.
func (s *kernels) addTo(m *ir.Module, on gemm.Machine) {
	var items []ir.Item
	for i, k := range s.used {
		kernel, body := gemm.Build(k, on)
		kernel.Loc, body.Loc = s.at[i], s.at[i]
		for _, r := range []*ir.Region{kernel.Meaning, body.Body} {
			r.Walk(func(op *ir.Op) bool { op.Loc = s.at[i]; return true })
		}
		if ir.Lookup[*ir.Kernel](m, k.Name()) == nil {
			items = append(items, &ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body)
		}
	}
	m.Items = append(items, m.Items...)
}
