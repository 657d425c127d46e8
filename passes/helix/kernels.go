package helix

import (
	"tenon/ir"
	"tenon/microkernels/gemm"
)

// kernels are the micro-kernels that a module's tiles call.
type kernels struct {
	used []gemm.Key
	seen map[string]bool
}

// name is the name of the kernel k, which the module will have.
func (s *kernels) name(k gemm.Key) string {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if !s.seen[k.Name()] {
		s.seen[k.Name()] = true
		s.used = append(s.used, k)
	}
	return k.Name()
}

// addTo puts the kernels, their bodies and cost tables in front of m's items.
func (s *kernels) addTo(m *ir.Module, on gemm.Machine) {
	var items []ir.Item
	for _, k := range s.used {
		kernel, body := gemm.Build(k, on)
		if ir.Lookup[*ir.Kernel](m, k.Name()) == nil {
			items = append(items, &ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body)
		}
	}
	m.Items = append(items, m.Items...)
}
