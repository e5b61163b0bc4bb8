package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
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
			&itemEvent{begin, &id, agentMessage(id, text, kind, &sessions.Audio{})}, &itemEvent{begin, nil, startedCall(id, text)}, &itemEvent{begin, nil, nil},
			&outputItemEvent{begin, id, index, written}, &outputItemEvent{begin, id, index, startedCall(id, text)},
		} {
			got, err := encode(e)
			same(t, e, got, err)
		}
	})
}

// FuzzResponse is FuzzDelta for responses and what they cite.
func FuzzResponse(f *testing.F) {
	f.Add("resp_1", "Hello, \"you\" <b>&\n\u2028", "key", 12, 0.8125, true)
	f.Add("", "\xff\x00", "\xff", 0, 1e-7, false)
	f.Add("é", "", "", -1, math.Inf(1), true)
	f.Add("a", "b", "c", 3, -1e21, true)
	f.Fuzz(func(t *testing.T, id, text, key string, number int, similarity float64, present bool) {
		citations := []sessions.Citation{
			{SourceID: id, SourceName: text, ChunkID: key, Heading: text, PageStart: number, PageEnd: number, Similarity: similarity, Excerpt: text, Quoted: present},
			{Excerpt: id},
		}
		encoded, err := encodeCitations(citations[:max(0, number)%3])
		same(t, citations[:max(0, number)%3], encoded, err)
		if err != nil {
			return
		}
		whole := response{
			ID: id, Object: text, Status: key, Output: []any{agentMessage(id, text, key, nil)}, OutputModalities: textOnly(), MaxOutputTokens: number,
			Metadata: map[string]string{key: text, citationsKey: string(encoded), "a": id}, Audio: responseAudio{Output: responseOutput{Format: format{Type: key, RateHz: number}, Voice: text}},
		}
		bare := response{ID: id, Output: []any{}, OutputModalities: []string{key, text}, MaxOutputTokens: text}
		if present {
			whole.ConversationID, whole.Usage = &text, newUsage(sessions.Usage{InputTokens: number, OutputTokens: 7})
			whole.Usage.InputTokenDetails.CachedTokensDetails = cachedTokenDetails{1, 2, number}
			whole.Usage.InputTokenDetails.AudioTokens, whole.Usage.OutputTokenDetails.AudioTokens = number, number
			whole.Output = append(whole.Output, emptyAgentMessage(text))
		}
		failed, called, odd := whole, whole, whole
		failed.StatusDetails = &statusDetails{Type: key, Reason: text}
		called.Output = []any{startedCall(id, text)}
		odd.MaxOutputTokens, odd.Output = nil, nil
		begin := head{Type: key, EventID: id}
		for _, e := range []any{
			&responseEvent{begin, whole}, &responseEvent{begin, bare}, &responseEvent{begin, failed}, &responseEvent{begin, called}, &responseEvent{begin, odd},
			&citationsEvent{begin, id, encoded},
		} {
			got, err := encode(e)
			same(t, e, got, err)
		}
	})
}

// same compares what was written for a value with what encoding/json writes.
func same(t *testing.T, value any, got []byte, err error) {
	t.Helper()
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	if wrong := encoder.Encode(value); wrong != nil {
		if err == nil {
			t.Errorf("%T: got %s, want %v", value, got, wrong)
		}
		return
	}
	if err != nil || !bytes.Equal(got, bytes.TrimRight(want.Bytes(), "\n")) {
		t.Errorf("%T: got  %s\nwant %s (%v)", value, got, want.Bytes(), err)
	}
}

// BenchmarkAnswer is the end of an answer that cites five passages.
func BenchmarkAnswer(b *testing.B) {
	text := strings.Repeat("The answer is as long as answers are.\n", 20)
	cited := make([]sessions.Citation, 5)
	for i := range cited {
		cited[i] = sessions.Citation{
			SourceID: "src_01k2x3y4z5a6b7c8d9e0f1g2h3", SourceName: "A handbook.pdf", ChunkID: "chk_01k2x3y4z5a6b7c8d9e0f1g2h3", PageStart: 3, PageEnd: 4,
			Similarity: 0.73125, Excerpt: text[:500],
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		d := New(Params{})
		d.Event(turns.ResponseStarted{ResponseID: "resp_1"})
		d.Event(turns.MessageStarted{ResponseID: "resp_1", ItemID: "item_1"})
		d.Event(turns.MessageDone{ResponseID: "resp_1", ItemID: "item_1", Text: text})
		d.Event(turns.ResponseDone{ResponseID: "resp_1", Status: turns.ResponseCompleted, Citations: cited})
	}
}
