package openai

import (
	"bytes"
	"encoding/json"
	"testing"

	"parlance.dev/parlance/conversation"
)

// FuzzDelta compares what events that write themselves write with encoding/json's.
func FuzzDelta(f *testing.F) {
	f.Add("response.output_text.delta", "evt_1.item_2", 1, "Hello, \"you\" \\ <b>&\n\t\r\b\f\x00\x1f\x7f")
	f.Add("é漢\U0001f600", "\u2028\u2029\ufffd", -7, "\xff\xc3(\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, kind, id string, index int, text string) {
		begin, at := head{Type: kind, EventID: id}, place{ResponseID: id, ItemID: kind, OutputIndex: index, ContentIndex: -index}
		written := message(id, kind, id, textContent{Type: kind, Text: text}, textContent{Text: id})
		for _, e := range []any{
			&deltaEvent{begin, at, text}, &textEvent{begin, at, text}, &partEvent{begin, at, part{Type: kind, Text: text}},
			&itemEvent{begin, nil, written}, &itemEvent{begin, &text, emptyAgentMessage(id)}, &itemEvent{begin, &text, messageItem{ID: id}},
			&itemEvent{begin, &id, agentMessage(id, text, kind, &conversation.Audio{})}, &itemEvent{begin, nil, startedCall(id, text)}, &itemEvent{begin, nil, nil},
			&outputItemEvent{begin, id, index, written}, &outputItemEvent{begin, id, index, startedCall(id, text)},
		} {
			var want bytes.Buffer
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(e); err != nil {
				t.Fatal(err)
			}
			got, err := encode(e)
			if err != nil || !bytes.Equal(got, bytes.TrimRight(want.Bytes(), "\n")) {
				t.Errorf("%T: got  %s\nwant %s (%v)", e, got, want.Bytes(), err)
			}
		}
	})
}
