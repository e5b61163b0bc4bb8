package utterance

import (
	"strings"
	"unicode"
)

// Ending is what the words of an utterance say about its end.
type Ending int

const (
	// Open words can be all or not: "I want to book".
	Open Ending = iota
	// Finished words end a sentence.
	Finished
	// Unfinished words have something to come after them, or are digits that are read out.
	Unfinished
	// Partial words are the beginning of a value that the agent has asked for.
	Partial
)

// readOut is from how many digits at the end on a text counts as digits that are read out.
const readOut = 3

// Ending judges the words of an utterance so far, when the agent has asked for the value. digits is
// how many a whole number has; 0 when that is not known.
func (r *Rules) Ending(text string, asked Value, digits int) Ending {
	words := Words(text)
	if len(words) == 0 {
		return Open
	}
	switch r.completeness(words, asked, digits) {
	case partial:
		return Partial
	case perhaps:
		return Unfinished
	case whole:
		return Finished
	case absent:
	}
	// A transcriber ends a piece of speech with a full stop even where the sentence goes on.
	if r.dangling.endIn(words) || strings.HasSuffix(strings.TrimSpace(text), ",") || trailsOff(text) {
		return Unfinished
	}
	if r.trailingDigits(words) >= readOut {
		return Unfinished
	}
	if endsSentence(text) {
		return Finished
	}
	return Open
}

func trailsOff(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") || strings.HasSuffix(text, "-")
}

func endsSentence(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'”’»)`, r)
	})
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!")
}
