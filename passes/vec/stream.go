package vec

import (
	"tenon/ir"
	"tenon/passes/pass"
)

// streamOption is the option of passes that make stores of vectors.
var streamOption = pass.Option{Name: "stream", Default: "0",
	Doc: "stores to buffers of more bytes go around the caches; 0: none do"}

// streaming decides which stores of a function may go around the caches.
type streaming struct {
	above int64              // bytes of a buffer, 0: none
	read  map[*ir.Value]bool // buffers that the function reads
}

func streamingOf(f *ir.Func, above int64) *streaming {
	s := &streaming{above: above, read: map[*ir.Value]bool{}}
	f.Body.Walk(func(op *ir.Op) bool {
		if op.Def.Name == "load" || op.Def.Name == "vec.load" {
			s.read[op.Args("")[0].Value] = true
		}
		return true
	})
	return s
}

// allows reports that stores to buf had better go around the caches where buf is
// too large for them, which is seen when it runs: nothing in the function reads it,
// not a line of it that is at hand nor a row that it has just written.
func (s *streaming) allows(buf *ir.Value) bool {
	return s != nil && s.above > 0 && !s.read[buf]
}
