package requests

import (
	"errors"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
)

// The types of an [Event].
const (
	EventStarted    = "turn.started"
	EventDelta      = "turn.delta"
	EventToolCall   = "turn.tool_call"
	EventClientCall = "turn.client_tool_call"
	EventApproval   = "turn.approval_requested"
	EventDone       = "turn.done"
)

// Event is a piece of a turn.
type Event struct {
	Type string
	// ID names the event for [Service.Follow]; it says how much of the turn has come with it.
	ID     string
	TurnID sessions.TurnID
	// Delta is the next piece of the answer (turn.delta); all of them make its text.
	Delta string
	// ToolCall is a call that has its result (turn.tool_call), or one that the caller is to run
	// (turn.client_tool_call).
	ToolCall *sessions.ToolCall
	// Approval is a call that waits for approval (turn.approval_requested).
	Approval *sessions.Approval
	// Turn is the whole turn, recorded (turn.done).
	Turn *sessions.Turn
}

// EmitFunc takes the next event. Its error says that the caller has gone.
type EmitFunc func(Event) error

// position is how much of a turn's events a caller has. It is written into each event's id, so that
// what comes next can be told from the recorded turn alone.
type position struct {
	// events counts them, bytes those of the text, calls the calls with a result.
	events, bytes, calls int
	// losses are the turn's: after each loss of a node its events begin anew.
	losses int
}

// advance moves the position behind an event.
func (p *position) advance(e Event) {
	p.events++
	p.bytes += len(e.Delta)
	if e.Type == EventToolCall {
		p.calls++
	}
}

// eventID is turn_….<events>.<bytes>.<calls>, and .<losses> when there were any. That of turn.done
// always has the losses, with a 0 before them: nothing comes after it.
func (p position) eventID(turn sessions.TurnID, eventType string) string {
	id := string(turn) + "." + strconv.Itoa(p.events) + "." + strconv.Itoa(p.bytes) + "." + strconv.Itoa(p.calls)
	switch {
	case eventType == EventDone:
		id += ".0" + strconv.Itoa(p.losses)
	case p.losses > 0:
		id += "." + strconv.Itoa(p.losses)
	}
	return id
}

// sender numbers the events of a turn for a caller.
type sender struct {
	emit EmitFunc
	turn sessions.TurnID
	sent position
}

func (s *sender) send(e Event) error {
	s.sent.advance(e)
	e.TurnID, e.ID = s.turn, s.sent.eventID(s.turn, e.Type)
	if e.Approval != nil {
		e.Approval.TurnID = s.turn
	}
	if err := s.emit(e); err != nil {
		return errGone(err)
	}
	return nil
}

// isDoneID reports whether an id is that of turn.done.
func isDoneID(id string) bool {
	parts := strings.Split(id, ".")
	return len(parts) == 5 && strings.HasPrefix(parts[4], "0")
}

var errEventID = errors.New("not an event's id")

// parseEventID reads the turn and the position in an event's id.
func parseEventID(id string) (turn sessions.TurnID, p position, err error) {
	parts := strings.Split(id, ".")
	if len(parts) < 4 || len(parts) > 5 || !idgen.Valid(idgen.Turn, parts[0]) {
		return "", position{}, errEventID
	}
	for i, into := range []*int{&p.events, &p.bytes, &p.calls, &p.losses}[:len(parts)-1] {
		if *into, err = strconv.Atoi(parts[i+1]); err != nil || *into < 0 {
			return "", position{}, errEventID
		}
	}
	return sessions.TurnID(parts[0]), p, nil
}

// TurnOfEvent is the turn that an event's id names. Errors: Invalid invalid-request.
func TurnOfEvent(id string) (sessions.TurnID, error) {
	turn, _, err := parseEventID(id)
	if err != nil {
		return "", fault.InvalidField("last_event_id", "format", "Give the id of an event of a turn as it came; %q is none.", id)
	}
	return turn, nil
}

// errGone says that the caller of a turn has gone, or why it gets no more of it.
func errGone(err error) error {
	if _, decided := errors.AsType[*fault.Error](err); decided {
		return err
	}
	return fault.Wrap(err, fault.CallerCanceled, "The caller has gone; the turn goes on without it.")
}
