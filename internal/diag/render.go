package diag

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Sources gives the text of a file named in a position. Render falls back to
// the file system for files that it does not have.
type Sources map[string]string

// Render prints err as the user reads it: position and message, the source
// line with a caret, then what was expected and the fix. Color adds ANSI
// colours; the caller decides (terminal, NO_COLOR).
func Render(err error, src Sources, color bool) string {
	var list List
	var one *Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = List{one}
	default:
		return paint(color, "1;31", "error:") + " " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, e := range list {
		renderOne(&b, e, src, color)
	}
	return b.String()
}

func renderOne(b *strings.Builder, e *Error, src Sources, color bool) {
	if p := e.Pos.String(); p != "" {
		b.WriteString(paint(color, "1", p+":") + " ")
	}
	b.WriteString(paint(color, "1;31", "error:") + " " + e.Msg + "\n")
	excerpt(b, e.Pos, e.Len, src, color)
	if e.Expected != "" {
		b.WriteString("  expected: " + e.Expected + "\n")
	}
	if e.Fix != "" {
		b.WriteString("  fix: " + e.Fix + "\n")
	}
	for _, n := range e.Notes {
		if p := n.Pos.String(); p != "" {
			b.WriteString("  " + p + ": ")
		} else {
			b.WriteString("  ")
		}
		b.WriteString("note: " + n.Msg + "\n")
		excerpt(b, n.Pos, 1, src, color)
	}
}

// excerpt prints the source line of p with a caret under p.Col. Tabs are kept
// in the caret line so that the caret stands where the eye expects it. Lines
// longer than a screen are cut around the caret.
func excerpt(b *strings.Builder, p Pos, length int, src Sources, color bool) {
	line, ok := sourceLine(p, src)
	if !ok {
		return
	}
	runes := []rune(line)
	col := min(max(p.Col-1, 0), len(runes))
	if len(runes) > 200 {
		from := max(col-80, 0)
		runes, col = runes[from:min(from+160, len(runes))], col-from
	}
	pad := make([]rune, col)
	for i := range pad {
		pad[i] = ' '
		if runes[i] == '\t' {
			pad[i] = '\t'
		}
	}
	length = max(1, min(length, len(runes)-col))
	fmt.Fprintf(b, "    %s\n    %s%s\n", string(runes), string(pad), paint(color, "1;32", "^"+strings.Repeat("~", length-1)))
}

func sourceLine(p Pos, src Sources) (string, bool) {
	if !p.IsValid() || p.File == "" {
		return "", false
	}
	text, ok := src[p.File]
	if !ok {
		data, err := os.ReadFile(p.File)
		if err != nil || len(data) > 16<<20 {
			return "", false
		}
		text = string(data)
	}
	for i := 1; i < p.Line; i++ {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return "", false
		}
		text = rest
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r"), true
}

func paint(on bool, code, s string) string {
	if !on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
