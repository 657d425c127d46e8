package bench

import (
	"fmt"
	"strings"
)

// vectorBytes is the width of vectors that an implementation uses, by what the
// library reports of itself: the name of an implementation, of a core that
// OpenBLAS tuned for, or of an instruction set. 0: it does not say.
func vectorBytes(report string) int {
	report = strings.ToLower(report)
	for _, k := range []struct {
		bytes int
		words string
	}{
		{64, "avx512 avx10 amx skylakex cooperlake sapphirerapids zen4 zen5"},
		{32, "avx haswell zen sandybridge bulldozer piledriver steamroller excavator"},
		{16, "sse nehalem prescott core2 penryn dunnington atom barcelona bobcat opteron athlon banias katmai neon armv8"},
	} {
		for _, w := range strings.Fields(k.words) {
			if strings.Contains(report, w) {
				return k.bytes
			}
		}
	}
	return 0
}

// below says why figures of a way do not count on a machine whose vectors have
// so many bytes; note is what the way reports, isa what its library does.
func below(note, isa string, machine int) string {
	used := vectorBytes(note)
	if used == 0 {
		used = vectorBytes(isa)
	}
	if used == 0 || used >= machine { // one that does not say is not known to be below
		return ""
	}
	return fmt.Sprintf("uses vectors of %d bytes, the machine has %d", used, machine)
}
