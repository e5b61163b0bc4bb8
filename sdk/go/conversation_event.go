package parlance

import (
	"encoding/json"
	"fmt"
)

// ConversationEvent is an event of the service in a conversation; docs/realtime.md lists them. Each
// has the members of its type, and all of it in Raw.
type ConversationEvent struct {
	// Type is as in "response.output_text.delta".
	Type string `json:"type"`
	// ID names the event.
	ID string `json:"event_id"`
	// ItemID and ResponseID name what the event is about.
	ItemID     string `json:"item_id"`
	ResponseID string `json:"response_id"`
	// Delta is a piece of text of response.output_text.delta and of
	// response.output_audio_transcript.delta.
	Delta string `json:"delta"`
	// Text is the whole of response.output_text.done.
	Text string `json:"text"`
	// Transcript is what was said, of conversation.item.input_audio_transcription.completed and of
	// response.output_audio_transcript.done.
	Transcript string `json:"transcript"`
	// Audio is the sound of response.output_audio.delta, in the session's output format: unless the
	// agent says otherwise PCM of 16 bits, little-endian, mono, 24,000 Hz.
	Audio []byte `json:"-"`
	// Item is of conversation.item.… and response.output_item.…
	Item ConversationItem `json:"item"`
	// Response is of response.created and response.done.
	Response ConversationResponse `json:"response"`
	// Error is of the event error.
	Error ConversationError `json:"error"`
	// Raw is the event as it came, JSON.
	Raw json.RawMessage `json:"-"`
}

// ConversationItem is a message, a call of a tool or its result.
type ConversationItem struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	// Role is that of a message: user, assistant or system.
	Role string `json:"role"`
	// CallID, Name and Arguments, JSON, are of a function_call, which the client is to run.
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Output is the result of a call.
	Output string `json:"output"`
}

// ConversationResponse is an answer of the agent.
type ConversationResponse struct {
	ID string `json:"id"`
	// Status is in_progress, completed, cancelled, incomplete or failed.
	Status        string            `json:"status"`
	Metadata      map[string]string `json:"metadata"`
	StatusDetails struct {
		Reason string            `json:"reason"`
		Error  ConversationError `json:"error"`
	} `json:"status_details"`
}

// ConversationError is what the service refused, or why an answer failed.
type ConversationError struct {
	// Code is a Reason or a word of the protocol, such as invalid_value.
	Code    string `json:"code"`
	Message string `json:"message"`
	// EventID is the id that the client gave to the event that was refused.
	EventID string `json:"event_id"`
}

const audioDelta = "response.output_audio.delta"

// readEvent reads an event. A member of another type than here is left out, since events of other
// kinds may have it.
func readEvent(text []byte) (ConversationEvent, error) {
	event := ConversationEvent{Raw: text}
	if err := json.Unmarshal(text, &event); err != nil && !json.Valid(text) {
		return event, fmt.Errorf("parlance: the service sent what is no event: %w", err)
	}
	if event.Type == audioDelta {
		var sound struct {
			Delta []byte `json:"delta"` // base64
		}
		if err := json.Unmarshal(text, &sound); err != nil {
			return event, fmt.Errorf("parlance: the service sent what is no sound: %w", err)
		}
		event.Audio, event.Delta = sound.Delta, ""
	}
	return event, nil
}
