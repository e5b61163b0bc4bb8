package openai

import (
	"slices"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// Params is what a dialect starts with.
type Params = dialect.Params

// Step is what came of a frame or an event.
type Step = dialect.Step

// Dialect is one socket's state. It belongs to one goroutine.
type Dialect struct {
	session sessions.Session
	channel sessions.LiveChannel
	audio   audioSettings
	// began is the agent's voice as the session began with it.
	began   agents.Voice
	tools   []model.Tool
	history []sessions.Item

	items items
	// whole is the newest item that the client has all of.
	whole string
	// responses are those going out, by id: one of the conversation, and some out of band.
	responses map[string]*openResponse
	// response is the newest of the conversation, going out or not.
	response string
	// asked waits, by command, for the responses.
	asked map[string]asked
	// maxTokens is the client's bound of an answer; 0 or less when there is none.
	maxTokens int
	// audioRefused says that the client knows its audio is not heard.
	audioRefused bool

	step Step
}

// New makes a dialect. Open is to be called first.
func New(p Params) *Dialect {
	d := &Dialect{
		session: p.Session, channel: p.Channel, audio: newAudioSettings(p.Session.Config.Voice), began: p.Session.Config.Voice,
		history: p.History, asked: map[string]asked{}, responses: map[string]*openResponse{},
	}
	for _, one := range p.History {
		previous := d.items.last()
		if one.After == sessions.AtFront {
			previous = ""
		} else if one.After != "" {
			previous = one.After
		}
		d.items.insert(one.ID, previous, wireItem(one))
		d.whole = one.ID
	}
	return d
}

// Open is what goes out before anything else: session.created.
func (d *Dialect) Open() Step {
	d.send(&sessionEvent{head{Type: "session.created"}, d.effective()})
	return d.take()
}

// Again is Open for another socket of the client: its tools, formats and overrides are in force still.
func (d *Dialect) Again(history []sessions.Item) Step {
	d.history = history
	return d.Open()
}

// maxReplayed bounds how many missed items are sent again, newest kept.
const maxReplayed = 200

// Missed sends the items behind the one the client saw last, whole. Our event ids end in the newest item the
// client has all of (see send), so any node can tell without the frames.
func (d *Dialect) Missed(lastEventID string) Step {
	_, seen, _ := strings.Cut(lastEventID, ".")
	first := slices.IndexFunc(d.history, func(one sessions.Item) bool { return one.ID == seen }) + 1
	first = max(first, len(d.history)-maxReplayed)
	for i, one := range d.history[first:] {
		previous := ""
		if at := first + i - 1; at >= 0 {
			previous = d.history[at].ID
		}
		d.sendWhole(one, previous)
	}
	return d.take()
}

// Close says nothing: the protocol has no last words, the close frame tells it all.
func (d *Dialect) Close(int, string) Step { return Step{} }

// Frame takes a client's frame; text says whether it was one of text.
func (d *Dialect) Frame(data []byte, text bool) Step {
	if !text {
		d.refuse("", &refusal{code: "invalid_event", message: "Events are JSON in text frames; binary frames are not read."})
		return d.take()
	}
	f, refused := readFrame(data)
	if refused != nil {
		d.refuse(f.EventID, refused)
		return d.take()
	}
	if handle, known := clientEvents[f.Type]; known {
		handle(d, f)
	} else {
		d.refuse(f.EventID, &refusal{code: "unknown_event", message: "There is no client event " + quote(f.Type) + ".", param: "type"})
	}
	return d.take()
}

// clientEvents are the events of a client by type.
var clientEvents = map[string]func(*Dialect, frame){
	"session.update":             (*Dialect).updateSession,
	"conversation.item.create":   (*Dialect).createItem,
	"conversation.item.retrieve": (*Dialect).retrieveItem,
	"conversation.item.delete":   (*Dialect).deleteItem,
	"conversation.item.truncate": (*Dialect).truncateItem,
	"response.create":            (*Dialect).createResponse,
	"response.cancel":            (*Dialect).cancelResponse,
	"input_audio_buffer.append":  (*Dialect).appendAudio,
	"input_audio_buffer.commit":  (*Dialect).commitAudio,
	"input_audio_buffer.clear":   (*Dialect).clearInput,
	"output_audio_buffer.clear":  (*Dialect).clearOutput,
}

// send queues an event. Its id is evt_<ulid>, then a dot and the newest whole item, when there is one.
func (d *Dialect) send(e serverEvent) {
	id := idgen.New(idgen.Event)
	if d.whole != "" {
		id += "." + d.whole
	}
	e.stamp(id)
	data, err := encode(e)
	if err != nil {
		d.step.Err = err
		return
	}
	d.step.Frames = append(d.step.Frames, dialect.Frame{ID: id, Data: data})
}

func (d *Dialect) do(c live.Command) { d.step.Commands = append(d.step.Commands, c) }

// take is the step so far; a new one begins.
func (d *Dialect) take() Step {
	step := d.step
	d.step = Step{}
	return step
}

// refuse answers a client event with an error; the session stays open.
func (d *Dialect) refuse(eventID string, r *refusal) {
	d.send(&errorEvent{head{Type: "error"}, wireError{
		Type: "invalid_request_error", Code: r.code, Message: r.message, Param: optional(r.param), EventID: optional(eventID),
	}})
}

// fail answers with a decision of the core.
func (d *Dialect) fail(eventID string, err *fault.Error) {
	kind, param := "invalid_request_error", ""
	if err.Kind().Status() >= 500 {
		kind = "server_error"
	}
	if len(err.Fields) > 0 {
		param = err.Fields[0].Field
	}
	d.send(&errorEvent{head{Type: "error"}, wireError{
		Type: kind, Code: string(err.Reason), Message: err.Message, Param: optional(param), EventID: optional(eventID),
	}})
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// maxQuotedBytes bounds what is said back of a client's words.
const maxQuotedBytes = 64

func quote(text string) string {
	if len(text) > maxQuotedBytes {
		text = strings.ToValidUTF8(text[:maxQuotedBytes], "") + "…"
	}
	return `"` + text + `"`
}
