// Package weights moves arrays between files and programs: it reads npy, npz
// and safetensors, writes npy and npz, and evaluates the VALUE grammar of the
// command line
//
//	FILE[:MEMBER][slice][ as DTYPE]
//	37, -1.5e3, inf, true
//	rand(2,3), zeros(2,3), iota(6), each with an optional :seed
//
// Files are memory-mapped. An array points into the mapping where the layout
// allows it (Fortran order and slices are strides); bytes are copied only for
// big-endian or misaligned data, for compressed npz members and for a cast
// that was asked for. Nothing is converted unasked.
//
// A file is not trusted. Every length that it states is checked against what
// is there before anything is allocated, size products may not overflow, an
// allocation is held against the memory of the machine, headers are limited
// (npy 128 KiB, safetensors 16 MiB), pickles are never loaded. A fault of a file
// is a *diag.Error that names the file, a fault of a VALUE's spelling a
// *diag.Usage.
//
// The formats: NumPy's numpy/lib/format.py (npy versions 1, 2 and 3), PKWARE's
// APPNOTE with zip64, and the safetensors README. The headers are parsed here
// and not by npyio or nlpodyssey/safetensors because those allocate by the
// length that a header states, panic on a malformed dictionary, or keep the
// last of two tensors of one name; tests hold this package against both.
//
// The package imports internal/diag and internal/num only. It must stay free
// of IR: it knows element types and shapes, not programs.
package weights
