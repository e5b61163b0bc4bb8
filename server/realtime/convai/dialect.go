package convai

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// Times of the beginning.
const (
	// settlePause is how long nothing comes behind the metadata, not what a returning client missed nor an error
	// either. The SDK hears messages from a moment later on; one that is read together with the metadata was seen
	// to be lost. Source: realtime.md, section 2, which asks for 20 to 50 ms.
	settlePause = 40 * time.Millisecond
	// dataPause is how long the client has to send its initiation data before the first message
	// goes out without. SDKs send it at once; what is written by hand may not send it at all.
	dataPause = time.Second
)

// Dialect is one socket's state. It belongs to one goroutine.
type Dialect struct {
	session sessions.Session
	channel sessions.LiveChannel
	history []sessions.Item
	now     func() time.Time

	// settled says that the client hears everything: settlePause is over.
	settled bool
	// initiated says that the initiation data came; begun, that Greet is on its way; returned, that the client was
	// here before.
	initiated, begun, returned bool
	// wanted are the events that the client asked for; nil: all but the full payloads.
	wanted map[string]bool
	// response is the one going out; nil when there is none.
	response *openResponse
	// later is what was said while it goes out: see holdBack.
	later []sessions.Item
	// asked are the requests for approval by call.
	asked map[string]string
	// audioRefused says that the client knows its audio is not heard.
	audioRefused bool

	pings     int
	pingedAt  time.Time
	latencyMS *int64
	// sent counts the frames of the newest events; whole is the newest answer that was sent whole. See send.
	sent  map[int]int
	whole int

	step dialect.Step
}

// New makes a dialect. Open is to be called first.
func New(p dialect.Params) *Dialect {
	now := p.Now
	if now == nil {
		now = time.Now
	}
	return &Dialect{
		session: p.Session, channel: p.Channel, history: p.History, now: now,
		returned: len(p.History) > 0, asked: map[string]string{}, sent: map[int]int{},
	}
}

// The event ids. The user's words of turn i (from 0) have 2i+1, the agent's 2i+2: every part of an
// answer has the same, as with ElevenLabs. What interrupts turn i has 2i+3, as what the user said then.
func userEvent(turn int) int  { return 2*turn + 1 }
func agentEvent(turn int) int { return 2*turn + 2 }

// turnOf is the turn of an agent's event.
func turnOf(event int) (int, bool) { return event/2 - 1, event >= 2 && event%2 == 0 }

// Open sends the metadata, which must be the first and for a moment the only event, and offers the
// agent's client tools.
func (d *Dialect) Open() dialect.Step {
	voice := d.session.Config.Voice
	d.send(0, "conversation_initiation_metadata", &metadataEvent{Metadata: metadata{
		ConversationID: string(d.session.ID), OutputFormat: format(voice.OutputAudioFormat), InputFormat: format(voice.InputAudioFormat),
	}})
	if tools := clientTools(d.session.Config); len(tools) > 0 {
		d.do(live.Configure{CommandID: commandTools, ClientTools: tools})
	}
	d.step.Pause, d.step.Alone = settlePause, len(d.step.Frames)
	return d.take()
}

// Again is Open for another socket of the same client, which sends its initiation data anew.
func (d *Dialect) Again(history []sessions.Item) dialect.Step {
	d.history, d.settled, d.initiated, d.returned = history, false, false, true
	return d.Open()
}

// formats are the agent's words for audio formats in the protocol's, which has no A-law: what is not
// in it is told as its nearest.
var formats = map[string]string{"pcm16_16000": "pcm_16000", "g711_ulaw": "ulaw_8000", "g711_alaw": "ulaw_8000"}

func format(own string) string {
	if name, ok := formats[own]; ok {
		return name
	}
	return "pcm_24000"
}

// clientTools are those of the agent: clients of this protocol cannot declare any.
func clientTools(config agents.Config) []model.Tool {
	offered := make([]model.Tool, len(config.ClientTools))
	for i, t := range config.ClientTools {
		offered[i] = model.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}
	}
	return offered
}

