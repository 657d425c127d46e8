package prelude

import (
	"embed"
	"io/fs"

	"tenon/internal/diag"
)

//go:embed *.tn
var files embed.FS

// File is one file of the prelude.
type File struct {
	Name string // as positions show it: prelude/softmax.tn
	Src  string
}

// Files returns the files of the prelude, by name.
func Files() []File {
	names, err := fs.Glob(files, "*.tn")
	if err != nil {
		return nil // the pattern is well formed
	}
	out := make([]File, 0, len(names))
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil // an embedded file that was just listed can be read
		}
		out = append(out, File{Name: "prelude/" + name, Src: string(b)})
	}
	return out
}

// Sources is the text of the prelude for messages that point into it.
func Sources() diag.Sources {
	src := diag.Sources{}
	for _, f := range Files() {
		src[f.Name] = f.Src
	}
	return src
}
