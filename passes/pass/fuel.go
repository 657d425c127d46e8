package pass

import (
	"strconv"

	"tenon/internal/diag"
	"tenon/ir"
)

// A pass that is Counted asks before each of its applications (a rewrite, a
// fusion, a removal) whether it may, so that it can be limited to the first so
// many: `--passes=name{limit=3}`. That is how --bisect finds the one application
// that is wrong. A pass asks in an order that depends on the module alone.

// limitOption is the option that every Counted pass has.
const limitOption = "limit"

// May reports whether the pass may apply itself once more.
func (c *Context) May() bool { return c.limit < 0 || c.applied < c.limit }

// Did counts an application, at op.
func (c *Context) Did(op *ir.Op) {
	c.applied++
	c.lastOp = op
}

// Apply is May and, where that is so, Did: for a pass that knows before it acts
// that it will.
func (c *Context) Apply(op *ir.Op) bool {
	if !c.May() {
		return false
	}
	c.Did(op)
	return true
}

// limitOf is how often in may apply itself, -1 for as often as it likes.
func (in Instance) limitOf() int {
	n, err := strconv.Atoi(in.Options[limitOption])
	if err != nil {
		return -1
	}
	return n
}

// withLimit is in, limited to its first n applications.
func (in Instance) withLimit(n int) Instance {
	options := map[string]string{limitOption: strconv.Itoa(n)}
	for k, v := range in.Options {
		if k != limitOption {
			options[k] = v
		}
	}
	return Instance{in.Pass, options}
}

// checkLimit checks the value of the option limit.
func (p *Pass) checkLimit(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return diag.Usagef("pass %s: option %s takes a number of applications, not %q", p.Name, limitOption, value)
	}
	return nil
}
