package openai

import (
	"encoding/json"

	"parlance.dev/parlance/sessions"
)

const (
	realtimeItem = "realtime.item"
	// serverLabel is the name of the MCP server that the service's own tools are shown as tools of.
	serverLabel = "parlance"

	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
)

type messageItem struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Content []any  `json:"content"` // textContent, audioContent
	// Operator is our own: the person who wrote a message of the role assistant.
	Operator string `json:"parlance_operator,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// audioContent is speech. Transcript is null while it is not known. Without the member the agents
// SDK throws an error that nobody catches.
type audioContent struct {
	Type       string  `json:"type"`
	Transcript *string `json:"transcript"`
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

// mcpCallItem is a call of a tool that the service runs. The SDK would try to run a function_call
// itself. Without the member output it throws an error that nobody catches.
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
	// Approved is null until the client has answered.
	Approved *bool `json:"approved"`
}

type mcpError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func message(id, role, status string, content ...any) messageItem {
	return messageItem{ID: id, Object: realtimeItem, Type: "message", Status: status, Role: role, Content: content}
}

// agentMessage is a message of the agent; audio is nil for a written one.
func agentMessage(id, text, status string, audio *sessions.Audio) messageItem {
	if audio != nil {
		return message(id, "assistant", status, audioContent{Type: "output_audio", Transcript: &text})
	}
	return message(id, "assistant", status, textContent{Type: "output_text", Text: text})
}

// userMessage is a message of the user, written or spoken.
func userMessage(i sessions.Item) messageItem {
	if i.Audio == nil {
		return message(i.ID, "user", statusCompleted, textContent{Type: "input_text", Text: i.Text})
	}
	spoken := audioContent{Type: "input_audio"}
	if i.Audio.Transcribed {
		spoken.Transcript = &i.Text
	}
	return message(i.ID, "user", statusCompleted, spoken)
}

func emptyAgentMessage(id string) messageItem {
	item := message(id, "assistant", statusInProgress)
	item.Content = []any{}
	return item
}

func functionCall(id, callID, name string, arguments json.RawMessage, status string) functionCallItem {
	return functionCallItem{
		ID: id, Object: realtimeItem, Type: "function_call", Status: status,
		CallID: callID, Name: name, Arguments: string(arguments),
	}
}

// startedCall is a call before it has a result. Its arguments come with the result, which the SDKs
// accept.
func startedCall(id, name string) mcpCallItem {
	return mcpCallItem{
		ID: id, Object: realtimeItem, Type: "mcp_call", Status: statusInProgress,
		ServerLabel: serverLabel, Name: name,
	}
}

func finishedCall(id, name string, arguments json.RawMessage, output string, failed bool) mcpCallItem {
	call := startedCall(id, name)
	call.Status, call.Arguments = statusCompleted, argumentsText(arguments)
	if failed {
		call.Error = &mcpError{Type: "tool_execution_error", Message: output}
		return call
	}
	call.Output = &output
	return call
}

// wireItem is a complete item of the conversation as the client sees it.
func wireItem(i sessions.Item) any {
	switch i.Kind {
	case sessions.AssistantItem:
		status := statusCompleted
		if i.Interrupted {
			status = statusIncomplete
		}
		shown := agentMessage(i.ID, i.Text, status, i.Audio)
		shown.Operator = i.Operator
		return shown
	case sessions.SystemItem:
		return message(i.ID, "system", statusCompleted, textContent{Type: "input_text", Text: i.Text})
	case sessions.ToolItem:
		return finishedCall(i.ID, i.Name, i.Arguments, i.Text, i.Failed)
	case sessions.ClientToolCallItem:
		return functionCall(i.ID, i.CallID, i.Name, i.Arguments, statusCompleted)
	case sessions.ToolOutputItem:
		return functionOutputItem{
			ID: i.ID, Object: realtimeItem, Type: "function_call_output", Status: statusCompleted,
			CallID: i.CallID, Output: i.Text,
		}
	case sessions.UserItem:
	}
	return userMessage(i)
}

// argumentsText is arguments as the protocol has them: JSON in a string.
func argumentsText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}
