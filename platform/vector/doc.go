// Package vector computes with vectors in memory: products, rotations, and the best of many scores.
//
// Sums are made in one order and without fused operations, so that every machine ranks alike.
//
// It knows no documents and stores nothing.
package vector
