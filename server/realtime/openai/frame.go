package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// frame is a client event as far as every type has the same members.
type frame struct {
	Type string `json:"type"`
	// EventID is the client's own id of the event, told in errors about it.
	EventID string          `json:"event_id"`
	Session json.RawMessage `json:"session"`
	Item    json.RawMessage `json:"item"`
	ItemID  string          `json:"item_id"`
	// PreviousItemID is "root", an item's id, or absent.
	PreviousItemID string `json:"previous_item_id"`
	ContentIndex   int    `json:"content_index"`
	AudioEndMS     *int   `json:"audio_end_ms"`
	// Audio is of input_audio_buffer.append: Base64 in a string.
	Audio      json.RawMessage `json:"audio"`
	Response   json.RawMessage `json:"response"`
	ResponseID string          `json:"response_id"`
	// item is Item where that was read quickly.
	item *newItem
}

// refusal is why a client event was not taken. Code is the protocol's own word or a slug of fault.
type refusal struct {
	code    string
	message string
	param   string
}

func invalid(param, message string) *refusal {
	return &refusal{code: "invalid_value", message: message, param: param}
}

// readFrame decodes one text frame. A frame of a known shape comes back beside the refusal, too,
// for its event_id.
func readFrame(data []byte) (frame, *refusal) {
	if quick := quickFrame(data); quick != nil {
		return *quick, nil
	}
	var f frame
	if refused := decode(data, "", &f); refused != nil {
		return f, refused
	}
	if f.Type == "" {
		return f, &refusal{code: "missing_required_parameter", message: "An event needs a type.", param: "type"}
	}
	return f, nil
}

// decode reads a JSON object (or whatever target is) and says in a client's words what is wrong with it.
func decode(raw []byte, param string, target any) *refusal {
	err := json.Unmarshal(raw, target)
	if err == nil {
		if param == "" && !isObject(raw) { // null decodes into anything
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
		return &refusal{code: "missing_required_parameter", message: "The event needs " + param + ".", param: param}
	}
	return &refusal{code: "invalid_json", message: "The frame is not valid JSON."}
}

// present says whether a member was sent with a value other than null.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// newItem is the item of conversation.item.create.
type newItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Role    string       `json:"role"`
	Content []newContent `json:"content"`
	CallID  string       `json:"call_id"`
	Output  *string      `json:"output"`
	// Of function_call: Arguments is JSON in a string.
	Name      string  `json:"name"`
	Arguments *string `json:"arguments"`
	// Of mcp_approval_response.
	ApprovalRequestID string `json:"approval_request_id"`
	Approve           *bool  `json:"approve"`
	Reason            string `json:"reason"`
}

type newContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}