// Wake goes on when a pause is over: the client hears now, and gets its greeting if it has not sent
// any initiation data.
func (d *Dialect) Wake() dialect.Step {
	if !d.settled {
		d.settled = true
		d.ping()
		if !d.begun {
			d.step.Pause = dataPause
		}
		return d.take()
	}
	d.begin()
	return d.take()
}

// begin asks for the first message, once.
func (d *Dialect) begin() {
	if d.begun {
		return
	}
	d.begun = true
	d.do(live.Greet{})
	if !d.settled {
		d.step.Pause = settlePause
	} else {
		d.step.Pause = time.Nanosecond // ends the wait for the data
	}
}

// Ping is the protocol's own ping; SDKs measure the connection with it.
func (d *Dialect) Ping() dialect.Step {
	if d.settled {
		d.ping()
	}
	return d.take()
}

func (d *Dialect) ping() {
	d.pings++
	d.pingedAt = d.now()
	d.send(0, "ping", &pingEvent{Ping: ping{EventID: d.pings, LatencyMS: d.latencyMS}})
	d.latencyMS = nil
}

// Missed tells a returning client what was said behind the event it saw last, which it names by an
// event_id, or by the parlance_event_id of a frame. The parts of one answer have one event_id, so
// that an answer which is named by it comes again, whole.
func (d *Dialect) Missed(lastEventID string) dialect.Step {
	number, part, _ := strings.Cut(lastEventID, ".")
	seen, err := strconv.Atoi(number)
	if err != nil {
		d.refuse("", invalid(typeValue, "last_event_id", "last_event_id is an event_id, or a parlance_event_id, of this conversation."))
		return d.take()
	}
	whole := strings.HasPrefix(part, wholeMark)
	said := map[int]string{}
	for i, item := range d.history {
		switch item.Kind {
		case sessions.UserItem:
			if userEvent(item.TurnIndex) > seen && !d.holdBack(item) {
				d.tellUser(item)
			}
		case sessions.AssistantItem:
			if text := said[item.TurnIndex]; text != "" {
				item.Text = text + betweenMessages + item.Text
			}
			said[item.TurnIndex] = item.Text
			id := agentEvent(item.TurnIndex)
			if (id > seen || (id == seen && !whole)) && !d.goingOut(item) && lastOfTurn(d.history[i:]) {
				d.tellAgent(item)
			}
		default: // calls were made; the client can do nothing about them now
		}
	}
	return d.take()
}

// goingOut says that the item is of the answer that is going out, whose frames follow.
func (d *Dialect) goingOut(item sessions.Item) bool {
	return d.response != nil && d.response.turn == item.TurnIndex
}

// lastOfTurn says whether the agent's message that items begin with is the turn's last.
func lastOfTurn(items []sessions.Item) bool {
	for _, later := range items[1:] {
		if later.TurnIndex == items[0].TurnIndex && later.Kind == sessions.AssistantItem {
			return false
		}
	}
	return true
}

// Frame takes a client's frame; text says whether it was one of text.
func (d *Dialect) Frame(data []byte, text bool) dialect.Step {
	if !text {
		d.refuse("", invalid(typeInvalid, "", "Events are JSON in text frames; binary frames are not read."))
		return d.take()
	}
	f, refused := readFrame(data)
	if refused != nil {
		d.refuse(f.Type, refused)
		return d.take()
	}
	handle, known := clientEvents[f.Type]
	if !known {
		d.refuse("", invalid(typeInvalid, "type", "There is no client event "+quote(f.Type)+"."))
		return d.take()
	}
	if f.Type != "conversation_initiation_client_data" && f.Type != "pong" {
		d.begin()
	}
	handle(d, f)
	return d.take()
}

// clientEvents are the events of a client by type.
var clientEvents = map[string]func(*Dialect, frame){
	"conversation_initiation_client_data": (*Dialect).initiate,
	"user_message":                        (*Dialect).hear,
	"multimodal_message":                  (*Dialect).hearMultimodal,
	"user_activity":                       (*Dialect).noteActivity,
	"contextual_update":                   (*Dialect).addContext,
	"client_tool_result":                  (*Dialect).takeResult,
	"mcp_tool_approval_result":            (*Dialect).takeApproval,
	"feedback":                            (*Dialect).takeFeedback,
	"pong":                                (*Dialect).pong,
	audioType:                             (*Dialect).refuseAudio,
}

