package gemm

import (
	"fmt"

	"tenon/internal/num"
)

// Form is how an operand lies in memory.
type Form uint8

// The forms. A lies by rows, A[m, k], or by columns, A[k, m]. B lies by rows,
// B[k, n]; by columns, B[n, k]; or in panels of one vector each, [ceil(n/L), k,
// L], the last one filled up with zeros.
const (
	Rows Form = iota
	Columns
	Panels
)

func (f Form) String() string { return [...]string{"rows", "columns", "panels"}[f] }

// Key names a micro-kernel: Elem are the operands' elements, Acc the
// accumulators' and the tile's. The tile has MR rows and NV vectors of Lanes
// columns. With B by columns an accumulator is one element of the tile, in
// Lanes parts along k, and NV counts columns.
type Key struct {
	Elem, Acc     num.Elem
	MR, NV, Lanes int
	A, B          Form

	// BElem is the element type of B; Invalid: Elem.
	BElem num.Elem
	// Group is how many products a lane sums in one instruction: 2 or 4, 0 for 1.
	// Panels of B then have Group neighbours along k beside each other in a
	// lane: [ceil(n/L), ceil(k/Group), L*Group], zeros where k ends.
	Group int
	// Ahead is how many bytes of a panel, or of a column, before their use those
	// of B are fetched from memory; 0: not at all.
	Ahead int
}

// Name is the kernel's name, such as gemm_f32_6x16_rows_panels. All kernels of a
// module have the lanes of one machine, so these are no part of it.
func (k Key) Name() string {
	elem := k.Elem.String()
	if k.ElemOfB() != k.Elem {
		elem += k.ElemOfB().String()
	}
	if k.Acc != k.Elem {
		elem += k.Acc.String()
	}
	name := fmt.Sprintf("gemm_%s_%dx%d_%s_%s", elem, k.MR, k.Cols(), k.A, k.B)
	if k.Group > 1 {
		name += fmt.Sprintf("_by%d", k.Group)
	}
	if k.Ahead > 0 {
		name += fmt.Sprintf("_ahead%d", k.Ahead)
	}
	return name
}

// CostName is the extern of the kernel's cost table, which the caller adds.
func (k Key) CostName() string { return k.Name() + "_cost" }

// BodyName is the proc of the kernel's body.
func (k Key) BodyName() string { return k.Name() + "_body" }

// Cols is the number of columns of a full tile.
func (k Key) Cols() int {
	if k.dots() {
		return k.NV
	}
	return k.NV * k.Lanes
}

// ElemOfB is the element type of B.
func (k Key) ElemOfB() num.Elem {
	if k.BElem == num.Invalid {
		return k.Elem
	}
	return k.BElem
}

// dots reports that accumulators are sums along k.
func (k Key) dots() bool { return k.B == Columns }

// unit is the number of neighbours along k that a step takes.
func (k Key) unit() int {
	if k.dots() {
		return k.Lanes
	}
	return max(k.Group, 1)
}

// panelRow is the number of elements of B that a step reads of one panel.
func (k Key) panelRow() int { return k.Lanes * max(k.Group, 1) }

// possible reports whether the package makes such a kernel.
func (k Key) possible() bool {
	plain := k.Group <= 1 || k.A == Rows && k.B == Panels && groupedBy(k) != ""
	sums := !k.dots() || k.A == Rows
	exact := k.Acc.IsFloat() && k.Elem.IsFloat() && k.ElemOfB().IsFloat() && k.Acc.Bytes() >= max(k.Elem.Bytes(), k.ElemOfB().Bytes(), 4)
	whole := k.Acc == num.I32 && isByte(k.Elem) && isByte(k.ElemOfB())
	return k.A != Panels && plain && sums && (exact || whole) && (k.Ahead == 0 || k.B != Rows)
}

func isByte(e num.Elem) bool { return e == num.I8 || e == num.U8 }

// groupedBy is the row of the vec family that sums groups of k's products, ""
// if there is none. Bytes in pairs are widened to 16 bits, where no product of
// two and no sum of two products is lost.
func groupedBy(k Key) string {
	switch a, b := k.Elem, k.ElemOfB(); {
	case k.Group == 2 && a == num.BF16 && b == num.BF16 && k.Acc == num.F32:
		return "vec.dpbf16"
	case k.Group == 2 && isByte(a) && isByte(b):
		return "vec.dpwssd"
	case k.Group == 4 && a == num.U8 && b == num.I8:
		return "vec.dpbusd"
	case k.Group == 4 && a == num.I8 && b == num.I8:
		return "vec.dpbssd"
	case k.Group == 4 && a == num.U8 && b == num.U8:
		return "vec.dpbuud"
	}
	return ""
}
