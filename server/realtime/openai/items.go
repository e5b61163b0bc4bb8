package openai

import (
	"encoding/json"

	"parlance.dev/parlance/conversation"
)

const (
	realtimeItem = "realtime.item"
	// serverLabel is the "MCP server" that the service's own tools are shown under.
	serverLabel = "parlance"

	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
)

type messageItem struct {
	ID      string    `json:"id"`
	Object  string    `json:"object"`
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type functionCallItem struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type functionOutputItem struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Type   string `json:"type"`
	Status string `json:"status"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// mcpCallItem is a tool that the service ran. As a function_call the SDK would try to run it, and
// without the key output it throws where nobody catches.
type mcpCallItem struct {
	ID          string    `json:"id"`
	Object      string    `json:"object"`
	Type        string    `json:"type"`
	Status      string    `json:"status"`
	ServerLabel string    `json:"server_label"`
	Name        string    `json:"name"`
	Arguments   string    `json:"arguments"`
	Output      *string   `json:"output"`
	Error       *mcpError `json:"error"`
}

// approvalRequestItem asks the client to allow a call; mcp_approval_response names it by its id.
type approvalRequestItem struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Type        string `json:"type"`
	ServerLabel string `json:"server_label"`
	Name        string `json:"name"`
	Arguments   string `json:"arguments"`
	// Approved is null until the client has said a word.
	Approved *bool `json:"approved"`
}

type mcpError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func userMessage(id, text string) messageItem {
	return messageItem{ID: id, Object: realtimeItem, Type: "message", Status: statusCompleted, Role: "user", Content: []content{{Type: "input_text", Text: text}}}
}

func agentMessage(id, text, status string) messageItem {
	return messageItem{ID: id, Object: realtimeItem, Type: "message", Status: status, Role: "assistant", Content: []content{{Type: "output_text", Text: text}}}
}

func emptyAgentMessage(id string) messageItem {
	return messageItem{ID: id, Object: realtimeItem, Type: "message", Status: statusInProgress, Role: "assistant", Content: []content{}}
}

func functionCall(id, callID, name string, arguments json.RawMessage, status string) functionCallItem {
	return functionCallItem{
		ID: id, Object: realtimeItem, Type: "function_call", Status: status,
		CallID: callID, Name: name, Arguments: string(arguments),
	}
}

// startedCall is a call before it has a result. Its arguments come with the result: the SDKs
// were seen to take it so.
func startedCall(id, name string) mcpCallItem {
	return mcpCallItem{ID: id, Object: realtimeItem, Type: "mcp_call", Status: statusInProgress, ServerLabel: serverLabel, Name: name}
}

func finishedCall(id, name string, arguments json.RawMessage, output string, failed bool) mcpCallItem {
	call := startedCall(id, name)
	call.Status, call.Arguments = statusCompleted, rawText(arguments)
	if failed {
		call.Error = &mcpError{Type: "tool_execution_error", Message: output}
		return call
	}
	call.Output = &output
	return call
}

// wireItem is a whole item of the core.
func wireItem(i conversation.Item) any {
	switch i.Kind {
	case conversation.AssistantItem:
		return agentMessage(i.ID, i.Text, statusCompleted)
	case conversation.ToolItem:
		return finishedCall(i.ID, i.Name, i.Arguments, i.Text, i.Failed)
	case conversation.ClientToolCallItem:
		return functionCall(i.ID, i.CallID, i.Name, i.Arguments, statusCompleted)
	case conversation.ToolOutputItem:
		return functionOutputItem{ID: i.ID, Object: realtimeItem, Type: "function_call_output", Status: statusCompleted, CallID: i.CallID, Output: i.Text}
	case conversation.UserItem:
	}
	return userMessage(i.ID, i.Text)
}

// maxItems bounds what a socket remembers for conversation.item.retrieve.
const maxItems = 1000

// items are the newest items of a socket by id.
type items struct {
	byID  map[string]any
	order []string
}

// put keeps an item, or a newer form of it.
func (s *items) put(id string, item any) {
	if s.byID == nil {
		s.byID = map[string]any{}
	}
	if _, known := s.byID[id]; !known {
		s.order = append(s.order, id)
	}
	s.byID[id] = item
	if len(s.order) > maxItems {
		delete(s.byID, s.order[0])
		s.order = s.order[1:]
	}
}

// last is the id of the newest item; empty when there is none.
func (s *items) last() string {
	if len(s.order) == 0 {
		return ""
	}
	return s.order[len(s.order)-1]
}
