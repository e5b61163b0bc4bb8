package convai

import (
	"cmp"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/server/realtime/dialect"
)

// event is an event of the server: its type, and one object, whose name depends on the type.
type event struct {
	Type string `json:"type"`
	// FrameID is our own: a returning client sends it as last_event_id to get exactly what it
	// missed.
	FrameID string `json:"parlance_event_id,omitempty"`
	object  any
}

// objectNames are the names of the events' objects, where they are not the type itself.
var objectNames = map[string]string{
	"conversation_initiation_metadata": "conversation_initiation_metadata_event",
	"ping":                             "ping_event",
	"user_transcript":                  "user_transcription_event",
	"tentative_user_transcript":        "tentative_user_transcription_event",
	"audio":                            "audio_event",
	"agent_chat_response_part":         "text_response_part",
	"agent_response":                   "agent_response_event",
	"agent_response_correction":        "agent_response_correction_event",
	"agent_typing":                     "agent_typing_event",
	"interruption":                     "interruption_event",
	"error":                            "error_event",
}

// MarshalJSON puts the object behind the type.
func (e event) MarshalJSON() ([]byte, error) {
	type members event // without this method
	head, err := dialect.Encode(members(e))
	if err != nil {
		return nil, err
	}
	object, err := dialect.Encode(e.object)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s,%q:%s}", head[:len(head)-1], cmp.Or(objectNames[e.Type], e.Type), object), nil
}

type metadata struct {
	ConversationID string `json:"conversation_id"`
	OutputFormat   string `json:"agent_output_audio_format"`
	InputFormat    string `json:"user_input_audio_format"`
}

type ping struct {
	EventID int `json:"event_id"`
	// LatencyMS is how long the client took to answer the last ping; nil: it has not.
	LatencyMS *int64 `json:"ping_ms,omitempty"`
}

type userTranscript struct {
	Text    string `json:"user_transcript"`
	EventID int    `json:"event_id"`
}

// part is a piece of an answer; Type is start, delta or stop.
// sound is a piece of an answer's sound, in Base64 on the wire.
type sound struct {
	Data    []byte `json:"audio_base_64"`
	EventID int    `json:"event_id"`
}

type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	EventID int    `json:"event_id"`
}

type agentResponse struct {
	Text    string `json:"agent_response"`
	EventID int    `json:"event_id"`
	// Citations are our own. The SDK passes on members that it does not know.
	Citations any `json:"parlance_citations,omitempty"`
	// Operator is our own: the person who wrote it.
	Operator string `json:"parlance_operator,omitempty"`
}

// handoverState is the content of our own event parlance_handover; see dialect.HandoverStatus.
type handoverState struct {
	Status   string `json:"status"`
	Operator string `json:"operator"`
}

type correction struct {
	Original  string `json:"original_agent_response"`
	Corrected string `json:"corrected_agent_response"`
	EventID   int    `json:"event_id"`
}

type typing struct {
	Is bool `json:"is_typing"`
}

type interruption struct {
	EventID int `json:"event_id"`
}

type clientToolCall struct {
	Name       string          `json:"tool_name"`
	CallID     string          `json:"tool_call_id"`
	Parameters json.RawMessage `json:"parameters"`
	EventID    int             `json:"event_id"`
}

type toolRequest struct {
	Name    string `json:"tool_name"`
	CallID  string `json:"tool_call_id"`
	Type    string `json:"tool_type"`
	EventID int    `json:"event_id"`
}

// fullToolResponse is a toolResponse with the tool's answer, for clients that ask for it.
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
