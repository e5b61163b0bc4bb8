package turns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

const (
	// busyPoll is how often a turn that waits for another looks again.
	busyPoll = 60 * time.Millisecond
	// busyWait is the longest a turn waits for the ones before it.
	busyWait = 2 * time.Minute
)

// Start says which turn is to be run.
type Start struct {
	// Session is the session as its node last saw it.
	Session sessions.Session
	// Turn is the id of the turn: of a new one, or of the unanswered one when Open is set.
	Turn sessions.TurnID
	// Open says that the turn was accepted before.
	Open bool
	// Said is what the user said in a new turn; none asks the agent to go on.
	Said []sessions.Message
	// Accepted, when set, is called once, from the runner's goroutine: with the turn as soon as
	// what the user said is written down, or with the error that kept it from being.
	Accepted func(turn sessions.Turn, err error)
	// Response is the answer's id when a socket asks for it.
	Response string
	// Asked is when the answer was asked for; zero: now.
	Asked time.Time
	// Cache is what the node knows of the session; nil for a turn without a socket.
	Cache *SessionCache

	// outputs are a client's results of calls, which a new turn begins with; answered gets those
	// calls.
	outputs  []sessions.Message
	answered *[]tools.ClientCall
	// offered are the caller's own tools of a new turn, as they are kept; see again.go.
	offered json.RawMessage
	// resumed says that the turn's node was lost, and that it is taken from there: see again.go.
	resumed bool
}

var errBegin = errors.New("the turn could not be begun")

// begin waits until no other turn of the session runs, on any node, then takes the lease. When it
// returns, what the user said is in Postgres, or on this node's disk while Postgres is away
// (Begun.Offline). Errors: Precondition session-closed, Unavailable unavailable (waited too long),
// the context's or its cause.
//
// A turn that can begin does so although ctx ends meanwhile: it is then recorded as cancelled. A
// turn that was accepted and not begun would be nobody's.
func (s *Service) begin(ctx context.Context, start *Start, l *Lease) (begun Begun, err error) {
	err = errBegin // of a panic
	defer func() { start.tellAccepted(begun.Turn, err) }()
	if ctx.Err() != nil && !start.Open {
		return Begun{}, fmt.Errorf("beginning a turn: %w", context.Cause(ctx))
	}
	waiting, cancel := context.WithTimeout(ctx, busyWait)
	defer cancel()
	trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), busyWait)
	defer cancel()
	ticker := time.NewTicker(busyPoll)
	defer ticker.Stop()
	for {
		begun, err = s.tryBegin(trying, *start)
		if err == nil {
			s.noteBegun(*start, begun, l)
			return begun, nil
		}
		if !errors.Is(err, ErrBusy) && !errors.Is(err, ErrLeaseOver) {
			return begun, err
		}
		if err := s.acceptWaiting(trying, start); err != nil {
			return begun, err
		}
		select {
		case <-ticker.C:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return Begun{}, fmt.Errorf("waiting for the turn before: %w", context.Cause(ctx))
			}
			return Begun{}, errStillRunning()
		}
	}
}

// noteBegun tells the lease of a turn that has begun.
func (s *Service) noteBegun(start Start, begun Begun, l *Lease) {
	if start.answered != nil {
		*start.answered = begun.Answered
	}
	if begun.Offline {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.losses = begun.Turn.Losses
}

// tryBegin takes the lease, if that can be done now.
func (s *Service) tryBegin(ctx context.Context, start Start) (Begun, error) {
	p := BeginParams{Session: start.Session, Turn: start.Turn, Response: start.Response, Resume: start.resumed, Cache: start.Cache}
	if !start.Open {
		p.New = &NewTurn{Said: start.Said, Outputs: start.outputs, Offered: start.offered}
	}
	begun, err := s.store.Begin(ctx, p)
	if errors.Is(err, ErrLeaseOver) && s.NodeLost(ctx, start.Session.ID) {
		p.TakeLost = true
		return s.store.Begin(ctx, p)
	}
	return begun, err
}

// acceptWaiting writes down what a socket's user said in a turn that has to wait for another.
func (s *Service) acceptWaiting(ctx context.Context, start *Start) error {
	if start.Accepted == nil || start.Open || len(start.Said) == 0 {
		return nil
	}
	turn, err := s.store.Accept(ctx, AcceptParams{Session: start.Session, New: start.Turn, Message: start.Said[0], Cache: start.Cache})
	if err != nil {
		return err
	}
	start.Open = true
	start.tellAccepted(turn, nil)
	return nil
}

// tellAccepted calls Accepted the first time.
func (start *Start) tellAccepted(turn sessions.Turn, err error) {
	if start.Accepted != nil {
		start.Accepted(turn, err)
		start.Accepted = nil
	}
}

// Accept writes down what a socket said or answered, in the unanswered turn or a new one. Errors:
// those of Store.Accept.
func (s *Service) Accept(ctx context.Context, p AcceptParams) (sessions.Turn, error) {
	return s.store.Accept(ctx, p)
}

// UserText is everything the user said in the messages.
func UserText(messages []sessions.Message) string {
	text := ""
	for _, m := range messages {
		if m.Role != sessions.RoleUser || m.Text == "" {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += m.Text
	}
	return text
}
