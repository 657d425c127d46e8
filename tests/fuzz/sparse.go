package fuzz

import (
	"fmt"

	"tenon/ir/sym"
)

// pattern is a sparse structure in scope.
type pattern struct {
	name, id   string
	rows, cols sym.Expr
	format     string
	param      bool
}

func (p pattern) typ() string {
	return fmt.Sprintf("pattern<%s, %s, nnz#%s, %s>", p.rows, p.cols, p.id, p.format)
}

// encoding is a way of storing that the module defines.
type encoding struct{ name string }
