package runtime

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Choice is one of the choices of a function between variants, in code that was
// built to be watched. Its methods may be called while no run is under way.
type Choice struct {
	At       string   // LINE:COLUMN of the source
	Variants []string // the last one runs where the guard of the one to run fails
	forced   *int64
	counts   []int64
}

// Choices are those of a function, by number. Code that was not built to be
// watched has none, nor has a function that chooses nothing.
func (l *Lib) Choices(name string) (list []*Choice) {
	text, err := purego.Dlsym(l.handle, "tenon_choices_"+name)
	if err != nil {
		return nil
	}
	table, err := purego.Dlsym(l.handle, "tenon_counts_"+name)
	if err != nil {
		return nil
	}
	word := *(*unsafe.Pointer)(unsafe.Pointer(&table))
	for line := range strings.Lines(cString(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			list = append(list, &Choice{})
			continue
		}
		c := &Choice{At: fields[0], Variants: fields[1:], forced: (*int64)(word)}
		c.counts = unsafe.Slice((*int64)(unsafe.Add(word, 8)), len(c.Variants))
		word = unsafe.Add(word, 8*(1+len(c.Variants)))
		list = append(list, c)
	}
	return list
}

// cString is the text at p up to its zero byte.
func cString(p uintptr) string {
	at := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(at, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// Force makes a variant run wherever its guard holds, a negative number the one
// that is picked.
func (c *Choice) Force(variant int) { atomic.StoreInt64(c.forced, int64(max(variant, -1)+1)) }

// Counts says how often each variant has run since the library was loaded.
func (c *Choice) Counts() []int64 {
	out := make([]int64, len(c.counts))
	for i := range out {
		out[i] = atomic.LoadInt64(&c.counts[i])
	}
	return out
}

// Reset forgets what has run.
func (c *Choice) Reset() {
	for i := range c.counts {
		atomic.StoreInt64(&c.counts[i], 0)
	}
}
