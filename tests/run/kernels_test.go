package run

import (
	"fmt"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/microkernels/gemm"
)

// tiled is a product by one micro-kernel, tile by tile, whose operands lie as k
// wants them.
func tiled(t *testing.T, k gemm.Key) *ir.Module {
	t.Helper()
	kernel, body := gemm.Build(k, gemm.Machine{})
	items := ir.Print(&ir.Module{Items: []ir.Item{&ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body}})
	width := k.NV * k.Lanes
	a, aView := "M, K", "i:m, 0:K"
	if k.A == gemm.Columns {
		a, aView = "K, M", "0:K, i:m"
	}
	b, bView := "K, N", "0:K, j:n"
	if k.B == gemm.Panels {
		b, bView = fmt.Sprintf("(N + %d)//%d, K, %d", k.Lanes-1, k.Lanes, k.Lanes),
			fmt.Sprintf("j//%d:(n + %d)//%d, 0:K, 0:%d", k.Lanes, k.Lanes-1, k.Lanes, k.Lanes)
	}
	text := items + fmt.Sprintf(`
proc loop @product<M, N, K>(in %%A: buf<%[1]s[%[2]s]>, in %%B: buf<%[1]s[%[3]s]>, inout %%C: buf<%[1]s[M, N]>, in %%first: index) {
  loop.for j:n = 0 to N step %[4]d { loop.for i:m = 0 to M step %[5]d {
    loop.call @%[6]s(%%A[%[7]s], %%B[%[8]s], %%C[i:m, j:n], %%first) } }
  return() }
`, k.Elem, a, b, width, k.MR, k.BodyName(), aView, bView)
	return verified(t, text)
}

