package openai

import (
	"encoding/json"

	"parlance.dev/parlance/sessions"
)

// head is the first members of every server event. To the agents SDK an event without event_id is
// an unknown one.
type head struct {
	Type    string `json:"type"`
	EventID string `json:"event_id"`
}

func (h *head) setEventID(id string) { h.EventID = id }

// serverEvent is an event that gets its event_id when it is sent.
type serverEvent interface{ setEventID(id string) }

// place is where something is in a response.
type place struct {
	ResponseID   string `json:"response_id"`
	ItemID       string `json:"item_id"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
}

type sessionEvent struct {
	head
	Session session `json:"session"`
}

// itemEvent is conversation.item.added and .done. PreviousItemID is nil for the first item.
type itemEvent struct {
	head
	PreviousItemID *string `json:"previous_item_id"`
	Item           any     `json:"item"`
}

type retrievedEvent struct {
	head
	Item any `json:"item"`
}

type committedEvent struct {
	head
	PreviousItemID *string `json:"previous_item_id"`
	ItemID         string  `json:"item_id"`
}

type transcriptionEvent struct {
	head
	ItemID       string             `json:"item_id"`
	ContentIndex int                `json:"content_index"`
	Error        transcriptionError `json:"error"`
}

// transcriptionError is why speech has no transcript. It has no member param, for the agents SDK
// does not take a param that is null.
type transcriptionError struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type deletedEvent struct {
	head
	ItemID string `json:"item_id"`
}

type truncatedEvent struct {
	head
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	AudioEndMS   int    `json:"audio_end_ms"`
}

type responseEvent struct {
	head
	Response response `json:"response"`
}

type outputItemEvent struct {
	head
	ResponseID  string `json:"response_id"`
	OutputIndex int    `json:"output_index"`
	Item        any    `json:"item"`
}

type partEvent struct {
	head
	place
	Part any `json:"part"` // textPart, audioPart
}

type deltaEvent struct {
	head
	place
	Delta string `json:"delta"`
}

type textEvent struct {
	head
	place
	Text string `json:"text"`
}

type transcriptEvent struct {
	head
	place
	Transcript string `json:"transcript"`
}

type placeEvent struct {
	head
	place
}

// audioEvent is response.output_audio.delta; Delta is in Base64 on the wire.
type audioEvent struct {
	head
	place
	Delta []byte `json:"delta"`
}

// speechEvent is input_audio_buffer.speech_started and .speech_stopped, one of whose times is set.
type speechEvent struct {
	head
	ItemID       string `json:"item_id"`
	AudioStartMS *int   `json:"audio_start_ms,omitempty"`
	AudioEndMS   *int   `json:"audio_end_ms,omitempty"`
}

// transcribedEvent is conversation.item.input_audio_transcription.completed.
type transcribedEvent struct {
	head
	ItemID       string             `json:"item_id"`
	ContentIndex int                `json:"content_index"`
	Transcript   string             `json:"transcript"`
	Usage        transcriptionUsage `json:"usage"`
}

type transcriptionUsage struct {
	Type    string  `json:"type"`
	Seconds float64 `json:"seconds"`
}

// droppedEvent is our own event: what was taken for speech was no utterance.
type droppedEvent struct {
	head
	ItemID string `json:"item_id"`
	Reason string `json:"reason"`
}

// timingEvent is our own event: how long the beginning of a spoken answer took, in milliseconds
// from the end of the user's speech.
type timingEvent struct {
	head
	ResponseID   string `json:"response_id"`
	EndpointMS   int    `json:"endpoint_ms"`
	TranscriptMS int    `json:"transcript_ms"`
	FirstTokenMS int    `json:"first_token_ms"`
	FirstAudioMS int    `json:"first_audio_ms"`
}

// argumentsEvent is response.function_call_arguments.delta and .done, which differ in the last
// three members.
type argumentsEvent struct {
	head
	ResponseID  string  `json:"response_id"`
	ItemID      string  `json:"item_id"`
	OutputIndex int     `json:"output_index"`
	CallID      string  `json:"call_id"`
	Delta       *string `json:"delta,omitempty"`
	Arguments   *string `json:"arguments,omitempty"`
	Name        string  `json:"name,omitempty"`
}

type mcpEvent struct {
	head
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
}

// citationsEvent is our own event. SDKs pass on events that they do not know.
type citationsEvent struct {
	head
	ResponseID string          `json:"response_id"`
	Citations  json.RawMessage `json:"citations"`
}

// guardEvent is our own event: the words of a side are in a no-go zone.
type guardEvent struct {
	head
	ResponseID string `json:"response_id"`
	Guard      string `json:"guard"`
	Action     string `json:"action"`
	Side       string `json:"side"`
}

// handoverEvent is our own event: a person was asked for (requested), has the conversation
// (operator), or nobody has it any more (released).
type handoverEvent struct {
	head
	Status   string `json:"status"`
	Operator string `json:"operator"`
}

type plainEvent struct{ head }

// outputClearedEvent is output_audio_buffer.cleared; ResponseID is empty before the first response.
type outputClearedEvent struct {
	head
	ResponseID string `json:"response_id"`
}

type errorEvent struct {
	head
	Error wireError `json:"error"`
}

// wireError is the content of an error event. Type is invalid_request_error or server_error.
type wireError struct {
	Type    string  `json:"type"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	// EventID is the client's id of the event that was refused.
	EventID *string `json:"event_id"`
}

