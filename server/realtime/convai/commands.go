package convai

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// hear takes what the user typed, and has it answered. An answer that is going out is broken off, as
// with ElevenLabs.
func (d *Dialect) hear(f frame) {
	said, ok := d.words(f)
	if !ok {
		return
	}
	d.say(said)
}

// words are a frame's text; it is refused when the core would not take it.
func (d *Dialect) words(f frame) (said string, ok bool) {
	said, refused := text(f.Text, "text")
	if refused == nil {
		refused = checkText(said, "text")
	}
	if refused != nil {
		d.refuse(f.Type, refused)
	}
	return said, refused == nil
}

func (d *Dialect) say(said string) {
	d.do(live.Cancel{CommandID: commandInterrupt}) // nothing to cancel is no error: see failed
	d.do(live.UserMessage{CommandID: commandHear, Text: said})
	d.do(live.Respond{CommandID: commandHear, IfSaid: true})
}

// checkText is what the core would refuse too; the answer is asked for before it could.
func checkText(said, field string) *refusal {
	switch {
	case strings.TrimSpace(said) == "":
		return invalid(typeMissing, field, field+" must say something.")
	case utf8.RuneCountInString(said) > sessions.MaxTextChars:
		return invalid(typeValue, field, field+" has at most "+strconv.Itoa(sessions.MaxTextChars)+" characters.")
	case strings.ContainsRune(said, 0):
		return invalid(typeValue, field, field+" cannot have the character U+0000.")
	}
	return nil
}

// hearMultimodal takes the text of a message; files have nowhere to go.
func (d *Dialect) hearMultimodal(f frame) {
	if present(f.File) || present(f.Files) {
		d.refuse(f.Type, invalid(typeValue, "files", "Files cannot be sent in a conversation. Send text, or add the file to the agent's knowledge base."))
	}
	if !present(f.Text) {
		if !present(f.File) && !present(f.Files) {
			d.refuse(f.Type, invalid(typeMissing, "text", "The event needs text, an object with the text of the message."))
		}
		return
	}
	var message struct {
		Text json.RawMessage `json:"text"`
	}
	refused := decode(f.Text, "text", &message)
	said := ""
	if refused == nil {
		said, refused = text(message.Text, "text.text")
	}
	if refused == nil {
		refused = checkText(said, "text.text")
	}
	if refused != nil {
		d.refuse(f.Type, refused)
		return
	}
	d.say(said)
}

func (d *Dialect) noteActivity(frame) { d.do(live.Activity{}) }

// addContext tells the model something without asking for an answer. It is no instruction of the
// operator's: see live.Insert.
func (d *Dialect) addContext(f frame) {
	said, ok := d.words(f)
	if !ok {
		return
	}
	d.do(live.Insert{CommandID: commandContext, Kind: sessions.SystemItem, Text: said})
}

// takeResult takes the result of a client's tool, which may be any JSON: what is not text goes to the
// model as JSON text.
func (d *Dialect) takeResult(f frame) {
	if f.ToolCallID == "" {
		d.refuse(f.Type, invalid(typeMissing, "tool_call_id", "The event needs tool_call_id, that of the client_tool_call."))
		return
	}
	output := ""
	if present(f.Result) && json.Unmarshal(f.Result, &output) != nil {
		output = string(f.Result)
	}
	d.do(live.ToolOutput{CommandID: commandResult, CallID: f.ToolCallID, Output: output, IsError: f.IsError, Respond: true})
}

func (d *Dialect) takeApproval(f frame) {
	if f.ToolCallID == "" || f.IsApproved == nil {
		d.refuse(f.Type, invalid(typeMissing, "is_approved", "The event needs tool_call_id, a string, and is_approved, a boolean."))
		return
	}
	d.do(live.Approve{CommandID: commandApproval, RequestID: turns.RequestOf(f.ToolCallID), Approved: *f.IsApproved})
}

// takeFeedback marks an answer as liked or not; null takes the mark back.
func (d *Dialect) takeFeedback(f frame) {
	event := 0
	if json.Unmarshal(f.EventID, &event) != nil {
		d.refuse(f.Type, invalid(typeMissing, "event_id", "The event needs event_id, the number of the agent_response."))
		return
	}
	score := ""
	if present(f.Score) && (json.Unmarshal(f.Score, &score) != nil || (score != "like" && score != "dislike")) {
		d.refuse(f.Type, invalid(typeValue, "score", "score is like, dislike or null."))
		return
	}
	turn, ok := turnOf(event)
	if !ok {
		d.refuse(f.Type, invalid(typeValue, "event_id", "There is no agent_response with the event_id "+strconv.Itoa(event)+"."))
		return
	}
	d.do(live.Feedback{CommandID: commandFeedback, Feedback: sessions.Feedback{TurnIndex: turn, Score: sessions.Score(score)}})
}

// pong measures how long the client took. Pongs that nobody waits for are let pass.
func (d *Dialect) pong(f frame) {
	event := 0
	if json.Unmarshal(f.EventID, &event) != nil {
		d.refuse(f.Type, invalid(typeMissing, "event_id", "The event needs event_id, the number of the ping."))
		return
	}
	if event == d.pings && d.pings > 0 {
		took := d.now().Sub(d.pingedAt).Milliseconds()
		d.latencyMS = &took
	}
}

// refuseAudio says once that nobody listens: a microphone sends several of these a second.
func (d *Dialect) refuseAudio(f frame) {
	if d.audioRefused {
		return
	}
	d.audioRefused = true
	if d.channel == sessions.ChatChannel {
		d.refuse(f.Type, &refusal{errorType: typeASR, reason: fault.SessionModality, message: "This is the chat socket: send text with user_message, or speak on the session's ws_url."})
		return
	}
	d.refuse(f.Type, &refusal{errorType: typeASR, reason: fault.STTNotConfigured, message: "No transcriber is configured, so audio is not heard. Send text with user_message; it is answered in text."})
}
