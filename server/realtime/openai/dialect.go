package openai

import (
	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// Dialect is one socket's state. Its methods are never called at the same time.
type Dialect struct {
	session sessions.Session
	channel sessions.Channel
	// speaks is set when answers can be spoken on this socket.
	speaks bool
	audio  audioSettings
	// initialVoice is the agent's voice as the session began with it.
	initialVoice agents.Voice
	tools        []model.Tool
	history      []sessions.Item

	items items
	// lastEventID is the id of the last event that was sent, without sound.
	lastEventID string
	// lastWholeItem is the newest item that the client has completely.
	lastWholeItem string
	// responses are the open ones by id: at most one of the conversation, and some out of band.
	responses map[string]*openResponse
	// lastResponse is the newest response of the conversation, open or not.
	lastResponse string
	// requested has, by command, what the responses that have not started were asked for with.
	requested map[string]requestedResponse
	// refusedItem is the id of the item that was refused last.
	refusedItem string
	// maxTokens is the client's bound of an answer; 0 or less when there is none.
	maxTokens int
	// audioRefused is set once the client has got the error that it cannot speak here.
	audioRefused bool

	// step is the result of the call that is being handled.
	step dialect.Builder
}

// New makes a dialect. Open is to be called first.
func New(p dialect.Params) *Dialect {
	voice := p.Session.Config.Voice
	d := &Dialect{
		session: p.Session, channel: p.Channel, speaks: p.Speaks, audio: newAudioSettings(voice), initialVoice: voice,
		history: p.History, requested: map[string]requestedResponse{},
		responses: map[string]*openResponse{},
	}
	for _, item := range p.History {
		previous := d.items.last()
		if item.After == sessions.AtFront {
			previous = ""
		} else if item.After != "" {
			previous = item.After
		}
		d.items.insert(item.ID, previous, wireItem(item))
		d.lastWholeItem = item.ID
	}
	return d
}

// send adds an event to the step. Its id is evt_<ulid>, then a dot and the newest whole item if
// there is one: see Missed.
func (d *Dialect) send(e serverEvent) {
	id := idgen.New(idgen.Event)
	if d.lastWholeItem != "" {
		id += "." + d.lastWholeItem
	}
	e.setEventID(id)
	d.lastEventID = id
	d.step.Send(id, e)
}

// refuse answers a client event with an error; the session stays open.
func (d *Dialect) refuse(eventID string, r *refusal) {
	d.send(&errorEvent{head{Type: "error"}, wireError{
		Type: "invalid_request_error", Code: r.code, Message: r.message,
		Param: optional(r.param), EventID: optional(eventID),
	}})
}

// fail answers a client event with an error of the conversation.
func (d *Dialect) fail(eventID string, err *fault.Error) {
	kind, param := "invalid_request_error", ""
	if err.Kind().Status() >= 500 {
		kind = "server_error"
	}
	if len(err.Fields) > 0 {
		param = err.Fields[0].Field
	}
	d.send(&errorEvent{head{Type: "error"}, wireError{
		Type: kind, Code: string(err.Reason), Message: err.Message,
		Param: optional(param), EventID: optional(eventID),
	}})
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
