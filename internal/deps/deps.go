//go:build tools

package deps

import (
	_ "codeberg.org/sbinet/npyio"
	_ "codeberg.org/sbinet/npyio/npz"
	_ "github.com/alecthomas/participle/v2"
	_ "github.com/ebitengine/purego"
	_ "github.com/llir/llvm/ir"
	_ "github.com/nlpodyssey/safetensors"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/tools/txtar"
	_ "gonum.org/v1/gonum/stat"
)
