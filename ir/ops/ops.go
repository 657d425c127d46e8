// Package ops registers every op family by importing it; a program that reads
// or builds IR imports this package for its effect.
package ops

import (
	_ "tenon/ir/ops/dist"
	_ "tenon/ir/ops/gpu"
	_ "tenon/ir/ops/loop"
	_ "tenon/ir/ops/scalar"
	_ "tenon/ir/ops/tensor"
	_ "tenon/ir/ops/tile"
	_ "tenon/ir/ops/vec"
)
