package pass

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/ir"
)

// Pass is one transformation of a module.
type Pass struct {
	Name    string   // kebab-case; the file has the same words with underscores
	Doc     string   // one line, imperative
	After   []string // passes that must not come later in a list that has both
	Options []Option
	// Reassociates says that float results may change within the bounds of the
	// agreement rule; without it a pass must keep every bit.
	Reassociates bool
	// Approximates says that functions may become formulas within the ulps that
	// are stated for them. Formulas read bits as numbers, of which no bound is
	// known: results are held to the bounds of the module before the pass.
	Approximates bool
	// Counted says that the pass asks Context.Apply, or May and Did, for each of
	// its applications; it then has the option limit.
	Counted bool
	Run     func(c *Context) error
}

// Option is a parameter of a pass, given as --passes=name{key=value}.
type Option struct {
	Name    string
	Default string
	Doc     string
}

// Freedom says how far the results of a module may be from those of another
// that stands for it. The greater includes the less.
type Freedom int

const (
	Exact        Freedom = iota // every bit is the same
	Reassociated                // within the larger of the bounds of both
	Approximated                // within the bounds of the one before
)

// Freedom is what the pass may do to results.
func (p *Pass) Freedom() Freedom {
	switch {
	case p.Approximates:
		return Approximated
	case p.Reassociates:
		return Reassociated
	}
	return Exact
}

// Context is what a running pass sees.
type Context struct {
	Module  *ir.Module
	pass    *Pass
	options map[string]string
	remarks []Remark
	told    map[string]bool // what remarks holds
	fn      *ir.Func
	op      *ir.Op
	limit   int // of applications; -1: none
	applied int
	lastOp  *ir.Op // of the last application
}

func newContext(m *ir.Module, in Instance) *Context {
	return &Context{Module: m, pass: in.Pass, options: in.Options, limit: in.limitOf()}
}

// At notes the function and op in hand (either may be nil), for the report of a
// crash.
func (c *Context) At(f *ir.Func, op *ir.Op) { c.fn, c.op = f, op }

// Remark is a transformation that a pass made, or did not make, and why.
type Remark struct {
	Pass   string
	Func   string
	Loc    ir.Loc
	Done   bool
	Reason string
}

// Decline records why the pass left something at loc alone; the same twice
// counts once, since a pass may come round again.
func (c *Context) Decline(loc ir.Loc, format string, args ...any) {
	c.remark(loc, false, fmt.Sprintf(format, args...))
}

// Done records what the pass did at loc, and why it is better so.
func (c *Context) Done(loc ir.Loc, format string, args ...any) {
	c.remark(loc, true, fmt.Sprintf(format, args...))
}

func (c *Context) remark(loc ir.Loc, done bool, reason string) {
	r := Remark{Pass: c.pass.Name, Loc: loc, Done: done, Reason: reason}
	if c.fn != nil {
		r.Func = c.fn.Name
	}
	key := fmt.Sprint(r.Func, " ", loc, " ", done, " ", reason)
	if c.told[key] {
		return
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[key] = true
	c.remarks = append(c.remarks, r)
}

// Funcs are the functions that passes work on: all but the bodies of
// micro-kernels, which are finished code.
func (c *Context) Funcs() (list []*ir.Func) {
	bodies := c.Module.Bodies()
	for _, f := range c.Module.Funcs() {
		if !bodies[f.Name] {
			list = append(list, f)
		}
	}
	return list
}

// Option is the value of an option, or its default.
func (c *Context) Option(name string) string {
	if v, ok := c.options[name]; ok {
		return v
	}
	for _, o := range c.pass.Options {
		if o.Name == name {
			return o.Default
		}
	}
	diag.Bugf("pass %s asks for an option %q that it does not declare", c.pass.Name, name)
	return ""
}

// Int is an option's value as an integer; Instance has checked that it is one
// wherever the default is.
func (c *Context) Int(name string) int64 {
	n, _ := strconv.ParseInt(c.Option(name), 10, 64)
	return n
}

var registry = map[string]*Pass{}

// Register adds a pass; packages of passes do so in package-level variables.
func Register(p *Pass) *Pass {
	if registry[p.Name] != nil {
		diag.Bugf("pass %s registered twice", p.Name)
	}
	registry[p.Name] = p
	return p
}

// All lists the registered passes by name.
func All() []*Pass {
	var ps []*Pass
	for _, p := range registry {
		ps = append(ps, p)
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].Name < ps[j].Name })
	return ps
}

