package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/fault"
)

const (
	// busyPoll is how often a turn that waits for another tries to begin.
	busyPoll = 60 * time.Millisecond
	// BusyWait is the longest that a turn waits for the turns before it.
	BusyWait = 2 * time.Minute
)

var errBegin = errors.New("the turn could not be begun")

// ErrStillRunning says that the turns before took too long.
func ErrStillRunning() error {
	return fault.New(fault.ServiceUnavailable, "Another turn of the session is still running. Send it again when that is done.")
}

// begin waits until no other turn of the session runs, on any node, and takes the lease. When it
// returns, what the user said is in Postgres, or in the journal while Postgres is away
// (Begun.Offline). Errors: Precondition session-closed, Unavailable unavailable (waited too long),
// ErrNoOperator, the context's or its cause.
//
// A turn that can begin does so although ctx ends meanwhile, and is then recorded as cancelled: an
// accepted turn that never begins would have no node.
func (s *Service) begin(ctx context.Context, start *Start, l *Lease) (begun Begun, err error) {
	err = errBegin // what Accepted gets after a panic
	defer func() { start.tellAccepted(begun.Turn, err) }()
	if ctx.Err() != nil && !start.Open {
		return Begun{}, fmt.Errorf("beginning a turn: %w", context.Cause(ctx))
	}
	waiting, cancel := context.WithTimeout(ctx, BusyWait)
	defer cancel()
	trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), BusyWait)
	defer cancel()
	ticker := time.NewTicker(busyPoll)
	defer ticker.Stop()
	for {
		begun, err = s.tryBegin(trying, *start)
		if err == nil {
			begun.OwnKeys = s.hasOwnKeys(begun)
			s.setBegun(*start, begun, l)
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
			return Begun{}, ErrStillRunning()
		}
	}
}

// setBegun completes the lease of a turn that has begun.
func (s *Service) setBegun(start Start, begun Begun, l *Lease) {
	if start.Answered != nil {
		*start.Answered = begun.Answered
	}
	if begun.Offline {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.losses = begun.Turn.Losses
}

// hasOwnKeys reports whether the workspace may have model keys of its own. For a turn that was
// begun without Postgres it is what the workspace's last turn on this node has found.
func (s *Service) hasOwnKeys(begun Begun) bool {
	workspace := begun.Session.Ref()
	if !begun.Offline {
		s.ownKeys.Set(workspace, begun.OwnKeys)
		return begun.OwnKeys
	}
	has, known := s.ownKeys.Get(workspace)
	return has || !known
}

// tryBegin takes the lease if no other turn has it.
func (s *Service) tryBegin(ctx context.Context, start Start) (Begun, error) {
	p := BeginParams{
		Session: start.Session, Turn: start.Turn, Response: start.Response, Resume: start.Resume, Stores: start.Stores, Cache: start.Cache,
	}
	if !start.Open {
		p.New = &NewTurn{Said: start.Said, Outputs: start.Outputs, ClientTools: start.ClientTools}
	}
	begun, err := s.store.Begin(ctx, p)
	if errors.Is(err, ErrLeaseOver) && s.NodeLost(ctx, start.Session.ID) {
		p.TakeLost = true
		return s.store.Begin(ctx, p)
	}
	return begun, err
}

// acceptWaiting stores what a socket's user said in a turn that has to wait for another.
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
