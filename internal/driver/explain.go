package driver

import (
	"tenon/ir"
	"tenon/passes/pass"
)

// Explained is what became of one function on its way to code.
type Explained struct {
	Func    string        `json:"func"`
	Line    int           `json:"line,omitempty"` // of the source; 0: unknown
	Remarks []pass.Remark `json:"-"`              // what passes did and left alone, in order
}

// Explain takes a copy of m down to code for a machine, and tells for each
// function, in the order of m, what the passes did and what they left alone,
// and why.
func Explain(m *ir.Module, o Options) ([]Explained, error) {
	desc, err := o.machine()
	if err != nil {
		return nil, err
	}
	g := &pass.Manager{}
	if _, err := lowerWith(g, m, machineOf(desc), nil); err != nil {
		return nil, err
	}
	var all []Explained
	at := map[string]int{}
	for _, f := range m.Funcs() {
		at[f.Name] = len(all)
		all = append(all, Explained{Func: f.Name, Line: f.Loc.First().Line})
	}
	for _, r := range g.Remarks {
		i, known := at[r.Func]
		if !known { // a pass has made the function
			i = len(all)
			at[r.Func] = i
			all = append(all, Explained{Func: r.Func})
		}
		all[i].Remarks = append(all[i].Remarks, r)
	}
	return all, nil
}