// Instance is a pass with its options.
type Instance struct {
	Pass    *Pass
	Options map[string]string
}

// String is the instance as in --passes.
func (in Instance) String() string {
	var opts []string
	for k, v := range in.Options {
		opts = append(opts, k+"="+v)
	}
	if len(opts) == 0 {
		return in.Pass.Name
	}
	sort.Strings(opts)
	return in.Pass.Name + "{" + strings.Join(opts, " ") + "}"
}

// List is the text that Parse reads as these passes.
func List(passes []Instance) string {
	names := make([]string, len(passes))
	for i, in := range passes {
		names[i] = in.String()
	}
	return strings.Join(names, ",")
}

// Of makes instances with default options.
func Of(passes ...*Pass) []Instance {
	var out []Instance
	for _, p := range passes {
		out = append(out, Instance{Pass: p})
	}
	return out
}

// Parse reads a list such as `inline,tile{i=32 j=8},dce`.
func Parse(list string) ([]Instance, error) {
	var out []Instance
	for rest := strings.TrimSpace(list); rest != ""; {
		end := strings.IndexAny(rest, ",{")
		name, opts := rest, ""
		switch {
		case end < 0:
			rest = ""
		case rest[end] == ',':
			name, rest = rest[:end], rest[end+1:]
		default:
			closing := strings.IndexByte(rest, '}')
			if closing < end {
				return nil, diag.Usagef("--passes: %q has a { without a }", rest)
			}
			name, opts, rest = rest[:end], rest[end+1:closing], strings.TrimPrefix(strings.TrimSpace(rest[closing+1:]), ",")
		}
		in, err := instance(strings.TrimSpace(name), opts)
		if err != nil {
			return nil, err
		}
		out = append(out, in)
		rest = strings.TrimSpace(rest)
	}
	return out, checkOrder(out)
}

func instance(name, opts string) (Instance, error) {
	p := registry[name]
	if p == nil {
		return Instance{}, diag.Usagef("no pass %q%s; `tenon passes` lists them", name, nearest(name))
	}
	in := Instance{Pass: p, Options: map[string]string{}}
	for _, kv := range strings.FieldsFunc(opts, func(r rune) bool { return r == ' ' || r == ',' }) {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return in, diag.Usagef("pass %s: option %q is not of the form name=value", name, kv)
		}
		if err := p.checkOption(k, v); err != nil {
			return in, err
		}
		in.Options[k] = v
	}
	return in, nil
}

func (p *Pass) checkOption(name, value string) error {
	var known []string
	if p.Counted {
		if known = append(known, limitOption); name == limitOption {
			return p.checkLimit(value)
		}
	}
	for _, o := range p.Options {
		known = append(known, o.Name)
		if o.Name != name {
			continue
		}
		if _, err := strconv.ParseInt(o.Default, 10, 64); err == nil {
			if _, err := strconv.ParseInt(value, 10, 64); err != nil {
				return diag.Usagef("pass %s: option %s takes an integer, not %q", p.Name, name, value)
			}
		}
		return nil
	}
	if len(known) == 0 {
		return diag.Usagef("pass %s takes no options", p.Name)
	}
	return diag.Usagef("pass %s has no option %q; it has %s", p.Name, name, strings.Join(known, ", "))
}

func checkOrder(list []Instance) error {
	at := map[string]int{}
	for i, in := range list {
		at[in.Pass.Name] = i
	}
	for i, in := range list {
		for _, a := range in.Pass.After {
			if j, ok := at[a]; ok && j > i {
				return diag.Usagef("pass %s must come after %s", in.Pass.Name, a)
			}
		}
	}
	return nil
}

// nearest suggests a registered name that differs little from name.
func nearest(name string) string {
	for _, p := range All() {
		if p.Name != "" && (strings.HasPrefix(p.Name, name) || strings.HasPrefix(name, p.Name)) {
			return fmt.Sprintf(" (did you mean %s?)", p.Name)
		}
	}
	return ""
}
