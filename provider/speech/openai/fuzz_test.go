package openai

import (
	"encoding/json"
	"testing"
)

// FuzzAnswer: whatever a server answers, probabilities and times are in their range.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"text":" Hi.","language":"english","words":[{"word":"Hi.","start":0.1,"end":0.4}],"segments":[{"no_speech_prob":0.2}]}`)
	f.Add(`{"text":"x","segments":[{"no_speech_prob":7,"words":[{"word":"a","start":-1,"end":1e300},{"word":"b"},{"word":" c"}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a answer
		if json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		if p := a.noSpeech(); p < 0 || p > 1 {
			t.Errorf("no speech %v", p)
		}
		for _, w := range a.words() {
			if w.StartMS < 0 || w.EndMS < 0 {
				t.Errorf("word %+v", w)
			}
		}
	})
}
