// Package extractive is the built-in offline responder. It is not a language model and says so:
// it quotes the sentences of the retrieved passages that bear on the question, with their
// source, says plainly when there is none, and calls a tool when the user types
// `/tool <slug> {json}`.
//
//	question ─► content words (stemmed, without stop words)
//	         ─► names: written with a capital within a sentence ── in no passage: not answered
//	passage  ─► share of the words that stand in it ── under 0.65: not quoted
//	         ─► coverage: the same, a match in its nearest heading counts a third more
//	         ─► its best sentences, at most 3 quotes in all
//
// Where the agent has memory it takes plain English words for it: "my name is …", "what do you know
// about me?", "forget that", "forget everything" (memory.go).
//
// The floor is set to decline rather than to quote beside the point: of two content words one is
// not enough, and a passage that a heading says to be about one lamp is not quoted for another. A
// small word may still be outvoted: of "warranty borealis lamp", without a capital, two are enough.
// It knows English stop words and endings; other languages are matched word by word, and in German,
// whose nouns have capitals, names are words as others. It looks at the last message only, so "and
// how long does that take?" has no subject for it.
package extractive
