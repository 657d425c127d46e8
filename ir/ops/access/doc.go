// Package access is what the rows of the lower families share: staging the
// position of an element, a view of a buffer, reads and writes that tell a
// memory's watcher, and the moves from yielded to bound values; and the checks
// of operands that several rows make.
//
// It registers no op. It must stay free of the interpreter: all it knows of
// running is ir.Machine.
package access
