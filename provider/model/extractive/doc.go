// Package extractive is the built-in offline responder. It is not a language model and says so:
// it quotes the sentences of the retrieved passages that bear on the question, with their
// source, says plainly when there is none, and calls a tool when the user types
// `/tool <slug> {json}`.
//
//	question ─► courtesy (hello, thanks, bye, in 15 languages): a short reply
//	         ─► content words (stemmed, without the stop words of its language)
//	         ─► names: written with a capital within a sentence ── in no passage: not answered
//	passage  ─► share of the words that stand in it ── under 0.65: not quoted
//	section  ─► what stands under one heading, or behind one question, of a passage: share of
//	            the words that no heading above it has ── half or less: not quoted
//	         ─► score: a match in its title counts a third more, words in one sentence half more
//	         ─► the sentences that answer, at most 3 of a section, of at most 3 sections
//
// A question that stands in a document is never the answer: what stands under it is. A row of a
// table is told with the heads of its columns.
//
// Where the agent has memory it takes plain English words for it: "my name is …", "what do you know
// about me?", "forget that", "forget everything" (memory.go).
//
// The floor is set to decline rather than to quote beside the point: of two content words one is
// not enough, and a passage that a heading says to be about one lamp is not quoted for another. So
// a question in other words than the document's is declined, in the question's language. In German,
// whose nouns have capitals, names are words as others. It looks at the last message only, so "and
// how long does that take?" has no subject for it. `task eval:answers` measures it.
package extractive
