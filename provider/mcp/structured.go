package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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

// writtenTool is a tool of a list as the server wrote it.
type writtenTool struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// tools returns the tools of a list as the server wrote them; nil when no number in the list
// changes, or the list came on the stream of the older transport.
func (x *exchange) tools() []writtenTool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !stablejson.HasLongNumber(x.received) {
		return nil
	}
	for _, message := range messagesOf(x.received) {
		var answer struct {
			Result struct {
				Tools []writtenTool `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(message, &answer) == nil && answer.Result.Tools != nil {
			return answer.Result.Tools
		}
	}
	return nil
}

// inputSchema returns the schema of a tool with the digits that the server wrote. Names may repeat,
// and the SDK leaves out tools, so the schema is the one that the SDK's is when its numbers are
// doubles.
func inputSchema(tool *sdk.Tool, list []writtenTool) (json.RawMessage, error) {
	rounded, err := json.Marshal(tool.InputSchema)
	if err != nil {
		return nil, err
	}
	for _, written := range list {
		var double, exact any
		decoder := json.NewDecoder(bytes.NewReader(written.InputSchema))
		decoder.UseNumber()
		if written.Name != tool.Name || json.Unmarshal(written.InputSchema, &double) != nil || decoder.Decode(&exact) != nil {
			continue
		}
		if same, err := json.Marshal(double); err == nil && bytes.Equal(same, rounded) {
			return json.Marshal(plainNumbers(exact))
		}
	}
	return rounded, nil
}

// maxDigits bounds a number that is kept digit by digit. Postgres refuses jsonb with more than
// 16,383 digits behind the point.
const maxDigits = 1000

// plainNumbers replaces numbers that have an exponent or too many digits by doubles. Their digits
// cannot be counted before they are written out.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if double, err := value.Float64(); err == nil && (len(value) > maxDigits || strings.ContainsAny(string(value), "eE")) {
			return double
		}
	case []any:
		for i, item := range value {
			value[i] = plainNumbers(item)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = plainNumbers(member)
		}
	}
	return value
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
