// simplify runs canonicalise, cse and dce until none finds anything to do.
//
// What one of them does may give work to another: two loads of one constant
// become one value, then x - x. After simplify a second run changes nothing, so
// that a program written out after it and read back compiles to the same code.
//
// Legal as its parts are; it does nothing that they do not.
package graph

import "tenon/passes/pass"

// Simplify brings functions to a form that canonicalise, CSE and DCE leave
// alone.
var Simplify = pass.Register(&pass.Pass{
	Name:    "simplify",
	Doc:     "canonicalise, merge common subexpressions and remove dead code until nothing changes",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			c.At(f, nil)
			for again := true; again; {
				again = canonicalise(c, f)
				again = cse(c, f) || again
				again = dce(c, f) || again
			}
		}
		return nil
	},
})
