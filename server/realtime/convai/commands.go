package convai

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

// The ids of commands. The conversation's events about a command repeat its id.
const (
	commandTools     = "client_tools"
	commandInitiate  = "conversation_initiation_client_data"
	commandMessage   = "user_message"
	commandContext   = "contextual_update"
	commandInterrupt = "interruption"
	commandResult    = "client_tool_result"
	commandApproval  = "mcp_tool_approval_result"
	commandFeedback  = "feedback"
)

// userMessage takes what the user typed. It interrupts an open answer, as with ElevenLabs, and asks
// for a new one.
func (d *Dialect) userMessage(e clientEvent) {
	if text, ok := d.readText(e); ok {
		d.ask(text)
	}
}

// readText is an event's text; the event is refused when the conversation would not take it.
func (d *Dialect) readText(e clientEvent) (string, bool) {
	text, refused := readString(e.Text, "text")
	if refused == nil {
		refused = checkText(text, "text")
	}
	if refused != nil {
		d.refuse(e.Type, refused)
	}
	return text, refused == nil
}

func (d *Dialect) ask(text string) {
	d.step.Command(live.Cancel{CommandID: commandInterrupt}) // failed ignores that nothing is open
	d.step.Command(live.UserMessage{CommandID: commandMessage, Text: text})
	d.step.Command(live.Respond{CommandID: commandMessage, IfUnanswered: true, Spoken: d.speaks && !d.textOnly})
}

// checkText makes the conversation's checks of a text here: its answer is asked for before the
// conversation could refuse the text.
func checkText(text, field string) *refusal {
	switch {
	case strings.TrimSpace(text) == "":
		return invalid(typeMissing, field, field+" must say something.")
	case utf8.RuneCountInString(text) > sessions.MaxTextChars:
		return invalid(typeValue, field,
			field+" has at most "+strconv.Itoa(sessions.MaxTextChars)+" characters.")
	case strings.ContainsRune(text, 0):
		return invalid(typeValue, field, field+" cannot have the character U+0000.")
	}
	return nil
}

// multimodalMessage takes the text of a message and refuses its files.
func (d *Dialect) multimodalMessage(e clientEvent) {
	hasFiles := dialect.IsPresent(e.File) || dialect.IsPresent(e.Files)
	if hasFiles {
		d.refuse(e.Type, invalid(typeValue, "files", "Files cannot be sent in a conversation."+
			" Send text, or add the file to the agent's knowledge base."))
	}
	if !dialect.IsPresent(e.Text) {
		if !hasFiles {
			d.refuse(e.Type, invalid(typeMissing, "text",
				"The event needs text, an object with the text of the message."))
		}
		return
	}
	text, refused := readNestedText(e.Text)
	if refused != nil {
		d.refuse(e.Type, refused)
		return
	}
	d.ask(text)
}

// readNestedText is the text in the object of a multimodal_message.
func readNestedText(raw json.RawMessage) (string, *refusal) {
	var message struct {
		Text json.RawMessage `json:"text"`
	}
	if refused := decode(raw, "text", &message); refused != nil {
		return "", refused
	}
	text, refused := readString(message.Text, "text.text")
	if refused != nil {
		return "", refused
	}
	return text, checkText(text, "text.text")
}

func (d *Dialect) userActivity(clientEvent) { d.step.Command(live.Activity{}) }

// contextualUpdate adds a text for the model without asking for an answer. It is not an instruction
// of the operator: see live.Insert.
func (d *Dialect) contextualUpdate(e clientEvent) {
	if text, ok := d.readText(e); ok {
		d.step.Command(live.Insert{CommandID: commandContext, Kind: sessions.SystemItem, Text: text})
	}
}

// clientToolResult takes the result of a client's tool, which may be any JSON. The model gets what
// is not text as JSON.
func (d *Dialect) clientToolResult(e clientEvent) {
	if e.ToolCallID == "" {
		d.refuse(e.Type, invalid(typeMissing, "tool_call_id",
			"The event needs tool_call_id, that of the client_tool_call."))
		return
	}
	output := ""
	if dialect.IsPresent(e.Result) && json.Unmarshal(e.Result, &output) != nil {
		output = string(e.Result)
	}
	d.step.Command(live.ToolOutput{
		CommandID: commandResult, CallID: e.ToolCallID, Output: output, IsError: e.IsError, Respond: true,
	})
}

func (d *Dialect) approvalResult(e clientEvent) {
	if e.ToolCallID == "" || e.IsApproved == nil {
		d.refuse(e.Type, invalid(typeMissing, "is_approved",
			"The event needs tool_call_id, a string, and is_approved, a boolean."))
		return
	}
	d.step.Command(live.Approve{
		CommandID: commandApproval, RequestID: turns.RequestOf(e.ToolCallID), Approved: *e.IsApproved,
	})
}

// feedback marks an answer as liked or disliked; null removes the mark.
func (d *Dialect) feedback(e clientEvent) {
	eventID := 0
	if json.Unmarshal(e.EventID, &eventID) != nil {
		d.refuse(e.Type, invalid(typeMissing, "event_id",
			"The event needs event_id, the number of the agent_response."))
		return
	}
	score := ""
	isPresent := dialect.IsPresent(e.Score)
	if isPresent && (json.Unmarshal(e.Score, &score) != nil || score != "like" && score != "dislike") {
		d.refuse(e.Type, invalid(typeValue, "score", "score is like, dislike or null."))
		return
	}
	turn, ok := turnOf(eventID)
	if !ok {
		d.refuse(e.Type, invalid(typeValue, "event_id",
			"There is no agent_response with the event_id "+strconv.Itoa(eventID)+"."))
		return
	}
	d.step.Command(live.Feedback{
		CommandID: commandFeedback,
		Feedback:  sessions.Feedback{TurnIndex: turn, Score: sessions.Score(score)},
	})
}

// pong measures how long the client took to answer the last ping. Other pongs are ignored.
func (d *Dialect) pong(e clientEvent) {
	eventID := 0
	if json.Unmarshal(e.EventID, &eventID) != nil {
		d.refuse(e.Type, invalid(typeMissing, "event_id", "The event needs event_id, the number of the ping."))
		return
	}
	if eventID == d.pings && d.pings > 0 {
		latency := d.now().Sub(d.pingedAt).Milliseconds()
		d.latencyMS = &latency
	}
}

// hear takes a piece of the user's speech. A socket that takes none says so once, though a
// microphone sends several of these events a second.
func (d *Dialect) hear(e clientEvent) {
	var sound []byte
	switch {
	case d.channel == sessions.ChatChannel:
		if !d.audioRefused {
			d.audioRefused = true
			d.refuse(e.Type, &refusal{
				errorType: typeASR, reason: fault.SessionModality,
				message: "This is the chat socket: send text with user_message, or speak on the session's ws_url.",
			})
		}
	case json.Unmarshal(e.UserAudioChunk, &sound) != nil:
		d.refuse(e.Type, invalid(typeValue, audioType, "user_audio_chunk is audio in Base64."))
	default:
		d.step.Command(voice.Append{CommandID: audioType, Data: sound})
	}
}
