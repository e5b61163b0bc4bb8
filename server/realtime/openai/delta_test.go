package openai

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzDelta compares the delta's own encoding with encoding/json's.
func FuzzDelta(f *testing.F) {
	f.Add("response.output_text.delta", "evt_1.item_2", 1, "Hello, \"you\" \\ <b>&\n\t\r\b\f\x00\x1f\x7f")
	f.Add("é漢\U0001f600", "\u2028\u2029\ufffd", -7, "\xff\xc3(\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, kind, id string, index int, text string) {
		e := &deltaEvent{head{Type: kind, EventID: id}, place{ResponseID: id, ItemID: kind, OutputIndex: index, ContentIndex: -index}, text}
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(*e); err != nil {
			t.Fatal(err)
		}
		got, err := encode(e)
		if err != nil || !bytes.Equal(got, bytes.TrimRight(want.Bytes(), "\n")) {
			t.Errorf("got  %s\nwant %s (%v)", got, want.Bytes(), err)
		}
	})
}
