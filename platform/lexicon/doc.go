// Package lexicon turns text into the terms that a word index is made of, by language.
//
//	text ─ words (UAX #29) ─ NFKC, lower case ─ no stop words ─ stem ─ no accents ─► terms
//
// Scripts that do not put spaces between words (Chinese, Japanese, Korean, Thai …) become pairs of
// neighbouring characters. A language is its two-letter code ("en"); the empty one is a language
// that is not known, whose Latin words are treated as English. A word in another script than its
// language's is treated by its script, so an English name in a Russian text is found.
//
// Whoever stores terms stores [Version] with them: terms of different versions do not match.
//
// It knows no documents and no ranking.
package lexicon
