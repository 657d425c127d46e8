package driver

import (
	"os"
	"path/filepath"
	"strings"

	"tenon/frontend/tn/syntax"
)

// Dependencies lists the files that the program at path is made of: its own and
// those that it imports, in order. The program is one that loads.
func Dependencies(path string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	var visit func(path string) error
	visit = func(path string) error {
		if seen[path] {
			return nil
		}
		seen[path] = true
		list = append(list, path)
		if !strings.EqualFold(filepath.Ext(path), ".tn") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := syntax.Parse(path, string(text))
		if err != nil {
			return err
		}
		for _, it := range file.Items {
			imp, ok := it.Decl.(*syntax.Import)
			if !ok {
				continue
			}
			to := imp.File()
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			if err := visit(to); err != nil {
				return err
			}
		}
		return nil
	}
	err := visit(path)
	return list, err
}
