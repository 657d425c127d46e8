package prelude

import (
	"testing"

	"tenon/frontend/tn/syntax"
)

// Every function and monoid of the prelude says what it is, in the comment right
// above it; no name is declared twice.
func TestPreludeIsDocumented(t *testing.T) {
	seen := map[string]string{}
	for _, file := range Files() {
		f, err := syntax.Parse(file.Name, file.Src)
		if err != nil {
			t.Fatal(err)
		}
		above := map[int]bool{}
		for _, c := range f.Comments {
			above[c.Pos.Line+1] = !c.Trailing
		}
		for _, it := range f.Items {
			name := declName(it.Decl)
			if !above[it.Pos.Line] {
				t.Errorf("%s: %s has no comment above it", it.At(), name)
			}
			if other := seen[name]; other != "" {
				t.Errorf("%s: %s is declared in %s too", it.At(), name, other)
			}
			seen[name] = file.Name
		}
	}
	for _, name := range []string{"softmax", "masked_softmax", "layernorm", "rmsnorm", "gelu", "attention", "conv2d", "cumsum"} {
		if seen[name] == "" {
			t.Errorf("the prelude lacks %s", name)
		}
	}
}

func declName(d syntax.Decl) string {
	switch d := d.(type) {
	case *syntax.Fn:
		return d.Name.Name
	case *syntax.Proc:
		return d.Name.Name
	case *syntax.Monoid:
		return d.Name.Name
	}
	return ""
}
