package convai

import (
	"encoding/json"

	"parlance.dev/parlance/server/realtime/dialect"
)

// The events of the server. Each is a type and one object, whose name depends on the type.

// head is the first members of every event.
type head struct {
	Type string `json:"type"`
	// FrameID is our own: a returning client sends it as last_event_id to get exactly what it
	// missed.
	FrameID string `json:"parlance_event_id,omitempty"`
}

func (h *head) setHead(kind, frameID string) { h.Type, h.FrameID = kind, frameID }

// serverEvent is an event that gets its type and frame id when it is sent.
type serverEvent interface{ setHead(kind, frameID string) }

type metadataEvent struct {
	head
	Metadata metadata `json:"conversation_initiation_metadata_event"`
}

type metadata struct {
	ConversationID string `json:"conversation_id"`
	OutputFormat   string `json:"agent_output_audio_format"`
	InputFormat    string `json:"user_input_audio_format"`
}

type pingEvent struct {
	head
	Ping ping `json:"ping_event"`
}

type ping struct {
	EventID int `json:"event_id"`
	// LatencyMS is how long the client took to answer the last ping; nil: it has not.
	LatencyMS *int64 `json:"ping_ms,omitempty"`
}

type userTranscriptEvent struct {
	head
	Said userTranscript `json:"user_transcription_event"`
}

type userTranscript struct {
	Text    string `json:"user_transcript"`
	EventID int    `json:"event_id"`
}

type partEvent struct {
	head
	Part part `json:"text_response_part"`
}

// part is a piece of an answer; Type is start, delta or stop.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	EventID int    `json:"event_id"`
}

type agentResponseEvent struct {
	head
	Said agentResponse `json:"agent_response_event"`
}

type agentResponse struct {
	Text    string `json:"agent_response"`
	EventID int    `json:"event_id"`
	// Citations are our own. The SDK passes on members that it does not know.
	Citations any `json:"parlance_citations,omitempty"`
}

type correctionEvent struct {
	head
	Said correction `json:"agent_response_correction_event"`
}

type correction struct {
	Original  string `json:"original_agent_response"`
	Corrected string `json:"corrected_agent_response"`
	EventID   int    `json:"event_id"`
}

type typingEvent struct {
	head
	Typing typing `json:"agent_typing_event"`
}

type typing struct {
	Is bool `json:"is_typing"`
}

type interruptionEvent struct {
	head
	Interruption interruption `json:"interruption_event"`
}

type interruption struct {
	EventID int `json:"event_id"`
}

type clientToolEvent struct {
	head
	Call clientToolCall `json:"client_tool_call"`
}

type clientToolCall struct {
	Name       string          `json:"tool_name"`
	CallID     string          `json:"tool_call_id"`
	Parameters json.RawMessage `json:"parameters"`
	EventID    int             `json:"event_id"`
}

type toolRequestEvent struct {
	head
	Request toolRequest `json:"agent_tool_request"`
}

type toolRequest struct {
	Name    string `json:"tool_name"`
	CallID  string `json:"tool_call_id"`
	Type    string `json:"tool_type"`
	EventID int    `json:"event_id"`
}

type toolResponseEvent struct {
	head
	Response toolResponse `json:"agent_tool_response"`
}

// fullResponseEvent is agent_tool_response with the tool's answer, for clients that ask for it.
type fullResponseEvent struct {
	head
	Response fullToolResponse `json:"agent_tool_response_full_payload"`
}

type fullToolResponse struct {
	toolResponse
	Result string `json:"full_tool_result"`
}

type toolResponse struct {
	Name    string `json:"tool_name"`
	CallID  string `json:"tool_call_id"`
	Type    string `json:"tool_type"`
	IsError bool   `json:"is_error"`
	// IsCalled is false for a call that was refused before it was made, and true for one whose
	// result is not known yet.
	IsCalled bool `json:"is_called"`
	EventID  int  `json:"event_id"`
}

type mcpEvent struct {
	head
	Call mcpCall `json:"mcp_tool_call"`
}

// mcpCall is a call of an MCP server's tool, or of any tool that needs the client's approval. State
// decides which of the last three members it has.
type mcpCall struct {
	ServiceID  string          `json:"service_id"`
	CallID     string          `json:"tool_call_id"`
	Name       string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Timestamp  string          `json:"timestamp"`
	// State is loading, awaiting_approval, success or failure.
	State           string      `json:"state"`
	ApprovalSeconds *int        `json:"approval_timeout_secs,omitempty"`
	Result          []mcpResult `json:"result,omitempty"`
	ErrorMessage    *string     `json:"error_message,omitempty"`
}

type mcpResult struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type errorEvent struct {
	head
	Error wireError `json:"error_event"`
}

// wireError is the content of an error event. The protocol has the codes 1000, 1002, 1008 and 1011
// and a list of types. Our own reason is in Details.
type wireError struct {
	Code    int          `json:"code"`
	Type    string       `json:"error_type"`
	Message string       `json:"message"`
	Details errorDetails `json:"details"`
}

type errorDetails struct {
	// Code is a reason of docs/errors.md, or empty.
	Code string `json:"code,omitempty"`
	// Event is the type of the client's event that was refused.
	Event string `json:"event,omitempty"`
	// Fields are its members that were refused.
	Fields []errorField `json:"fields,omitempty"`
}

type errorField struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// objectOf is raw if it is a JSON object, and an empty object otherwise.
func objectOf(raw json.RawMessage) json.RawMessage {
	if !dialect.IsObject(raw) || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}
