package cpu

import (
	"fmt"
	"strings"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/loop"
)

// Choices that are watched have a table beside the code, which the library
// exports for each function as two names:
//
//	const char tenon_choices_NAME[]   a line for each choice: LINE:COLUMN VARIANT VARIANT ..
//	int64_t    tenon_counts_NAME[]    for each choice 1 + the variant to force, or 0,
//	                                  then how often each variant has run
//
// Counting is indivisible, so that loops of several threads count rightly.
const (
	choicesPrefix = "tenon_choices_"
	countsPrefix  = "tenon_counts_"
)

// watching is where the table of a proc lies, and where in it each choice begins.
type watching struct {
	table llvm.Value
	first []int64 // of a choice's words
}

// watching is the table of f, made when it is first asked for.
func (s *support) watching(f *ir.Func) *watching {
	if w := s.watched[f.Name]; w != nil {
		return w
	}
	picks := loop.Picks(f)
	w, text, words := &watching{}, &strings.Builder{}, int64(0)
	for _, op := range picks {
		w.first = append(w.first, words)
		if op != nil {
			at := op.Loc.First()
			fmt.Fprintf(text, "%d:%d %s", at.Line, at.Col, strings.Join(loop.Variants(op), " "))
			words += int64(1 + len(loop.Variants(op)))
		}
		text.WriteByte('\n')
	}
	text.WriteByte(0)
	s.m.Export(choicesPrefix+f.Name, []byte(text.String()))
	w.table = s.m.Words(countsPrefix+f.Name, words)
	s.watched[f.Name] = w
	return w
}

func (w *watching) at(f *llvm.Func, choice, word int) llvm.Value {
	return f.Offset(w.table, 8*(w.first[choice]+int64(word)))
}

func lowerPick(p *proc, op *ir.Op) {
	e := ir.ElemOf(op.Results[0].Type)
	forced := p.Load(llvm.TypeOf(num.I64), p.shared.watching(p.src).at(p.Func, loop.Choice(op), 0))
	instead := p.Cast(p.Op("sub", forced, llvm.Int(num.I64, 1)), e)
	p.values[op.Results[0]] = p.Select(p.Op("eq", forced, llvm.Int(num.I64, 0)), p.operand(op.Args("")[0], e), instead)
}

func lowerRan(p *proc, op *ir.Op) {
	p.FetchAdd(p.shared.watching(p.src).at(p.Func, loop.Choice(op), 1+loop.Variant(op)), llvm.Int(num.I64, 1))
}
