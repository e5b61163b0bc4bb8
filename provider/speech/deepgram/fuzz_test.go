package deepgram

import (
	"strings"
	"testing"

	"parlance.dev/parlance/provider/speech"
)

// FuzzReceive: whatever a server sends, the transcript stays in its bounds.
func FuzzReceive(f *testing.F) {
	f.Add(`{"type":"Results","start":0.5,"duration":1.5,"is_final":true,"speech_final":true,"channel":{"alternatives":[{"transcript":"Hi.",` +
		`"languages":["en"],"words":[{"word":"hi","punctuated_word":"Hi.","start":0.6,"end":1e300}]}]}}`)
	f.Add(`{"type":"UtteranceEnd","channel":[0,1],"last_word_end":2.1}`)
	f.Add(`{"type":"Metadata"}`)
	f.Add(`{"type":"Results","channel":{"alternatives":[]}}` + "\n" + `{"type":"Error","variant":"x","err_code":"y"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		told := 0
		s := &stream{transcriber: &Transcriber{}, separator: " ", partialFunc: func(p speech.Partial) {
			if told++; p.HeardMS < 0 || p.HeardMS > 2*int(speech.MaxUtterance.Milliseconds()) {
				t.Errorf("a partial of %d ms", p.HeardMS)
			}
		}}
		for line := range strings.Lines(lines) {
			if complete, err := s.receive([]byte(line)); complete && err != nil {
				t.Errorf("complete, and %v", err)
			}
		}
		for _, w := range s.heard.Words {
			if w.StartMS < 0 || w.EndMS < 0 {
				t.Errorf("word %+v", w)
			}
		}
	})
}
