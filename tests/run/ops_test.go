package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/ops/scalar"
)

// Every scalar op on every element type that has it, every cast, and every
// built-in reduction, also over nothing and under guards.
func TestEveryOpOnEveryType(t *testing.T) {
	var all interp.Report
	var mu sync.Mutex
	t.Cleanup(func() { judged(t, all) }) // products of many f16 leave its range
	for _, e := range num.Elems {
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			text := "tenon ir 1\n" + elementwise(e, 1) + elementwise(e, 2) + elementwise(e, 3) + casts(e) + reductions(e)
			m, err := ir.Parse("ops.tnir", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			programs := builds(t, m)
			for _, f := range m.Funcs() {
				var sizes []map[string]int64
				for _, n := range lengths(e) {
					sizes = append(sizes, map[string]int64{"N": n, "M": 3})
					if !Whole() {
						sizes = append(sizes, map[string]int64{"N": n, "M": 2})
					}
				}
				r := agrees(t, m, f, sizes, programs)
				mu.Lock()
				all.Add(r)
				mu.Unlock()
			}
		})
	}
}

// lengths are the sizes to try: some, or all up to three of the longest vectors
// and one element more.
func lengths(e num.Elem) (ns []int64) {
	if !Whole() {
		return []int64{0, 1, 7, 67}
	}
	for n := range int64(3*64/e.Bytes() + 2) {
		ns = append(ns, n)
	}
	return ns
}

// functions spreads results over funcs of a few each: the entry of a compiled
// function compares every two tensors of which one is written.
func functions(name string, e num.Elem, arity int, results []string) string {
	text := ""
	for i, chunk := range slices.Collect(slices.Chunk(results, 6)) {
		text += function(fmt.Sprintf("%s_%d", name, i), e, arity, chunk)
	}
	return text
}

// function is a func over vectors %a, %b, .. with one comp a result.
func function(name string, e num.Elem, arity int, results []string) string {
	if len(results) == 0 {
		return ""
	}
	var params, types, bodies, names []string
	for i := range arity {
		params = append(params, fmt.Sprintf("%%%c: %s[N]", 'a'+i, e))
	}
	for i, r := range results {
		body, typ, _ := strings.Cut(r, "|")
		types = append(types, typ)
		names = append(names, fmt.Sprintf("%%r%d", i))
		reads := make([]string, arity)
		for k := range arity {
			reads[k] = fmt.Sprintf("%%%c = %%%c[i]", 'x'+k, 'a'+k)
		}
		bodies = append(bodies, fmt.Sprintf("  %%r%d = tensor.comp par(i < N) in(%s) { yield(%s) } : %s", i, strings.Join(reads, ", "), body, typ))
	}
	return fmt.Sprintf("func tensor @%s_%s<N>(%s) -> (%s) {\n%s\n  return(%s) }\n",
		name, e, strings.Join(params, ", "), strings.Join(types, ", "), strings.Join(bodies, "\n"), strings.Join(names, ", "))
}

func elementwise(e num.Elem, arity int) string {
	var results []string
	for _, op := range llvm.OpNames() {
		if llvm.OpArgs(op) != arity || !scalar.HasOp(op, arity, e) {
			continue
		}
		typ := e.String()
		if ir.LookupOp(op).Traits.Has(ir.Comparison) {
			typ = "bool"
		}
		results = append(results, op+"("+strings.Join([]string{"%x", "%y", "%z"}[:arity], ", ")+")|"+typ+"[N]")
	}
	return functions(fmt.Sprintf("ops%d", arity), e, arity, results)
}

func casts(e num.Elem) string {
	var results []string
	for _, to := range num.Elems {
		results = append(results, fmt.Sprintf("cast(%%x): %s|%s[N]", to, to))
	}
	return functions("casts", e, 1, results)
}

// reductions folds the rows of a matrix by each built-in monoid, whole and
// below the diagonal.
func reductions(e num.Elem) string {
	names := []string{"sum", "prod", "max", "min"}
	if e == num.Bool {
		names = []string{"any", "all"}
	}
	var bodies, types, results []string
	add := func(guard, extent, by, yield, typ string, k int) {
		var rs, ts []string
		for range k {
			rs = append(rs, fmt.Sprintf("%%r%d", len(results)))
			results = append(results, rs[len(rs)-1])
		}
		ts = strings.Split(typ, ";")
		types = append(types, ts...)
		bodies = append(bodies, fmt.Sprintf("  %s = tensor.comp par(m < M) red(i < %s)%s in(%%x = %%a[m, i]) { yield(%s) } by %s : %s",
			strings.Join(rs, ", "), extent, guard, yield, by, strings.Join(ts, ", ")))
	}
	for _, n := range names {
		by := fmt.Sprintf("%s(%s)", n, e)
		add("", "N", by, "%x", fmt.Sprintf("%s[M]", e), 1)
		add(" if(i <= m)", "N", by, "%x", fmt.Sprintf("%s[M]", e), 1)
		add(" if(m < i) ", "N", by+" empty("+ir.FormatLiteral(e, oneCell(e))+")", "%x", fmt.Sprintf("%s[M]", e), 1)
	}
	if e != num.Bool {
		for _, n := range []string{"argmax", "argmin"} {
			by := fmt.Sprintf("%s(%s, i64)", n, e)
			typ := fmt.Sprintf("%s[M];i64[M]", e)
			add("", "N", by, "%x, idx(i): i64", typ, 2)
			add("", "N", by+" empty("+ir.FormatLiteral(e, oneCell(e))+", -1)", "%x, idx(i): i64", typ, 2)
			add(" if(m < i)", "N", by, "%x, idx(i): i64", typ, 2)
		}
	}
	return fmt.Sprintf("func tensor @folds_%s<M, N>(%%a: %s[M, N]) -> (%s) {\n%s\n  return(%s) }\n",
		e, e, strings.Join(types, ", "), strings.Join(bodies, "\n"), strings.Join(results, ", "))
}

func oneCell(e num.Elem) num.Cell {
	switch {
	case e == num.Bool:
		return num.FromBool(true)
	case e.IsFloat():
		return num.FromFloat(1)
	}
	return num.FromInt(1)
}
