package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"parlance.dev/parlance/server/realtime/dialect"
)

// clientEvent is an event of a client: the members of all types.
type clientEvent struct {
	Type string `json:"type"`
	// EventID is the client's own id of the event, which errors about it repeat.
	EventID string          `json:"event_id"`
	Session json.RawMessage `json:"session"`
	Item    json.RawMessage `json:"item"`
	ItemID  string          `json:"item_id"`
	// PreviousItemID is "root", an item's id, or absent.
	PreviousItemID string `json:"previous_item_id"`
	ContentIndex   int    `json:"content_index"`
	AudioEndMS     *int   `json:"audio_end_ms"`
	// Audio is audio in Base64, of input_audio_buffer.append.
	Audio      json.RawMessage `json:"audio"`
	Response   json.RawMessage `json:"response"`
	ResponseID string          `json:"response_id"`
}

// refusal is why a client event was not taken. code is the protocol's own word or a reason of
// package fault.
type refusal struct {
	code    string
	message string
	param   string
}

func invalid(param, message string) *refusal {
	return &refusal{code: "invalid_value", message: message, param: param}
}

func missing(param string) *refusal {
	return missingParameter(param, "The event needs "+param+".")
}

func missingParameter(param, message string) *refusal {
	return &refusal{code: "missing_required_parameter", message: message, param: param}
}

// readEvent decodes a text frame. The event comes with a refusal too, for its event_id.
func readEvent(data []byte) (clientEvent, *refusal) {
	var e clientEvent
	if refused := decode(data, "", &e); refused != nil {
		return e, refused
	}
	if e.Type == "" {
		return e, missingParameter("type", "An event needs a type.")
	}
	return e, nil
}

// decode reads JSON into target. A refusal names the members as the client does; param is where raw
// stands in the event, empty for the event itself.
func decode(raw []byte, param string, target any) *refusal {
	err := json.Unmarshal(raw, target)
	if err == nil {
		if param == "" && !dialect.IsObject(raw) { // null decodes into anything
			return &refusal{code: "invalid_json", message: "An event is a JSON object."}
		}
		return nil
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := strings.Trim(param+"."+typed.Field, ".")
		if at == "" {
			return &refusal{code: "invalid_json", message: "An event is a JSON object."}
		}
		return &refusal{code: "invalid_type", message: at + " cannot be of the type " + typed.Value + ".", param: at}
	}
	if param != "" {
		return missing(param)
	}
	return &refusal{code: "invalid_json", message: "The frame is not valid JSON."}
}

// newItem is the item of conversation.item.create.
type newItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Role    string       `json:"role"`
	Content []newContent `json:"content"`
	CallID  string       `json:"call_id"`
	Output  *string      `json:"output"`
	// Name and Arguments, JSON in a string, are of function_call.
	Name      string  `json:"name"`
	Arguments *string `json:"arguments"`
	// ApprovalRequestID, Approve and Reason are of mcp_approval_response.
	ApprovalRequestID string `json:"approval_request_id"`
	Approve           *bool  `json:"approve"`
	Reason            string `json:"reason"`
}

type newContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}
