package fuzz

import (
	"fmt"
	"strings"

	"tenon/frontend/tn"
	"tenon/frontend/tn/syntax"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/interp"
)

// ParseSource reads a program of the language and holds its canonical form
// against it. A damaged copy must be refused, or be a program that verifies.
func ParseSource(p *Program) (bad *Mismatch) {
	defer func() {
		if r := recover(); r != nil {
			bad = mismatch(p, "source", "", "crashed: %v\n%s", r, trace())
		}
	}()
	const name = "fuzz.tn"
	m, err := tn.Parse(name, p.Text)
	if err != nil {
		return mismatch(p, "source", "", "%s", diag.Render(err, diag.Sources{name: p.Text}, false))
	}
	if err := ir.Verify(m); err != nil {
		return mismatch(p, "source, verify", "", "%s\n%s", diag.Render(err, diag.Sources{name: p.Text}, false), ir.Print(m))
	}
	p.Module = m
	if bad := formatted(p, m); bad != nil {
		return bad
	}
	return damaged(p)
}

// formatted holds that the canonical form means the same and is a fixed point.
func formatted(p *Program, m *ir.Module) *Mismatch {
	const name = "formatted.tn"
	text, err := syntax.FormatSource("fuzz.tn", p.Text)
	if err != nil {
		return mismatch(p, "format", "", "refuses what parses: %v", err)
	}
	again, err := syntax.FormatSource(name, text)
	if err != nil || again != text {
		return mismatch(p, "format", "", "is no fixed point (%v):\n%s\nthen\n%s", err, text, again)
	}
	other, err := tn.Parse(name, text)
	if err != nil {
		return mismatch(p, "format", "", "what is formatted is refused: %s", diag.Render(err, diag.Sources{name: text}, false))
	}
	if a, b := ir.Print(m), ir.Print(other); a != b {
		return mismatch(p, "format", "", "what is formatted is another program:\n%s\nthen\n%s\n%s", a, text, b)
	}
	return nil
}

// damaged drops, doubles or exchanges a word of the text, by the program's seed.
func damaged(p *Program) *Mismatch {
	words := strings.Fields(p.Text)
	n := uint64(len(words))
	i, j := p.Seed%n, p.Seed/7%n
	switch p.Seed % 3 {
	case 0:
		words[i] = ""
	case 1:
		words[i] += " " + words[j]
	default:
		words[i], words[j] = words[j], words[i]
	}
	text := strings.Join(words, " ")
	m, err := tn.Parse("damaged.tn", text)
	if err == nil {
		if err := ir.Verify(m); err != nil {
			return mismatch(p, "damaged source", "", "does not verify: %v\n%s", err, text)
		}
		return nil
	}
	faults := faultsOf(err)
	for _, e := range faults {
		if !e.Pos.IsValid() || e.Msg == "" {
			return mismatch(p, "damaged source", "", "an error without a place: %v\n%s", e, text)
		}
	}
	if len(faults) == 0 {
		return mismatch(p, "damaged source", "", "an error that is none of the program's: %v\n%s", err, text)
	}
	return nil
}

// meanings holds the interpreter against what the generator says that the
// functions compute.
func (c *checker) meanings(p *Program, runs []Run) *Mismatch {
	for _, r := range runs {
		// What the sizes must satisfy is the compiler's to find, and a run that
		// went on for too long was cut off.
		if r.Info.Reference == nil || r.Fault != nil && (r.Fault.Code == ir.TrapShape || r.Fault.Code == ir.TrapMemory) {
			continue
		}
		want, stopped := r.Info.Reference(r.Args(p, r.Func), r.Sizes)
		why := ""
		switch {
		case stopped && r.Fault == nil:
			why = "the interpreter does not stop, and should"
		case !stopped && r.Fault != nil:
			why = "stops: " + r.Fault.Error() + ", and should not"
		case !stopped && len(want) != len(r.Results):
			why = fmt.Sprintf("gives %d results instead of %d", len(r.Results), len(want))
		case !stopped:
			why = meansOther(want, r.Results)
		}
		if why != "" {
			return mismatch(p, "meaning", r.Func.Name, "at %s: %s\n%s\n%s", sizesText(r.Sizes), why, p.Text, ir.Print(p.Module))
		}
	}
	return nil
}

// meansOther compares results: what is expected must lie within the bounds of
// what the interpreter gives.
func meansOther(want, got []any) string {
	for i := range want {
		if _, err := interp.Compare(want[i], got[i]); err != nil {
			return fmt.Sprintf("result %d (got and expected exchanged): %v", i+1, err)
		}
	}
	return ""
}
