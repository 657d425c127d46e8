package gemm

import (
	"fmt"

	"tenon/internal/num"
)

// Form is how an operand lies in memory.
type Form uint8

// The forms: A[m, k], B[k, n] by rows; A[k, m] by columns; B in panels of one
// vector each, [ceil(n/L), k, L], the last one filled up with zeros.
const (
	Rows Form = iota
	Columns
	Panels
)

func (f Form) String() string { return [...]string{"rows", "columns", "panels"}[f] }

// Key names a micro-kernel: Elem are the operands' elements, Acc the
// accumulators' and the tile's. The tile has MR rows and NV vectors of Lanes
// columns.
type Key struct {
	Elem, Acc     num.Elem
	MR, NV, Lanes int
	A, B          Form
}

// Name is the kernel's name, such as gemm_f32_6x16_rows_panels. All kernels of a
// module have the lanes of one machine, so these are no part of it.
func (k Key) Name() string {
	elem := k.Elem.String()
	if k.Acc != k.Elem {
		elem += k.Acc.String()
	}
	return fmt.Sprintf("gemm_%s_%dx%d_%s_%s", elem, k.MR, k.NV*k.Lanes, k.A, k.B)
}

// CostName is the extern of the kernel's cost table, which the caller adds.
func (k Key) CostName() string { return k.Name() + "_cost" }

// BodyName is the proc of the kernel's body.
func (k Key) BodyName() string { return k.Name() + "_body" }
