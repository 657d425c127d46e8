// Package cache keeps what was made at a cost under a hash of all that it was
// made from, in a folder that several processes share.
//
// An entry is a file: a header with the length and the hash of the content, and
// the content. It is written under a temporary name and renamed, so that a
// process that is killed leaves no half of one; whoever reads it checks the
// hash, so that a damaged one is never used. The folder is bounded: entries
// that were not used for longest go first.
//
// Nothing fails because of the cache: what cannot be read is made anew, what
// cannot be written is not kept, and either is said once.
//
// The package imports nothing of Tenon's, and knows nothing of programs.
package cache