// textPart and audioPart are content parts. Their types are text and audio, unlike those of an
// item's content.
type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type audioPart struct {
	Type       string `json:"type"`
	Transcript string `json:"transcript"`
}

// response is a response as response.created and response.done show it.
type response struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Status           string            `json:"status"`
	StatusDetails    *statusDetails    `json:"status_details"`
	Output           []any             `json:"output"`
	OutputModalities []string          `json:"output_modalities"`
	ConversationID   *string           `json:"conversation_id"` // null: out of band
	MaxOutputTokens  any               `json:"max_output_tokens"`
	Metadata         map[string]string `json:"metadata"`
	Usage            *usage            `json:"usage"`
	Audio            responseAudio     `json:"audio"`
}

type responseAudio struct {
	Output responseOutput `json:"output"`
}

type responseOutput struct {
	Format format `json:"format"`
	Voice  string `json:"voice"`
}

type statusDetails struct {
	Type   string       `json:"type"`
	Reason string       `json:"reason,omitempty"`
	Error  *statusError `json:"error,omitempty"`
}

type statusError struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type usage struct {
	TotalTokens        int                `json:"total_tokens"`
	InputTokens        int                `json:"input_tokens"`
	OutputTokens       int                `json:"output_tokens"`
	InputTokenDetails  inputTokenDetails  `json:"input_token_details"`
	OutputTokenDetails outputTokenDetails `json:"output_token_details"`
}

// inputTokenDetails: the models read text, and none reports cached tokens.
type inputTokenDetails struct {
	TextTokens          int                `json:"text_tokens"`
	AudioTokens         int                `json:"audio_tokens"`
	ImageTokens         int                `json:"image_tokens"`
	CachedTokens        int                `json:"cached_tokens"`
	CachedTokensDetails cachedTokenDetails `json:"cached_tokens_details"`
}

type cachedTokenDetails struct {
	TextTokens  int `json:"text_tokens"`
	AudioTokens int `json:"audio_tokens"`
	ImageTokens int `json:"image_tokens"`
}

type outputTokenDetails struct {
	TextTokens  int `json:"text_tokens"`
	AudioTokens int `json:"audio_tokens"`
}

func newUsage(u sessions.Usage) *usage {
	return &usage{
		TotalTokens: u.InputTokens + u.OutputTokens, InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		InputTokenDetails:  inputTokenDetails{TextTokens: u.InputTokens},
		OutputTokenDetails: outputTokenDetails{TextTokens: u.OutputTokens},
	}
}
