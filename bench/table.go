package main

import (
	"fmt"
	"io"
	"strings"
)

// table is a Markdown table, padded so that it reads well as text.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	wide := make([]int, len(t.head))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, c := range r {
			wide[i] = max(wide[i], len([]rune(c)))
		}
	}
	line := func(cells []string, fill string) {
		for i := range t.head {
			c := ""
			if i < len(cells) {
				c = cells[i]
			}
			fmt.Fprintf(w, "| %s%s ", c, strings.Repeat(fill, wide[i]-len([]rune(c))))
		}
		fmt.Fprintln(w, "|")
	}
	line(t.head, " ")
	dashes := make([]string, len(t.head))
	for i := range dashes {
		dashes[i] = strings.Repeat("-", max(wide[i], 3))
	}
	line(dashes, " ")
	for _, r := range t.rows {
		line(r, " ")
	}
	fmt.Fprintln(w)
}

// figure writes a spread: 3.14 (3.01-3.20), or in percent.
func figure(s spread, format string) string {
	return fmt.Sprintf(format+" ("+format+"-"+format+")", s.median, s.least, s.most)
}

func percent(s spread) string {
	return fmt.Sprintf("%.0f%% (%.0f-%.0f)", 100*s.median, 100*s.least, 100*s.most)
}
