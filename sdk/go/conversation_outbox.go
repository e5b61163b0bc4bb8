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
	// for before it is asked for again. The service resumes the answers of a server that was lost
	// within about 15 s, and answers a second request for one with nothing to say.
	settleTime = 20 * time.Second
	// resumeTime is how long an answer that was cut off is waited for.
	resumeTime = 30 * time.Second
)

// phase is how far a message has come.
type phase int

const (
	queued    phase = iota // behind another one, or there was no connection
	asked                  // sent, and its answer has not begun
	answering              // its answer has begun
	resuming               // the server was lost in its answer, which another one goes on with
)

// message is a message of the user whose answer has not ended.
type message struct {
	id, text string
	phase    phase
	// accepted says that the service has it.
	accepted bool
	// unsure says that a connection was lost behind it: what arrived is not known.
	unsure bool
	// fresh says that the service did not have it before it was sent again, so that it cannot have
	// been answered.
	fresh bool
	// response is the id of its answer.
	response string
	// cut says that a connection was lost in the middle of its answer, resumed that another server
	// went on with it.
	cut, resumed bool
	// heard counts the events of its answer.
	heard int
}

// outbox holds the messages whose answers have not ended. One is sent at a time: the service
// answers with one response all that it has by then. After a lost connection nobody knows how much
// of a message arrived, so that it is sent again under the same id, which the service refuses when
// it has it, and its answer is asked for again only when none comes. The caller locks.
type outbox struct {
	waiting []*message
	// repeated is the id of the message that was looked after since the last connection.
	repeated string
	// answering is the id of the answer that is in progress; empty without one.
	answering string
	// send writes an event to the connection. It reports whether there is one, not that the event
	// arrives.
	send func(event map[string]any) bool
	// later calls do after a while, with the lock.
	later func(after time.Duration, do func())
	// settleTime and resumeTime are the constants, except in tests.
	settleTime, resumeTime time.Duration
}

// first is the message that is being answered; one that is nobody's without any.
func (o *outbox) first() *message {
	if len(o.waiting) == 0 {
		return &message{}
	}
	return o.waiting[0]
}

func (o *outbox) add(m *message) {
	o.waiting = append(o.waiting, m)
	o.next()
}

// next sends the first message if it waits.
func (o *outbox) next() {
	if m := o.first(); m.id != "" && m.phase == queued && o.create(m) {
		m.phase = asked
		o.request(m)
	}
}

// settle forgets the first message, whose answer has ended or will not come.
func (o *outbox) settle() {
	o.waiting = slices.Delete(o.waiting, 0, 1)
	o.next()
}

func (o *outbox) create(m *message) bool {
	return o.send(map[string]any{"type": "conversation.item.create", "event_id": m.id + ".item", "item": map[string]any{
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
	m := o.first()
	m.unsure, m.cut = m.unsure || m.phase == asked, m.cut || m.phase == answering
}

// opened is called when there is a connection again. The service answers the check behind
// everything that it sends again.
func (o *outbox) opened() {
	o.repeated = ""
	switch m := o.first(); m.phase {
	case queued:
		o.next()
	case asked:
		o.repeated = m.id
		if m.fresh = !m.accepted; m.fresh {
			o.create(m)
		}
		o.send(map[string]any{"type": "conversation.item.retrieve", "event_id": m.id + ".check", "item_id": m.id})
	case answering, resuming:
		o.expire(m)
	}
}

// expire settles a message when no more of its answer comes.
func (o *outbox) expire(m *message) {
	heard := m.heard
	o.later(o.resumeTime, func() {
		if o.first() == m && m.heard == heard {
			o.settle()
		}
	})
}

// take looks at an event of the service. It reports whether the event is about the sending itself,
// and nothing for the program.
func (o *outbox) take(event *ConversationEvent) (internal bool) {
	m := o.first()
	if m.response != "" && event.ResponseID == m.response {
		m.heard++
	}
	switch event.Type {
	case "conversation.item.added":
		m.accepted = m.accepted || event.Item.ID == m.id
	case "conversation.item.retrieved":
		if event.Item.ID == m.id {
			m.accepted = true
			o.checked(m)
		}
		return o.repeated != "" && o.repeated == event.Item.ID
	case "response.created":
		o.answering = event.Response.ID
		if m.isAnswer(event.Response) {
			m.phase, m.response, m.unsure = answering, event.Response.ID, false
			m.heard++
		}
	case "response.done":
		o.answering = ""
		o.ended(m, event.Response)
	case "error":
		return o.refused(m, event.Error)
	}
	return false
}

// isAnswer reports whether a response is the message's answer.
func (m *message) isAnswer(response ConversationResponse) bool {
	request := response.Metadata[requestKey]
	if request != "" {
		return request == m.id
	}
	// An answer that another server resumed does not name its request.
	return m.phase == resuming || m.phase == asked && m.unsure && m.accepted
}

// ended is called when a response has ended.
func (o *outbox) ended(m *message, response ConversationResponse) {
	of := m.response != "" && response.ID == m.response || m.id != "" && response.Metadata[requestKey] == m.id
	unsure := m.phase == asked && m.unsure && m.accepted
	serverLost := response.Status == "failed" && response.StatusDetails.Error.Code == string(ReasonUnavailable)
	switch {
	case serverLost && !m.resumed && (of && m.cut || unsure):
		m.phase, m.response, m.resumed, m.unsure = resuming, "", true, false
		m.heard++
		o.expire(m)
	case of:
		o.settle()
	case unsure:
		o.checked(m)
	}
}

// refused takes an error about something that the outbox sent.
func (o *outbox) refused(m *message, err ConversationError) (internal bool) {
	id, part, _ := strings.Cut(err.EventID, ".")
	switch {
	case id == "" || id != m.id || m.phase != asked: // of one whose answer has begun meanwhile
		return id != "" && id == o.repeated && part != "answer"
	case part == "item" && m.unsure && err.Code == "item_create_duplicate_id":
		m.accepted, m.fresh = true, false
		return true
	case part == "check":
		o.checked(m)
		return true
	}
	o.settle() // the program is told
	return false
}

// checked is called when everything that the service sent again has come.
func (o *outbox) checked(m *message) {
	if !m.unsure {
		return
	}
	ask := func() {
		if o.first() == m && m.unsure && o.answering == "" {
			o.request(m)
		}
	}
	if m.fresh && m.accepted {
		ask()
	} else {
		o.later(o.settleTime, ask)
	}
}
