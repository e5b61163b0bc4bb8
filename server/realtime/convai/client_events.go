package convai

import (
	"encoding/json"
	"errors"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/realtime/dialect"
)

// clientEvent is an event of a client: the members of all types. Members that differ from type to
// type, or may be null, are decoded where they are used.
type clientEvent struct {
	Type string `json:"type"`
	// Text is a string, and an object in multimodal_message.
	Text      json.RawMessage `json:"text"`
	ContextID string          `json:"context_id"`
	EventID   json.RawMessage `json:"event_id"`
	Score     json.RawMessage `json:"score"`

	ToolCallID string          `json:"tool_call_id"`
	Result     json.RawMessage `json:"result"`
	IsError    bool            `json:"is_error"`
	IsApproved *bool           `json:"is_approved"`

	File  json.RawMessage `json:"file"`
	Files json.RawMessage `json:"files"`

	UserAudioChunk json.RawMessage `json:"user_audio_chunk"`

	Overrides        json.RawMessage `json:"conversation_config_override"`
	DynamicVariables json.RawMessage `json:"dynamic_variables"`
	ExtraBody        json.RawMessage `json:"custom_llm_extra_body"`
	UserID           json.RawMessage `json:"user_id"`
	ToolMocks        json.RawMessage `json:"tool_mock_config"`

	// raw is the whole event.
	raw json.RawMessage
}

// audioType is the type of {"user_audio_chunk": …} here; the event itself has none.
const audioType = "user_audio_chunk"

// The types of errors that are used here. Source: @elevenlabs/types, ErrorEventErrorType.
const (
	typeInvalid    = "invalid_message"
	typeMissing    = "missing_fields"
	typeValue      = "value_error"
	typeOverride   = "override_error"
	typeModel      = "llm_error"
	typeASR        = "asr_transcription_error"
	typeTooLong    = "max_duration_exceeded"
	typeDisconnect = "websocket_disconnect"
	typeUnknown    = "unknown"
)

// refusal is why a client event, or a part of it, was not taken.
type refusal struct {
	errorType string
	message   string
	// reason is a reason of package fault, or empty.
	reason fault.Reason
	fields []errorField
}

func invalid(errorType, field, message string) *refusal {
	r := &refusal{errorType: errorType, message: message, reason: fault.InvalidRequest}
	if field != "" {
		r.fields = []errorField{{Field: field, Code: errorType, Message: message}}
	}
	return r
}

// readEvent decodes a text frame.
func readEvent(data []byte) (clientEvent, *refusal) {
	var e clientEvent
	if refused := decode(data, "", &e); refused != nil {
		return e, refused
	}
	if !dialect.IsObject(data) { // null decodes into anything
		return e, invalid(typeInvalid, "", "An event is a JSON object.")
	}
	e.raw = data
	if e.Type == "" && dialect.IsPresent(e.UserAudioChunk) {
		e.Type = audioType
	}
	if e.Type == "" {
		return e, invalid(typeMissing, "type", "An event needs a type.")
	}
	return e, nil
}

// decode reads JSON into target. A refusal names the members as the client does; field is where raw
// stands in the event, empty for the event itself.
func decode(raw []byte, field string, target any) *refusal {
	err := json.Unmarshal(raw, target)
	if err == nil {
		return nil
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := strings.Trim(field+"."+typed.Field, ".")
		if at == "" {
			return invalid(typeInvalid, "", "An event is a JSON object.")
		}
		return invalid(typeValue, at, at+" cannot be of the type "+typed.Value+".")
	}
	return invalid(typeInvalid, field, "The frame is not valid JSON.")
}

// readString is a member that must be a string; field names it in the refusal.
func readString(raw json.RawMessage, field string) (string, *refusal) {
	if !dialect.IsPresent(raw) {
		return "", invalid(typeMissing, field, "The event needs "+field+", a string.")
	}
	var value string
	if json.Unmarshal(raw, &value) != nil {
		return "", invalid(typeValue, field, field+" must be a string.")
	}
	return value, nil
}
