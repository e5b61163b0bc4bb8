// Package hashing is the built-in embedder: no model, no network, no state.
//
// A text becomes weighted features (stemmed words, pairs of neighbouring words, and runs of 3
// and 4 characters inside words, which forgive misspellings), hashed with a sign into 512
// numbers and scaled to length 1. It compares words, not meanings: a question finds a passage
// that uses its words, and rarely one that paraphrases it. Its model's name says "lexical".
//
// There is no corpus in it (no idf), so vectors never go stale. Words of every text, such as
// "the" and "how", count little. Stemming is English; other languages match by whole words
// and character runs.
package hashing
