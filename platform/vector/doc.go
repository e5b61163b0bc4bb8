// Package vector computes with vectors in memory: what many of them are compared by, and rotated with.
//
// A sum is made in one order on every machine, with the instructions of the processor where it has them and without
// (32 lanes, which are then folded), so that an order of passages by such sums is the same everywhere.
//
// It knows no documents and no ranking, and stores nothing.
package vector
