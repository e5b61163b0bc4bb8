package openai

import (
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// maxReplayedItems bounds how many missed items are sent again; the newest are.
const maxReplayedItems = 200

// createdPause is how long nothing follows session.created. @openai/agents-realtime empties its
// history a moment after the connection is open, and would forget a greeting that came with it.
const createdPause = 40 * time.Millisecond

// Open is what goes out first, and for a moment alone: session.created.
func (d *Dialect) Open() dialect.Step {
	d.send(&sessionEvent{head{Type: "session.created"}, d.effectiveSession()})
	d.step.Pause, d.step.FramesBeforePause = createdPause, len(d.step.Frames)
	return d.step.Take()
}

// Reopen is Open for the next socket of the client. Its tools, formats and overrides stay in force.
func (d *Dialect) Reopen(history []sessions.Item) dialect.Step {
	d.history = history
	d.configureVoice() // the next socket's call is another
	return d.Open()
}

// Missed sends the items behind the one that the client saw last, whole. An event's id ends in the
// newest item that the client has completely, so any node can tell without the frames.
func (d *Dialect) Missed(lastEventID string) dialect.Step {
	_, seen, _ := strings.Cut(lastEventID, ".")
	isSeen := func(item sessions.Item) bool { return item.ID == seen }
	first := max(slices.IndexFunc(d.history, isSeen)+1, len(d.history)-maxReplayedItems)
	for i, item := range d.history[first:] {
		previous := ""
		if at := first + i - 1; at >= 0 {
			previous = d.history[at].ID
		}
		d.sendWholeItem(item, previous)
	}
	return d.step.Take()
}

// Close sends nothing: in this protocol the close frame is enough.
func (d *Dialect) Close(int, string) dialect.Step { return dialect.Step{} }

// clientEvents are the handlers of a client's events, by type.
var clientEvents = map[string]func(*Dialect, clientEvent){
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

// Frame takes a text frame of the client.
func (d *Dialect) Frame(data []byte) dialect.Step {
	e, refused := readEvent(data)
	if refused != nil {
		d.refuse(e.EventID, refused)
		return d.step.Take()
	}
	if handle, known := clientEvents[e.Type]; known {
		handle(d, e)
	} else {
		d.refuse(e.EventID, &refusal{
			code: "unknown_event", param: "type",
			message: "There is no client event " + dialect.Quote(e.Type) + ".",
		})
	}
	return d.step.Take()
}

// BinaryFrame refuses a binary frame.
func (d *Dialect) BinaryFrame() dialect.Step {
	d.refuse("", &refusal{
		code: "invalid_event", message: "Events are JSON in text frames; binary frames are not read.",
	})
	return d.step.Take()
}

// Event takes an event of the conversation. Closed is the socket's business and ignored.
func (d *Dialect) Event(e turns.Event) dialect.Step {
	switch e := e.(type) {
	case live.ItemAdded:
		d.addItem(e)
	case live.ItemRetrieved:
		d.send(&retrievedEvent{head{Type: "conversation.item.retrieved"}, wireItem(e.Item)})
	case live.ItemRemoved:
		d.removeItem(e)
	case live.ItemTruncated:
		d.truncated(e)
	case turns.ResponseStarted:
		d.startResponse(e)
	case turns.ResponseDone:
		d.finishResponse(e)
	case live.AnswerEnded:
		d.endRemoteAnswer(e)
	case live.Configured:
		d.configured(e)
	case live.Failed:
		d.failed(e)
	case live.HandoverChanged:
		d.send(&handoverEvent{head{Type: "parlance.handover"}, dialect.HandoverStatus(e), e.Operator})
	case turns.LeftToOperator:
		d.failed(live.Failed{CommandID: e.CommandID, Err: fault.New(fault.SessionTakenOver,
			"A person has the conversation: the message was stored, and no response follows.")})
	default:
		d.responseContent(e)
		d.voiceEvent(e)
	}
	return d.step.Take()
}
