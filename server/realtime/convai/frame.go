package convai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"parlance.dev/parlance/fault"
)

// frame is a client event as far as every type has the same members. What has not the same type
// everywhere, or may be null, is read where it is used.
type frame struct {
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

// audioType stands for the type that {"user_audio_chunk": …} does not have.
const audioType = "user_audio_chunk"

// The protocol's words for errors that are used here. Source: @elevenlabs/types, ErrorEventErrorType.
const (
	typeInvalid   = "invalid_message"
	typeMissing   = "missing_fields"
	typeValue     = "value_error"
	typeOverride  = "override_error"
	typeModel     = "llm_error"
	typeASR       = "asr_transcription_error"
	typeTooLong   = "max_duration_exceeded"
	typeConnexion = "websocket_disconnect"
	typeUnknown   = "unknown"
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

// readFrame decodes one text frame.
func readFrame(data []byte) (frame, *refusal) {
	var f frame
	if refused := decode(data, "", &f); refused != nil {
		return f, refused
	}
	if !isObject(data) { // null decodes into anything
		return f, invalid(typeInvalid, "", "An event is a JSON object.")
	}
	f.raw = data
	if f.Type == "" && present(f.UserAudioChunk) {
		f.Type = audioType
	}
	if f.Type == "" {
		return f, invalid(typeMissing, "type", "An event needs a type.")
	}
	return f, nil
}

// decode reads raw into target and says in a client's words what is wrong with it.
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

// present says whether a member was sent with a value other than null.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// text is a member that must be a string; field names it in the refusal.
func text(raw json.RawMessage, field string) (string, *refusal) {
	if !present(raw) {
		return "", invalid(typeMissing, field, "The event needs "+field+", a string.")
	}
	var value string
	if json.Unmarshal(raw, &value) != nil {
		return "", invalid(typeValue, field, field+" must be a string.")
	}
	return value, nil
}

// maxQuotedBytes bounds what is said back of a client's words.
const maxQuotedBytes = 64

func quote(text string) string { return `"` + clipped(text) + `"` }

func clipped(text string) string {
	if len(text) > maxQuotedBytes {
		return strings.ToValidUTF8(text[:maxQuotedBytes], "") + "…"
	}
	return text
}
