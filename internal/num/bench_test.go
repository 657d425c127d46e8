package num

import (
	"math"
	"testing"
)

var sinkCell Cell
var sinkShadow Shadow

func BenchmarkMulAddF32(b *testing.B) {
	mul, add := Binary("mul", F32), Binary("add", F32)
	x, acc := FromFloat(1.5), FromFloat(0)
	for b.Loop() {
		acc = add(acc, mul(x, x))
	}
	sinkCell = acc
}

// The work of one point of a matmul's region with the shadow.
func BenchmarkShadowMulSumF32(b *testing.B) { benchShadow(b, F32, 1.1) }
func BenchmarkShadowMulSumF64(b *testing.B) { benchShadow(b, F64, 1.1) }

func benchShadow(b *testing.B, e Elem, x float64) {
	mul, smul, add := Binary("mul", e), ShadowBinary("mul", e), Binary("add", e)
	c := FromFloat(Round(e, x))
	s, acc := Exact(e, c), FromFloat(0)
	var sum SumShadow
	for b.Loop() {
		p := mul(c, c)
		acc = add(acc, p)
		sum.Add(smul(s, s, c, c, p))
	}
	sinkCell, sinkShadow = acc, sum.Result(e)
}

func BenchmarkShadowAddF32(b *testing.B) {
	op, c := ShadowBinary("add", F32), FromFloat(1.5)
	s, one := Shadow{1.5, 0, 1e-8}, Exact(F32, c)
	for b.Loop() {
		sinkShadow = op(s, one, c, c, c)
	}
}

func BenchmarkUnary(b *testing.B) {
	for _, name := range []string{"exp", "log", "tanh", "sin", "sigmoid"} {
		for _, e := range []Elem{F64, F32} {
			b.Run(name+"_"+e.String(), func(b *testing.B) {
				op, c := Unary(name, e), FromFloat(0.75)
				for b.Loop() {
					sinkCell = op(c)
				}
			})
		}
	}
	b.Run("pow_f64", func(b *testing.B) {
		for b.Loop() {
			sinkCell = FromFloat(Pow(1.7, 3.3))
		}
	})
	b.Run("sin_f64_large", func(b *testing.B) {
		for b.Loop() {
			sinkCell = FromFloat(Sin(1e300))
		}
	})
}

func BenchmarkBulk(b *testing.B) {
	for _, e := range Elems {
		cells, mem := make([]Cell, 1<<16), make([]byte, e.Bytes()<<16)
		for i := range cells {
			cells[i] = Cast(F64, e, FromFloat(math.Sqrt(float64(i))))
		}
		b.Run("encode_"+e.String(), func(b *testing.B) {
			b.SetBytes(int64(len(mem)))
			for b.Loop() {
				EncodeSlice(e, cells, mem)
			}
		})
		b.Run("decode_"+e.String(), func(b *testing.B) {
			b.SetBytes(int64(len(mem)))
			for b.Loop() {
				DecodeSlice(e, mem, cells)
			}
		})
	}
}
