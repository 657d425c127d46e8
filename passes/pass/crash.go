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

// raise panics with b after it has completed it.
func (w *watched) raise(b *diag.Bug) {
	w.complete(b)
	panic(b)
}

// complete says in b which pass, function and op, and where the module stands
// that shows it.
func (w *watched) complete(b *diag.Bug) {
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
	if b.Reproducer = w.g.Reproducer; b.Reproducer == "" {
		b.Reproducer = w.reproducer(b)
	}
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
	check := w.check
	if check == "" && w.g.VerifyEach {
		check = verifies
	}
	f.WriteString(reproducerText(ir.Print(w.before, ir.WithLocations()), filepath.Base(f.Name()), w.pass, b.Msg, w.rest, check))
	return f.Name()
}

// reproducerText puts behind the first line of a module's text what a pass did
// to it, and the command that shows it again.
func reproducerText(text, file string, in Instance, msg string, passes []Instance, check string) string {
	head, body, _ := strings.Cut(text, "\n")
	return fmt.Sprintf("%s\n// pass %s: %s\n%s%s --passes=%s%s\n%s", head, in.Pass.Name,
		strings.ReplaceAll(msg, "\n", "\n// "), commandLine, file, List(passes), check, body)
}

// Text is the text of a reproducer, of the given name, for what is known of a
// wrong pass.
func (w *Wrong) Text(file string) string {
	return reproducerText(ir.Print(w.Before), file, w.Passes[len(w.Passes)-1], w.Bug.Msg, w.Passes, bisects)
}

// What the line of a reproducer that says how to run it begins and may end with.
const (
	commandLine = "// tenon opt "
	verifies    = " --verify-each"
	bisects     = " --bisect"
)

// Reproducer is what the text of a reproducer says: the passes that it runs, and
// how they are watched.
type Reproducer struct {
	Passes             []Instance
	VerifyEach, Bisect bool
}

// Reproduced reads the head of a reproducer; nil, nil for other files.
func Reproduced(text string) (*Reproducer, error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "tenon ir") && line != "" {
			break
		}
		_, list, found := strings.Cut(line, " --passes=")
		if !strings.HasPrefix(line, commandLine) || !found {
			continue
		}
		r := &Reproducer{}
		list, r.VerifyEach = strings.CutSuffix(list, verifies)
		list, r.Bisect = strings.CutSuffix(list, bisects)
		var err error
		r.Passes, err = Parse(list)
		return r, err
	}
	return nil, nil
}
