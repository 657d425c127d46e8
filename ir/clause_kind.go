package ir

// clauseKind is what the text form knows of a kind of clause: whether one
// starts at the current token, how to read one (its word is read already) and
// how to write one (its word left out). outer is the scope around the op.
type clauseKind struct {
	what   string
	starts func(p *parser, s ClauseSpec) bool
	parse  func(p *parser, op *Op, i int, outer *scope)
	write  func(w *printer, c Clause)
	clone  func(m *Mapping, c Clause) Clause
	check  func(v *verifier, op *Op, i int, c Clause)
}

var clauseKinds [KindDirectives + 1]clauseKind

func init() {
	clauseKinds = [...]clauseKind{
		KindLiteral:    {"a literal", startsLiteral, (*parser).literalClause, (*printer).literal, (*Mapping).literal, (*verifier).checkLiteral},
		KindOperands:   {"operands", startsParen, (*parser).operands, (*printer).operands, (*Mapping).operands, (*verifier).checkOperands},
		KindAttr:       {"an attribute", startsAttr, (*parser).attr, (*printer).attr, (*Mapping).attr, (*verifier).checkAttr},
		KindFlag:       {"a flag", startsWord, (*parser).flag, (*printer).flag, (*Mapping).flag, (*verifier).checkFlag},
		KindAxes:       {"axes", startsParen, (*parser).axes, (*printer).axes, (*Mapping).axes, (*verifier).checkAxes},
		KindConds:      {"conditions", startsParen, (*parser).conds, (*printer).conds, (*Mapping).conds, (*verifier).checkConds},
		KindReads:      {"reads", startsParen, (*parser).reads, (*printer).reads, (*Mapping).reads, (*verifier).checkReads},
		KindOuts:       {"outs", startsParen, (*parser).outs, (*printer).outs, (*Mapping).outs, (*verifier).checkOuts},
		KindCarry:      {"carried values", startsWord, (*parser).carry, (*printer).carry, (*Mapping).carry, (*verifier).checkCarry},
		KindBy:         {"a monoid", startsWord, (*parser).by, (*printer).by, (*Mapping).by, (*verifier).checkBy},
		KindRange:      {"a range", startsRange, (*parser).rangeClause, (*printer).rangeClause, (*Mapping).rangeClause, (*verifier).checkRange},
		KindExists:     {"dims", startsWord, (*parser).exists, (*printer).exists, (*Mapping).exists, (*verifier).checkExists},
		KindBlock:      {"a region", startsBlock, (*parser).block, (*printer).block, (*Mapping).block, (*verifier).checkBlock},
		KindVariants:   {"variants", startsWord, (*parser).variants, (*printer).variants, (*Mapping).variants, (*verifier).checkVariants},
		KindDirectives: {"directives", startsWord, (*parser).directivesClause, (*printer).directives, (*Mapping).directives, (*verifier).checkDirectives},
	}
}

// describeClause says what a row wants, for messages.
func describeClause(s ClauseSpec) string {
	what := clauseKinds[s.Kind].what
	if w := s.word(); w != "" {
		return "`" + w + "` (" + what + ")"
	}
	return what
}

func startsWord(p *parser, s ClauseSpec) bool { return p.tok().isWord(s.word()) }

func startsParen(p *parser, s ClauseSpec) bool {
	if w := s.word(); w != "" {
		return p.tok().isWord(w) && p.peek().is("(")
	}
	return p.at("(")
}

// startsAttr: an attribute without a word is a bare @name, as in tensor.call @f.
func startsAttr(p *parser, s ClauseSpec) bool {
	if s.word() == "" {
		return p.tok().kind == tokItem
	}
	return startsWord(p, s) && p.peek().is("=")
}

func startsBlock(p *parser, s ClauseSpec) bool {
	if s.word() != "" {
		return startsWord(p, s)
	}
	return p.at("{") || p.at("(")
}

func startsRange(p *parser, s ClauseSpec) bool {
	if s.word() != "" {
		return startsWord(p, s)
	}
	return p.tok().kind == tokWord && (p.peek().is("=") || p.peek().is(":"))
}

func startsLiteral(p *parser, s ClauseSpec) bool {
	if s.word() != "" {
		return startsWord(p, s)
	}
	t := p.tok()
	return t.kind == tokInt || t.kind == tokFloat || t.is("-") || t.isWord("inf", "nan", "true", "false")
}
