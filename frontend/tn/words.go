package tn

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// count is n things in words: "1 value", "2 values", "2 indices".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "index"); ok {
		return fmt.Sprintf("%d %sindices", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// spelling turns the IR's words into the language's: it marks scalars with %, and
// has its own for quotient and remainder.
var spelling = strings.NewReplacer("%", "", "//", "/", " mod ", " % ")

// shown is a dim as the program writes it.
func shown(e sym.Expr) string { return spelling.Replace(e.String()) }

// shownCond is a fact as the program writes it.
func shownCond(c sym.Cond) string { return spelling.Replace(c.String()) }

// bufText is the type of a buffer as the program writes it.
func bufText(t ir.Buf) string {
	dims := make([]string, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = shown(d)
	}
	return t.Elem.String() + "[" + strings.Join(dims, ", ") + "]"
}

// castHint says how to make a value of type want, which for bool is a
// comparison.
func castHint(want num.Elem) string {
	if want == num.Bool {
		return "compare it, for example with `!= 0`"
	}
	return fmt.Sprintf("write %s(...) around it", want)
}

// nearest is the name that name may be a slip of: the first at the least edit
// distance, which grows with the length; "" if none is near.
func nearest(name string, known []string) string {
	best, least := "", (len(name)+2)/4+1
	if len(name) < 3 {
		return ""
	}
	for _, k := range known {
		if d := editDistance(k, name); d > 0 && d < least && !strings.Contains(k, ".") {
			best, least = k, d
		}
	}
	return best
}

// editDistance is the number of letters to put in, take out, or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
