package openai

import (
	"encoding/json"
	"slices"

	"parlance.dev/parlance/sessions"
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
	ID      string `json:"id"`
	Object  string `json:"object"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Content []any  `json:"content"` // textContent, audioContent
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// audioContent is what was spoken. Transcript is null while it is not known; without the key the
// agents SDK throws where nobody catches.
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

func message(id, role, status string, content ...any) messageItem {
	return messageItem{ID: id, Object: realtimeItem, Type: "message", Status: status, Role: role, Content: content}
}

// agentMessage is a message of the agent, spoken or written.
func agentMessage(id, text, status string, audio *sessions.Audio) messageItem {
	if audio != nil {
		return message(id, "assistant", status, audioContent{Type: "output_audio", Transcript: &text})
	}
	return message(id, "assistant", status, textContent{Type: "output_text", Text: text})
}

// userMessage is what the user wrote or spoke.
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
	return messageItem{ID: id, Object: realtimeItem, Type: "message", Status: statusInProgress, Role: "assistant", Content: []any{}}
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
func wireItem(i sessions.Item) any {
	switch i.Kind {
	case sessions.AssistantItem:
		status := statusCompleted
		if i.BrokenOff {
			status = statusIncomplete
		}
		return agentMessage(i.ID, i.Text, status, i.Audio)
	case sessions.SystemItem:
		return message(i.ID, "system", statusCompleted, textContent{Type: "input_text", Text: i.Text})
	case sessions.ToolItem:
		return finishedCall(i.ID, i.Name, i.Arguments, i.Text, i.Failed)
	case sessions.ClientToolCallItem:
		return functionCall(i.ID, i.CallID, i.Name, i.Arguments, statusCompleted)
	case sessions.ToolOutputItem:
		return functionOutputItem{ID: i.ID, Object: realtimeItem, Type: "function_call_output", Status: statusCompleted, CallID: i.CallID, Output: i.Text}
	case sessions.UserItem:
	}
	return userMessage(i)
}

// maxItems bounds what a socket remembers for conversation.item.retrieve.
const maxItems = 1000

// items are the newest items of a socket by id.
type items struct {
	byID  map[string]any
	order []string
	// unsure are those that the client asked to delete or to truncate: the core knows what became of them.
	unsure map[string]bool
}

// asks says that an item asks whether a call may be made: the core knows the question, not as an item.
func (s *items) asks(id string) bool {
	_, asks := s.byID[id].(approvalRequestItem)
	return asks
}

// anchor is the item that the core knows in the place of one that asks.
func (s *items) anchor(id string) string {
	if !s.asks(id) {
		return id
	}
	for at := slices.Index(s.order, id) - 1; at >= 0; at-- {
		if !s.asks(s.order[at]) {
			return s.order[at]
		}
	}
	return sessions.AtFront
}

// doubt has the core say what an item is from now on.
func (s *items) doubt(id string) {
	if _, known := s.byID[id]; !known || s.asks(id) {
		return // as it does already, or it does not know
	}
	if s.unsure == nil {
		s.unsure = map[string]bool{}
	}
	s.unsure[id] = true
}

// sure is an item as it is told without asking.
func (s *items) sure(id string) (item any, known bool) {
	item, known = s.byID[id]
	return item, known && !s.unsure[id]
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
		delete(s.unsure, s.order[0])
		s.order = s.order[1:]
	}
}

// insert keeps an item behind the one before it; "" is the front. One that is not known is the newest.
func (s *items) insert(id, previous string, item any) {
	_, known := s.byID[id]
	s.put(id, item)
	at := slices.Index(s.order, previous) + 1
	if known || (at == 0 && previous != "") || at >= len(s.order)-1 {
		return
	}
	s.order = slices.Insert(s.order[:len(s.order)-1], at, id)
}

func (s *items) drop(id string) {
	delete(s.byID, id)
	delete(s.unsure, id)
	s.order = slices.DeleteFunc(s.order, func(one string) bool { return one == id })
}

// last is the id of the newest item; empty when there is none.
func (s *items) last() string {
	if len(s.order) == 0 {
		return ""
	}
	return s.order[len(s.order)-1]
}
