package parlance

import (
	"slices"
	"strings"
	"time"
)

const (
	// requestKey is the member of a response's metadata with the id of the message that it answers.
	requestKey = "parlance_request"
	// settleTime is how long, after a reconnect, an answer that may have been asked for is waited
	// for before it is asked for again.
	settleTime = 1500 * time.Millisecond
)

// message is a message of the user whose answer has not begun.
type message struct {
	id, text string
	// sent says that it went out over some connection, accepted that the service has it.
	sent, accepted bool
	// unsure says that a connection was lost behind it: what arrived is not known.
	unsure bool
	// fresh says that the service did not have it before it was sent again, so that it cannot have
	// been answered.
	fresh bool
}

// outbox holds the messages whose answers have not begun. After a lost connection nobody knows how
// much of a message arrived, so that each is sent again under the same id, which the service
// refuses when it has it, and its answer is asked for again only when none comes. The caller
// locks.
type outbox struct {
	waiting []*message
	// repeated are the ids of the messages that were looked after since the last connection.
	repeated map[string]bool
	// answering is the id of the answer that is in progress; empty without one.
	answering string
	// send writes an event to the connection. It reports whether there is one, not that the event
	// arrives.
	send func(event map[string]any) bool
	// later calls ask after settleTime, with the lock.
	later func(ask func())
}

func (o *outbox) add(m *message) {
	o.waiting = append(o.waiting, m)
	o.transmit(m)
}

func (o *outbox) transmit(m *message) {
	o.create(m)
	o.request(m)
}

func (o *outbox) create(m *message) {
	m.sent = o.send(map[string]any{"type": "conversation.item.create", "event_id": m.id + ".item", "item": map[string]any{
		"id": m.id, "type": "message", "role": "user", "content": []map[string]any{{"type": "input_text", "text": m.text}},
	}})
}

func (o *outbox) request(m *message) {
	m.unsure = !o.send(map[string]any{"type": "response.create", "event_id": m.id + ".answer", "response": map[string]any{
		"metadata": map[string]string{requestKey: m.id},
	}})
}

// lost is called when the connection was lost.
func (o *outbox) lost() {
	for _, m := range o.waiting {
		m.unsure = m.sent
	}
}

// opened is called when there is a connection again. The service answers the check behind
// everything that it sends again.
func (o *outbox) opened() {
	o.repeated = map[string]bool{}
	for _, m := range o.waiting {
		if !m.sent {
			o.transmit(m)
			continue
		}
		o.repeated[m.id] = true
		if m.fresh = !m.accepted; m.fresh {
			o.create(m)
		}
		o.send(map[string]any{"type": "conversation.item.retrieve", "event_id": m.id + ".check", "item_id": m.id})
	}
}

// take looks at an event of the service. It reports whether the event is about the sending itself,
// and nothing for the program.
func (o *outbox) take(event *ConversationEvent) (internal bool) {
	switch event.Type {
	case "conversation.item.added":
		if m := o.find(event.Item.ID); m != nil {
			m.accepted = true
		}
	case "conversation.item.retrieved":
		if m := o.find(event.Item.ID); m != nil {
			m.accepted = true
			o.checked(m)
		}
		return o.repeated[event.Item.ID]
	case "response.created":
		o.answering = event.Response.ID
		request := event.Response.Metadata[requestKey]
		// An answer that another server resumed does not name its request.
		answered := func(m *message) bool { return m.id == request || request == "" && m.unsure && m.accepted }
		if i := slices.IndexFunc(o.waiting, answered); i >= 0 {
			o.waiting = slices.Delete(o.waiting, i, i+1)
		}
	case "response.done":
		o.answering = ""
		for _, m := range o.waiting {
			if m.unsure && m.accepted {
				o.checked(m)
			}
		}
	case "error":
		return o.refused(event.Error)
	}
	return false
}

func (o *outbox) find(id string) *message {
	i := slices.IndexFunc(o.waiting, func(m *message) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return o.waiting[i]
}

// refused takes an error about something that the outbox sent.
func (o *outbox) refused(err ConversationError) (internal bool) {
	for i, m := range o.waiting {
		switch err.EventID {
		case m.id + ".item":
			if m.unsure && err.Code == "item_create_duplicate_id" {
				m.accepted, m.fresh = true, false
				return true
			}
		case m.id + ".check":
			o.checked(m)
			return true
		case m.id + ".answer":
		default:
			continue
		}
		o.waiting = slices.Delete(o.waiting, i, i+1) // the program is told
		return false
	}
	id, part, _ := strings.Cut(err.EventID, ".") // of a message whose answer has begun meanwhile
	return o.repeated[id] && part != "answer"
}

// checked is called when everything that the service sent again has come.
func (o *outbox) checked(m *message) {
	if !m.unsure {
		return
	}
	ask := func() {
		if o.find(m.id) != nil && m.unsure && o.answering == "" {
			o.request(m)
		}
	}
	if m.fresh && m.accepted {
		ask()
	} else {
		o.later(ask)
	}
}
