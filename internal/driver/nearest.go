package driver

// didYouMean is " (did you mean NAME?)" for the known name closest to name, if
// one is close: a slip in every third letter at most, none in a name of one.
func didYouMean(name string, known []string) string {
	best, dist := "", (len(name)+1)/3
	for _, k := range known {
		if d := editDistance(name, k); d <= dist && (best == "" || d < dist) {
			best, dist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// editDistance counts the insertions, deletions and replacements of bytes that
// make b of a (Levenshtein), one row of the table at a time.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			next := min(row[j], row[j-1]) + 1
			if a[i-1] == b[j-1] {
				next = min(next, diagonal)
			}
			diagonal, row[j] = row[j], min(next, diagonal+1)
		}
	}
	return row[len(b)]
}
