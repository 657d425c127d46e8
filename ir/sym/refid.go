package sym

import (
	"sync"
	"sync/atomic"
)

// RefWithID is a Ref that brings its own identity: a number that no other
// value of the process has. Implementing it saves this package a table entry
// that keeps the value alive.
type RefWithID interface {
	Ref
	RefID() uint64
}

var (
	refIDs  sync.Map // Ref -> uint64
	refNext atomic.Uint64
)

// ownID marks the numbers given here, so that they never meet those of RefID.
const ownID = 1 << 63

func refID(r Ref) uint64 {
	if w, ok := r.(RefWithID); ok {
		return w.RefID() &^ ownID
	}
	if id, ok := refIDs.Load(r); ok {
		return id.(uint64)
	}
	id, _ := refIDs.LoadOrStore(r, refNext.Add(1)|ownID)
	return id.(uint64)
}