func verified(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse("kernels", text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// Bodies of micro-kernels, called tile by tile, agree with the interpreter on
// every number of rows and columns beside a tile, with pages that cannot be read
// behind and before the operands.
func TestMicroKernels(t *testing.T) {
	for _, on := range Machines {
		if why := on.Absent(); why != "" {
			t.Logf("SKIPPED on %s: %s", on.Name, why)
			continue
		}
		desc, err := on.Desc()
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range []gemm.Key{
			{Elem: num.F32, Acc: num.F32, MR: 6, NV: 2}, {Elem: num.F64, Acc: num.F64, MR: 4, NV: 3},
			{Elem: num.F32, Acc: num.F32, MR: 1, NV: 4, A: gemm.Columns}, {Elem: num.F64, Acc: num.F64, MR: 3, NV: 1, A: gemm.Columns},
		} {
			k.Lanes = desc.Lanes(k.Elem.Bytes())
			k.B = []gemm.Form{gemm.Rows, gemm.Panels}[i%2]
			t.Run(on.Name+"/"+k.Name(), func(t *testing.T) { kernelAgrees(t, on.At(3), k) })
		}
	}
}

func kernelAgrees(t *testing.T, on *Machine, k gemm.Key) {
	m := tiled(t, k)
	p, err := BuildFor(m, on)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f := ir.Lookup[*ir.Func](m, "product")
	width := int64(k.NV * k.Lanes)
	for i, n := range []int64{0, 1, int64(k.Lanes) - 1, int64(k.Lanes), width - 1, width, width + 1, 2*width + 3} {
		for j, rows := range []int64{0, 1, int64(k.MR), 2*int64(k.MR) - 1} {
			dims := map[string]int64{"M": rows, "N": n, "K": []int64{0, 1, 5, 33}[(i+j)%4]}
			args, ok := Draw(f, dims, Plain, uint64(8*i+j))
			if !ok {
				t.Fatalf("no arguments for %v", dims)
			}
			ref, err := Reference(m, f.Name, args)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []Layout{AllBefore, AllBehind} {
				if _, err := p.Check(f.Name, args, ref, nil, l); err != nil {
					t.Errorf("%v: %v", dims, err)
				}
			}
		}
	}
}

// product is a product with a bias at tile level, in two variants: operands as
// they lie, or B packed in blocks of K.
func product(t *testing.T, e num.Elem, lanes int) *ir.Module {
	t.Helper()
	var items []ir.Item
	var names []any
	for _, form := range []gemm.Form{gemm.Rows, gemm.Panels} {
		k := gemm.Key{Elem: e, Acc: e, MR: 3, NV: 2, Lanes: lanes, B: form}
		kernel, body := gemm.Build(k, gemm.Machine{})
		items = append(items, &ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body)
		names = append(names, k.Name())
	}
	text := ir.Print(&ir.Module{Items: items}) + fmt.Sprintf(`
proc tile @product<M, N, K>(in %%A: buf<%[1]s[M, K]>, in %%B: buf<%[1]s[K, N]>, in %%bias: buf<%[1]s[N]>, out %%C: buf<%[1]s[M, N]>) {
  tile.choose dims(M, N, K) variant direct where(guarded M <= 4) {
    tile.for j0:nn = 0 to N step %[2]d parallel { tile.for i0:mm = 0 to M step 3 {
      tile.call kernel=@%[4]s (%%C[i0:mm, j0:nn], K)
        a(i, l) { yield(load(%%A[i + i0, l])) } b(l, j) { yield(load(%%B[l, j + j0])) }
        epilogue(%%acc, i, j) { yield(max(add(%%acc, load(%%bias[j + j0])), 0.0: %[1]s)) } } }
  } variant packed {
    tile.for k0:kk = 0 to K step 5 once {
      %%Bp = loop.alloc : buf<%[1]s[(N + %[6]d)//%[3]d, kk, %[3]d]>
      tile.pack(%%B[k0:kk, 0:N], %%Bp) panel=%[3]d
      tile.for j0:nn = 0 to N step %[2]d parallel { tile.for i0:mm = 0 to M step 3 {
        tile.call kernel=@%[5]s (%%C[i0:mm, j0:nn], kk) first(k0 == 0) last(k0 + kk == K)
          a(i, l) { yield(load(%%A[i + i0, k0 + l])) } b(v, l, c) { yield(load(%%Bp[v + j0//%[3]d, l, c])) }
          epilogue(%%acc, i, j) { yield(max(add(%%acc, load(%%bias[j + j0])), 0.0: %[1]s)) } } } }
  } pick { yield(0: i32) }; return() }
`, append([]any{e, 2 * lanes, lanes}, append(names, lanes-1)...)...)
	return verified(t, text)
}

// What helix leaves, loops over tiles with packing and epilogues, agrees with the
// interpreter natively, where K is 0 too.
func TestTiles(t *testing.T) {
	for _, on := range Machines {
		if why := on.Absent(); why != "" {
			t.Logf("SKIPPED on %s: %s", on.Name, why)
			continue
		}
		desc, err := on.Desc()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(on.Name, func(t *testing.T) {
			for i, e := range []num.Elem{num.F32, num.F64} {
				tilesAgree(t, product(t, e, desc.Lanes(e.Bytes())), on.At(3*i))
			}
		})
	}
}

func tilesAgree(t *testing.T, m *ir.Module, on *Machine) {
	t.Helper()
	p, err := BuildFor(m, on)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f := ir.Lookup[*ir.Func](m, "product")
	for i, s := range [][3]int64{{0, 3, 4}, {1, 1, 1}, {3, 17, 5}, {4, 8, 0}, {5, 9, 0}, {7, 33, 12}, {13, 16, 5}, {9, 0, 4}} {
		args, ok := Draw(f, map[string]int64{"M": s[0], "N": s[1], "K": s[2]}, Plain, uint64(i))
		if !ok {
			t.Fatalf("no arguments for %v", s)
		}
		ref, err := Reference(m, f.Name, args)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []Layout{AllBefore, AllBehind, Layout(i)} {
			if _, err := p.Check(f.Name, args, ref, nil, l); err != nil {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
}
