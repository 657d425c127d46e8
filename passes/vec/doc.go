// Package vec holds the passes that turn loops into loops of vectors. The
// machine is known to them as options alone: how many bytes a vector register
// has, whether memory can be masked, how many accumulators keep the units busy.
package vec
