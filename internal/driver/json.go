package driver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/num"
)

// Stats is what --json tells of a run beside its results.
type Stats struct {
	MedianNS int64
	Repeat   int
	Agree    *Agreement // of run --verify
	Ran      []Ran      // of watched code
}

// PrintJSON writes results in full, or the files that they went to, and stats,
// as one JSON object. An infinity or NaN, which JSON lacks, is a string.
func PrintJSON(out io.Writer, results []Result, s Stats) error {
	w := bufio.NewWriter(out)
	w.WriteString(`{"results": [`)
	for i, r := range results {
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(w, `{"name": %s, "dtype": "%s", "shape": %s, `, quote(r.Label(i)), r.Array.Elem, shapeText(r.Array.Shape))
		if r.File != "" {
			fmt.Fprintf(w, `"file": %s}`, quote(r.File))
			continue
		}
		w.WriteString(`"data": `)
		writeNested(w, r.Array)
		w.WriteString("}")
	}
	fmt.Fprintf(w, `], "median_ns": %d, "repeat": %d`, s.MedianNS, s.Repeat)
	if s.Agree != nil {
		fmt.Fprintf(w, `, "verify": {"elements": %d, "undecided": %d, "max_error": %g}`, s.Agree.Elements, s.Agree.Undecided, s.Agree.MaxError)
	}
	var ran []string
	for _, r := range s.Ran {
		ran = append(ran, r.json())
	}
	fmt.Fprintf(w, `, "counters": {}, "variants": [%s]}`+"\n", strings.Join(ran, ", "))
	return w.Flush()
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return string(b)
}

func writeNested(w *bufio.Writer, a *weights.Array) {
	cells := a.Cells()
	var axis func(k int)
	axis = func(k int) {
		if k == a.Rank() {
			w.WriteString(jsonNumber(a.Elem, cells[0]))
			cells = cells[1:]
			return
		}
		w.WriteByte('[')
		for i := range a.Shape[k] {
			if i > 0 {
				w.WriteString(", ")
			}
			axis(k + 1)
		}
		w.WriteByte(']')
	}
	axis(0)
}

func jsonNumber(e num.Elem, c num.Cell) string {
	s := num.Format(e, c)
	switch {
	case !e.IsFloat():
	case strings.HasPrefix(s, "nan"):
		return `"nan"` // sign and payload differ between machines
	case strings.HasSuffix(s, "inf"):
		return quote(s)
	}
	return s
}
