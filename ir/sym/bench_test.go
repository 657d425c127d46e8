package sym

import "testing"

func BenchmarkAdd(b *testing.B) {
	x, y := Add(Name("i"), Mul(Name("N"), Name("k"))), Add(Name("j"), Const(3))
	for b.Loop() {
		Add(x, y)
	}
}

func BenchmarkProveInRange(b *testing.B) {
	f := NewFacts()
	for _, s := range []string{"b", "h", "i", "j", "d"} {
		f.AddRange(s, Const(0), Name("E"+s))
	}
	goal := Lt(Add(Name("i"), Const(-1)), Name("Ei"))
	for b.Loop() {
		if !f.Prove(goal) {
			b.Fatal("not proved")
		}
	}
}

func BenchmarkProveOffset(b *testing.B) {
	f := NewFacts()
	for _, s := range []string{"i", "j", "k"} {
		f.AddRange(s, Const(0), Name("E"+s))
	}
	i, j, k, ei, ej, ek := Name("i"), Name("j"), Name("k"), Name("Ei"), Name("Ej"), Name("Ek")
	goal := Lt(Add(Mul(Add(Mul(i, ej), j), ek), k), Mul(Mul(ei, ej), ek))
	for b.Loop() {
		if !f.Prove(goal) {
			b.Fatal("not proved")
		}
	}
}
