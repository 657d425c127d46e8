package ir

// LevelSpec is the legal subset of ops at a level: whole families, and single
// ops of other families by full name.
type LevelSpec struct {
	Level    Level
	Families []string
	Ops      []string
	Buffers  bool // data live in buffers; comps are in buffer form
	Doc      string
}

// Levels lists the levels from the front end down. It is the table of the text
// form's page, section 5.
var Levels = []LevelSpec{
	{LevelTensor, []string{"scalar", "tensor"}, []string{"loop.for", "loop.if", "tile.choose", "tile.cost"}, false,
		"values; what front ends make of a fn"},
	{LevelTile, []string{"scalar", "tile", "loop"}, []string{"tensor.comp", "tensor.plan", "tensor.check", "load", "store"}, true,
		"buffers, tiles and micro-kernel calls; what bufferisation and helix leave"},
	{LevelLoop, []string{"scalar", "loop"}, []string{"tensor.comp", "tensor.plan", "tensor.check", "load", "store"}, true,
		"loops over buffers; what front ends make of a proc"},
	{LevelVec, []string{"scalar", "vec", "loop"}, []string{"tensor.check", "tensor.plan", "load", "store"}, true,
		"loops of vectors; bodies of micro-kernels"},
	{LevelDist, []string{"scalar", "dist", "loop", "tile"}, []string{"tensor.comp", "tensor.plan", "tensor.check", "load", "store"}, true,
		"buffers distributed over a grid of ranks"},
	{LevelGPU, []string{"scalar", "gpu", "vec"}, []string{"loop.for", "loop.if", "load", "store"}, true,
		"launches of blocks of threads"},
}

// SpecOf returns the spec of level l, or nil if there is no such level.
func SpecOf(l Level) *LevelSpec {
	for i := range Levels {
		if Levels[i].Level == l {
			return &Levels[i]
		}
	}
	return nil
}

// Allows reports whether op d may stand in a function of this level.
func (s *LevelSpec) Allows(d *OpDef) bool {
	for _, o := range s.Ops {
		if o == d.Name {
			return true
		}
	}
	bufferAccess := d.Name == "load" || d.Name == "store"
	for _, f := range s.Families {
		if f == d.Family() && !bufferAccess {
			return true
		}
	}
	return false
}
