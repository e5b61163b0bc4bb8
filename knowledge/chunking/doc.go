// Package chunking cuts the text of a document into chunks, ready to embed.
//
// A chunk is a range of the text: whole sections and paragraphs where they fit, else whole
// sentences, rows or lines. Sizes are counted in cl100k_base tokens. The same document gives the
// same chunks.
//
//	blocks ──divide──► atoms (atom.go) ──pack──► spans ──merge (merge.go)──► chunks, counted exactly
//
// It has no database, no network and no clock.
package chunking
