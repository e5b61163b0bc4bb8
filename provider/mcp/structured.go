package mcp

import (
	"bytes"
	"encoding/json"

	"parlance.dev/parlance/platform/stablejson"
)

// structured returns the structuredContent of the answer as the server wrote it; empty when there
// is none, or no number in it that changes. The SDK decodes numbers as doubles, in which integers
// above 2^53 change. Answers on the stream of the older transport are not kept.
func (x *exchange) structured() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !stablejson.HasLongNumber(x.received) {
		return ""
	}
	for _, message := range messagesOf(x.received) {
		var answer struct {
			Result struct {
				StructuredContent json.RawMessage `json:"structuredContent"`
			} `json:"result"`
		}
		var compact bytes.Buffer
		if json.Unmarshal(message, &answer) == nil && len(answer.Result.StructuredContent) > 0 &&
			json.Compact(&compact, answer.Result.StructuredContent) == nil {
			return compact.String()
		}
	}
	return ""
}

// messagesOf returns the messages of a body: the body itself, and the data of each Server-Sent
// Event.
func messagesOf(body []byte) [][]byte {
	messages, data := [][]byte{body}, []byte(nil)
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		if rest, isData := bytes.CutPrefix(line, []byte("data:")); isData {
			data = append(append(data, rest...), '\n')
		}
		if len(line) == 0 && data != nil {
			messages, data = append(messages, data), nil
		}
	}
	return append(messages, data)
}

// keep notes what was read of the answer to a POST. Its size is bounded by that of the body.
func (x *exchange) keep(piece []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.received = append(x.received, piece...)
}
