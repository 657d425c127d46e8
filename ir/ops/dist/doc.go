// Package dist registers the dist family: how a proc at the dist level finds
// the elements that its rank owns, and how ranks exchange them. A distributed
// buffer keeps its global shape and subscripts on every rank; the layout in its
// type says who owns which element and which copies of neighbours' elements
// (halos) a rank may hold.
//
// Running a proc at the dist level means running a copy of its body a rank, each
// on memory of its own. Distribute makes a rank's copy of an argument, Collect
// puts the owned parts of the ranks together again, and Phases counts the
// collectives that a rank has passed. While running, each access is checked: an
// element that is read is owned, or lies in a halo that was exchanged after its
// owner last wrote it; an element that is written is owned.
//
// The rules for a halo copy: it is stale if the owner wrote the element after
// the exchange and before the reader's last collective. Within one phase ranks
// are not ordered; there a copy counts as stale if its owner has written the
// element in this phase and the reader has written its own part before the
// read, as a sequential program would then have seen the new value.
//
// The package must stay free of targets and passes.
package dist