// always are the events that a client cannot turn off.
var always = map[string]bool{"conversation_initiation_metadata": true, "ping": true, "error": true, "client_tool_call": true}

// send queues an event. A frame's id is the event's, a dot, and its number among the frames of that
// id, for the parts of an answer have one event_id; behind the dot is a d once the whole answer was
// sent. Events without one (0) have no frame id either, and are not sent again.
func (d *Dialect) send(id int, kind string, e serverEvent) {
	if d.wanted != nil && !d.wanted[kind] && !always[kind] {
		return
	}
	frameID := ""
	if id > 0 {
		d.sent[id]++
		delete(d.sent, id-4) // of two turns before
		frameID = strconv.Itoa(id) + "."
		if d.whole == id || kind == "agent_response" {
			d.whole = id
			frameID += wholeMark
		}
		frameID += strconv.Itoa(d.sent[id])
	}
	e.name(kind, frameID)
	data, err := encode(e)
	if err != nil {
		d.step.Err = err
		return
	}
	d.step.Frames = append(d.step.Frames, dialect.Frame{ID: frameID, Data: data})
}

// wholeMark is in the ids of an answer's frames from its agent_response on.
const wholeMark = "d"

func (d *Dialect) do(c live.Command) { d.step.Commands = append(d.step.Commands, c) }

// take is the step so far; a new one begins.
func (d *Dialect) take() dialect.Step {
	step := d.step
	d.step = dialect.Step{}
	return step
}

// refuse answers a client event with an error; the session stays open. ElevenLabs closes with 1008
// for overrides that are not allowed; a client that reads the error can go on here.
func (d *Dialect) refuse(event string, r *refusal) {
	code := codePolicy
	if r.errorType == typeInvalid {
		code = codeProtocol
	}
	d.send(0, "error", &errorEvent{Error: wireError{
		Code: code, Type: r.errorType, Message: r.message, Details: errorDetails{Code: string(r.reason), Event: event, Fields: r.fields},
	}})
}

// The codes of error events, which are the only ones the protocol has.
const (
	codeEnded    = 1000
	codeProtocol = 1002
	codePolicy   = 1008
	codeInternal = 1011
)

// closings are what is said before a close frame, by reason.
var closings = map[string]string{
	"reconnect":       "This server is being stopped. Connect again with the same URL; the conversation goes on.",
	"replaced":        "Another connection has taken over this conversation.",
	"frame_too_large": "A frame was too large. Connect again with the same URL, and send smaller ones.",
	"internal_error":  "Something went wrong here. Connect again with the same URL.",
	"session-closed":  "The conversation is over.",
	"max_duration":    "The conversation has reached its longest duration.",
}

// Close tells why the connection is closed. A conversation that is over as it should be has no last
// word: its close frame has the code 1000, and the SDK calls that an end by the agent.
func (d *Dialect) Close(code int, reason string) dialect.Step {
	ends := wireError{Code: codeInternal, Type: typeConnexion, Message: closings[reason], Details: errorDetails{Code: reason}}
	if ends.Message == "" {
		ends.Message = "The connection is closed: " + reason + "."
	}
	switch {
	case reason == sessions.ReasonMaxDuration:
		ends.Code, ends.Type = codePolicy, typeTooLong
	case code == codeEnded:
		return dialect.Step{}
	case code == codePolicy:
		ends.Code = codePolicy
	case reason == "internal_error":
		ends.Type = typeUnknown
	}
	d.send(0, "error", &errorEvent{Error: ends})
	return d.take()
}

// raw is a value as the JSON text that it is.
func raw(value any) json.RawMessage {
	encoded, err := encode(value)
	if err != nil {
		return json.RawMessage("null") // of strings, maps and what was decoded there is no error
	}
	return encoded
}
