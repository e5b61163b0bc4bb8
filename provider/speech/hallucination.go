package speech

import (
	"strings"
	"unicode"
)

// The limits below which a transcript is suspect. Source: voice design, Hearing; the second is the
// no_speech_threshold of Whisper's own reference code.
const (
	// ShortSpeechMS is the shortest detected speech in which anybody says a sentence.
	ShortSpeechMS = 300
	// ProbablyNoSpeech is the Transcript.NoSpeech from which on nobody spoke, probably.
	ProbablyNoSpeech = 0.6
)

// IsHallucination reports whether a transcript is what Whisper writes when nobody spoke, and is to
// be dropped. speechMS is how much speech a detector found in the utterance.
//
// A note about sounds alone ("[BLANK_AUDIO]", "(music)", "♪") is always one. The ends of videos
// that Whisper learnt from ("Thanks for watching!") are one when speechMS is less than
// ShortSpeechMS or the transcript's NoSpeech is above ProbablyNoSpeech, because people do say
// "Thank you."
func IsHallucination(t Transcript, speechMS int) bool {
	text := withoutNotes(t.Text)
	if text == "" {
		return strings.TrimSpace(t.Text) != ""
	}
	if speechMS >= ShortSpeechMS && t.NoSpeech <= ProbablyNoSpeech {
		return false
	}
	for _, sentence := range sentencesOf(text) {
		if !inventions[sentence] {
			return false
		}
	}
	return true
}

// withoutNotes removes what stands in brackets or between asterisks, and musical notes. The result
// is empty when no letter or digit is left.
func withoutNotes(text string) string {
	var out strings.Builder
	var closing rune
	for _, r := range text {
		switch {
		case closing != 0:
			if r == closing {
				closing = 0
			}
		case r == '[':
			closing = ']'
		case r == '(':
			closing = ')'
		case r == '*':
			closing = '*'
		default:
			out.WriteRune(r)
		}
	}
	if !strings.ContainsFunc(out.String(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return out.String()
}

// sentencesOf cuts a text at the ends of its sentences and brings each into the form of inventions:
// in lower case, letters and digits only, with single spaces. A dot ends a sentence when white
// space follows ("Amara.org" has none).
func sentencesOf(text string) []string {
	var all []string
	var words []string
	end := func() {
		if len(words) > 0 {
			all = append(all, strings.Join(words, " "))
			words = nil
		}
	}
	for _, field := range strings.Fields(strings.ToLower(text)) {
		parts := strings.FieldsFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
		words = append(words, parts...)
		if strings.HasSuffix(field, ".") || strings.ContainsAny(field, "!?…。！？") {
			end()
		}
	}
	end()
	return all
}
