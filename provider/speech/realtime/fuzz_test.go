package realtime

import (
	"strings"
	"testing"
	"unicode/utf8"

	"parlance.dev/parlance/provider/speech"
)

// FuzzReceive: whatever a server sends, partial transcripts are text.
func FuzzReceive(f *testing.F) {
	const prefix = `{"type":"conversation.item.input_audio_transcription.`
	f.Add(prefix + `delta","delta":"Hi"}` + "\n" + prefix + `delta","delta":" you"}` + "\n" + prefix + `completed","transcript":"Hi you."}`)
	f.Add(`{"type":"error","error":{"code":"input_audio_buffer_commit_empty"}}`)
	f.Add(prefix + `failed","error":{"type":"server_error"}}`)
	f.Fuzz(func(t *testing.T, lines string) {
		s := &stream{transcriber: &Transcriber{}, partialFunc: func(p speech.Partial) {
			if !utf8.ValidString(p.Text) || p.HeardMS != 0 {
				t.Errorf("partial %+v", p)
			}
		}}
		for line := range strings.Lines(lines) {
			if complete, err := s.receive([]byte(line)); complete && err != nil {
				t.Errorf("complete, and %v", err)
			}
		}
	})
}
