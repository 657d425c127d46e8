// Package tensor has the rows of the tensor family: tensor.comp, the
// comprehension in which nearly all programs are written, and the few ops on
// whole tensors that are no comprehension (reshape, concat, scatter, sort, ...).
//
// AsComp gives passes a view of a comp. The package knows no other op family;
// the scalar ops of a comp's region reach it through the Machine.
package tensor
