// Package utterance judges the words of a speaker while they speak: is the sentence finished, are
// these words an acknowledgement ("uh-huh", "ja") or a request to stop, is the value that the agent
// has asked for whole, are these the agent's own words.
//
// The words of English, German, French, Spanish, Italian, Portuguese and Dutch are tables
// (tables.go). Text is compared in lower case, without punctuation.
package utterance
