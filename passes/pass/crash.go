package pass

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"tenon/internal/diag"
	"tenon/ir"
)

// bugOf makes a bug of what a pass panicked with.
func bugOf(r any) *diag.Bug {
	b, ok := r.(*diag.Bug)
	if !ok {
		b = &diag.Bug{Msg: fmt.Sprint(r)}
	}
	if b.Stack == "" {
		b.Stack = string(debug.Stack())
	}
	return b
}

// raise panics with b after it has said which pass, function and op, and where
// the module stands that shows it.
func (w *watched) raise(b *diag.Bug) {
	b.Pass = w.pass.Pass.Name
	if w.at != nil && w.at.fn != nil && b.Func == "" {
		b.Func = w.at.fn.Name
	}
	if w.at != nil && w.at.op != nil && b.Op == "" {
		b.Op = w.at.op.Def.Name
		if p := w.at.op.Loc.First(); p.IsValid() {
			b.Op += " at " + p.String()
		}
	}
	b.Reproducer = w.reproducer(b)
	panic(b)
}

// reproducer writes the module before the pass, with the command that runs the
// pass on it, and returns the file's name.
func (w *watched) reproducer(b *diag.Bug) string {
	dir := w.g.TempDir
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.CreateTemp(dir, "tenon-"+w.pass.Pass.Name+"-*.tnir")
	if err != nil {
		return "(none: " + err.Error() + ")"
	}
	defer f.Close()
	text := ir.Print(w.before, ir.WithLocations())
	head, body, _ := strings.Cut(text, "\n")
	each := ""
	if w.g.VerifyEach {
		each = " --verify-each"
	}
	fmt.Fprintf(f, "%s\n// pass %s: %s\n// tenon opt %s --passes=%s%s\n%s", head, w.pass.Pass.Name,
		strings.ReplaceAll(b.Msg, "\n", "\n// "), filepath.Base(f.Name()), List(w.rest), each, body)
	return f.Name()
}
