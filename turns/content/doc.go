// Package content decides in which form the content of a conversation is stored: as it was said,
// redacted, or sealed (agents.Privacy). A Store is a decorator of a turns.Store, outside of the one
// that keeps turns on disk, so that the disk has the same form as Postgres.
//
//	turns ──as it was said──► content ──as it is stored──► journal ──► pgstore
//
// A turn is answered from what was said in it. What an earlier Accept has stored is therefore kept
// in memory until its turn begins; a turn that begins on another node is answered from what is
// stored. Earlier turns are read as they are stored, redacted; what is sealed is opened.
package content
