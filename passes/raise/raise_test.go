package raise_test

import (
	"fmt"
	"strings"
	"testing"

	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/passes/pass"
	"tenon/passes/raise"
)

// Every order of a product's loops ends as the same comprehension.
func TestOrders(t *testing.T) {
	extent := map[rune]string{'i': "M", 'j': "N", 'k': "K"}
	first := ""
	for _, order := range []string{"ijk", "ikj", "jik", "jki", "kij", "kji"} {
		var b strings.Builder
		b.WriteString("tenon ir 1\nproc loop @f<M, N, K>(in %A: buf<f64[M, K]>, in %B: buf<f64[K, N]>, inout %C: buf<f64[M, N]>) {\n")
		for _, index := range order {
			fmt.Fprintf(&b, "loop.for %c = 0 to %s {\n", index, extent[index])
		}
		b.WriteString("store(add(load(%C[i, j]), mul(load(%A[i, k]), load(%B[k, j]))), %C[i, j])\n}\n}\n}\nreturn()\n}\n")
		m, err := ir.Parse("f.tnir", b.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := (&pass.Manager{TempDir: t.TempDir()}).Run(m, pass.Of(raise.Raise)); err != nil {
			t.Fatal(err)
		}
		text := ir.Print(m)
		if !strings.Contains(text, "tensor.comp par(i < M, j < N) red(k < K)") || strings.Contains(text, "loop.") {
			t.Errorf("order %s ends as\n%s", order, text)
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("order %s ends as\n%s\nbut the first one as\n%s", order, text, first)
		}
	}
}
