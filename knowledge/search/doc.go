// Package search finds chunks by meaning and by words, and ranks them. It is the only place that
// ranks.
//
// A set is the chunks that one run of ingestion has made of a source. A set never changes: a source
// that is processed again gets a new set with a new number. So whatever is read of a set is cached
// under its number, and no cache has to be told of a change. Which sets an agent may see is asked
// of Postgres at each search, by the caller.
//
//	question ─► codes of all chunks ─► the nearest few hundred ─┐
//	     └────► postings of its words ─► the best by BM25 ──────┴─► vectors ─► order, floor, fusion
//
// Codes (codes.go) are a bit for each number of a vector. They are compared in memory for all
// chunks. The vectors of the best few hundred are read, from the cache or from Postgres, and their
// cosines alone decide on order, floor and answer. Hybrid ranking fuses that order with the one by
// words (bm25.go) and refines it by what the best chunks talk about (fuse.go).
//
// How rare a word is, and how long a chunk usually is, is counted over exactly the sets that are
// searched; a set's language decides its words.
//
// Tables: source_words, source_postings, source_codes; it reads chunks. It knows no agents, reads
// no texts and makes no vectors.
package search
