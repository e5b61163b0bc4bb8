// Package hashing is the built-in embedder: no model, no network, no state.
//
// A text becomes weighted features (its terms as package lexicon makes them, and runs of 3 and 4
// characters inside them, which forgive misspellings), hashed with a sign into 512 numbers and
// scaled to length 1. It compares words, not meanings: a question finds a passage that uses its
// words, and rarely one that paraphrases it. Its model's name says "lexical".
//
// There is no corpus in it, so vectors never go stale: how much a word says is a table for all
// texts, in which "system" counts less than "slipstream". Stemming is English for Latin scripts;
// other languages match by whole words and character runs.
//
// First is the model of 0.1.0, which other weights and pairs of words went into. Its vectors are
// compared with questions embedded by it until they are made anew.
package hashing
