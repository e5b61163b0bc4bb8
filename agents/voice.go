package agents

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"unicode/utf8"

	"parlance.dev/parlance/platform/jsonvalue"
)

// Transcriber is what is known of Voice.STT. Empty fields are the installation's.
type Transcriber struct {
	// Provider is one of workspaces.Providers(workspaces.CredentialSTT).
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Language is a BCP 47 tag. Empty: that of the session.
	Language string `json:"language"`
	// Keywords are words that may be said and are hard to know: names, products.
	Keywords []string `json:"keywords"`
}

// Synthesizer is what is known of Voice.TTS. Empty fields are the installation's or the voice's
// own. What a provider does not take is not sent to it.
type Synthesizer struct {
	// Provider is one of workspaces.Providers(workspaces.CredentialTTS), or espeak-ng.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Language is a BCP 47 tag. Empty: that of the session.
	Language string `json:"language"`
	// Voice is a name or id of the provider's.
	Voice string `json:"voice"`
	// Speed is relative to the voice's own, from 0.25 to 4.
	Speed *float64 `json:"speed"`
	// Stability and SimilarityBoost are ElevenLabs', from 0 to 1.
	Stability       *float64 `json:"stability"`
	SimilarityBoost *float64 `json:"similarity_boost"`
	// Instructions say how to speak ("calm and friendly").
	Instructions string `json:"instructions"`
}

// Transcriber reads STT. Members of another type than theirs are left out, as are unknown ones:
// agents store any object.
func (v Voice) Transcriber() Transcriber { return readPart[Transcriber](v.STT) }

// Synthesizer reads TTS as Transcriber reads STT.
func (v Voice) Synthesizer() Synthesizer { return readPart[Synthesizer](v.TTS) }

func readPart[T any](part json.RawMessage) (known T) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(part, &members) // what is no object has none
	for name, value := range members {
		one, _ := json.Marshal(map[string]json.RawMessage{name: value}) // it was decoded before
		with := known
		if json.Unmarshal(one, &with) == nil {
			known = with
		}
	}
	return known
}

const (
	// minSpeed and maxSpeed are OpenAI's bounds for speech.
	minSpeed, maxSpeed = 0.25, 4
	// maxVoiceChars bounds the names of models and voices, maxSpeakingChars the instructions, and the
	// others the words that a transcriber is told.
	maxVoiceChars    = 200
	maxSpeakingChars = 2000
	maxKeywords      = 100
	maxKeywordChars  = 100
)

// ParseTranscriber reads an object like Voice.STT. Unknown members are left out. Errors: a known
// member has another type or an impossible value, or another case (jsonvalue.UnknownMember).
// Providers and languages are not checked.
func ParseTranscriber(part json.RawMessage) (Transcriber, error) {
	var known Transcriber
	if unknown := jsonvalue.FindMisspelled(part, reflect.TypeFor[Transcriber]()); unknown != nil { // the decoder ignores case
		return known, unknown
	}
	bad := func(word string) bool { return word == "" || isLong(word, maxKeywordChars) }
	if json.Unmarshal(part, &known) != nil || isLong(known.Model, maxVoiceChars) || len(known.Keywords) > maxKeywords ||
		slices.ContainsFunc(known.Keywords, bad) {
		return known, errors.New("provider, model (at most 200 characters) and language are strings, and keywords is a list of at " +
			"most 100 strings of 1 to 100 characters")
	}
	return known, nil
}

// ParseSynthesizer reads an object like Voice.TTS as ParseTranscriber reads one like Voice.STT.
func ParseSynthesizer(part json.RawMessage) (Synthesizer, error) {
	var known Synthesizer
	if unknown := jsonvalue.FindMisspelled(part, reflect.TypeFor[Synthesizer]()); unknown != nil {
		return known, unknown
	}
	if json.Unmarshal(part, &known) != nil || !isWithin(known.Speed, minSpeed, maxSpeed) ||
		!isWithin(known.Stability, 0, 1) || !isWithin(known.SimilarityBoost, 0, 1) ||
		isLong(known.Model, maxVoiceChars) || isLong(known.Voice, maxVoiceChars) || isLong(known.Instructions, maxSpeakingChars) {
		return known, errors.New("provider, model and voice (at most 200 characters), language and instructions (at most 2,000) are " +
			"strings, speed is a number from 0.25 to 4, and stability and similarity_boost are numbers from 0 to 1")
	}
	return known, nil
}

func isLong(text string, maxChars int) bool { return utf8.RuneCountInString(text) > maxChars }

// isWithin reports whether a number that may be left out is in its range.
func isWithin(number *float64, least, most float64) bool {
	return number == nil || *number >= least && *number <= most
}
