package vec

import (
	"tenon/ir"
	"tenon/passes/pass"
)

// streamOption is the option of passes that make stores of vectors.
var streamOption = pass.Option{Name: "stream", Default: "0",
	Doc: "stores to buffers of more bytes go around the caches; 0: none do"}

// streams reports that stores of the loop to buf had better go around the caches
// where buf is too large for them: nothing in the loop reads it, so that no line
// of it is at hand. Whether it is too large is seen when it runs.
func (l *loop) streams(buf *ir.Value) bool {
	if l.m.stream <= 0 {
		return false
	}
	read := false
	bodyOf(l.op).Walk(func(op *ir.Op) bool {
		read = read || op.Def.Name == "load" && op.Args("")[0].Value == buf
		return !read
	})
	return !read
}
