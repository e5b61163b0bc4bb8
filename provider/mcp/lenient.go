package mcp

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// readable reads a page of a list that the SDK refused, entry by entry: one malformed tool must not
// hide the others. ok is false when the answer is no list, or came on the stream of the older
// transport, which is not kept.
func (x *exchange) readable() (list []Tool, next string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, message := range messagesOf(x.received) {
		var answer struct {
			Result struct {
				Tools      []json.RawMessage `json:"tools"`
				NextCursor string            `json:"nextCursor"`
			} `json:"result"`
		}
		if json.Unmarshal(message, &answer) != nil || answer.Result.Tools == nil {
			continue
		}
		for _, entry := range answer.Result.Tools {
			list = append(list, readTool(entry))
		}
		return list, answer.Result.NextCursor, true
	}
	return nil, "", false
}

// readTool reads an entry of a list. What of a malformed one can be read is set.
func readTool(entry json.RawMessage) Tool {
	var tool sdk.Tool
	err := json.Unmarshal(entry, &tool)
	if err == nil {
		var written writtenTool
		_ = json.Unmarshal(entry, &written) // without it the digits of the SDK are used
		if read, err := newTool(&tool, []writtenTool{written}); err == nil {
			return read
		}
	}
	why := "it is not what MCP says a tool is"
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		why = fmt.Sprintf("it is of type %s", wrong.Value)
		if wrong.Field != "" {
			why = fmt.Sprintf("its %s is of type %s", wrong.Field, wrong.Value)
		}
	}
	return Tool{Name: tool.Name, InputSchema: json.RawMessage("{}"), Malformed: why}
}

// newTool converts a tool of the SDK.
func newTool(tool *sdk.Tool, written []writtenTool) (Tool, error) {
	schema, err := inputSchema(tool, written)
	return Tool{
		Name: tool.Name, Title: tool.Title, Description: tool.Description, InputSchema: schema,
		ReadOnly: tool.Annotations != nil && tool.Annotations.ReadOnlyHint,
	}, err
}
