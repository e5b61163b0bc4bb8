package requests

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// followPoll is how often the row of a followed turn is read although no notice of a change has
// come: notices may be lost, and a lost node sends none.
const followPoll = time.Second

// Follow hands the events of a turn that come after lastEventID (empty: all) to emit, until it is
// over; after turn.done there are none. A second turn.started says that the turn's node was lost
// and that its events begin anew. Errors: NotFound, Invalid invalid-request (the id of another
// turn's event), RateLimited rate-limited (MaxFollowers follow it here), how the turn ended.
func (s *Service) Follow(
	ctx context.Context, p workspaces.Principal, id sessions.ID, turnID sessions.TurnID, lastEventID string, emit EmitFunc,
) error {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return err
	}
	var sent position
	if lastEventID != "" {
		var of sessions.TurnID
		if of, sent, err = parseEventID(lastEventID); err != nil || of != turnID {
			return fault.InvalidField("last_event_id", "format", "Give the id of an event of this turn as it came; %q is none.", lastEventID)
		}
	}
	if isDoneID(lastEventID) {
		if turn, err := sessions.FindTurn(ctx, s.db, session, turnID); err != nil || turn.Status != sessions.TurnInProgress {
			return err
		}
	}
	leave, err := s.followers.enter(session.ID, turnID)
	if err != nil {
		return err
	}
	defer leave()
	return s.follow(ctx, session, &follower{sender: sender{emit: emit, turn: turnID, sent: sent}})
}

func (s *Service) follow(ctx context.Context, session sessions.Session, to *follower) error {
	for {
		if b := s.broadcasts.find(session.ID, to.turn); b != nil {
			if err := to.play(ctx, b); !errors.Is(err, turns.ErrTaken) {
				return err
			}
		}
		over, err := s.followRow(ctx, session, to)
		if over || err != nil {
			return err
		}
	}
}

// followRow follows a turn by its row, until it is over or a broadcast of it is here.
func (s *Service) followRow(ctx context.Context, session sessions.Session, to *follower) (over bool, err error) {
	shared, changed, unfollow := s.followers.add(session.ID, to.turn)
	defer unfollow()
	notified, since := false, s.sessions.Now()
	for {
		turn, err := shared.read(ctx, s.sessions.Now, since, func(ctx context.Context) (sessions.Turn, error) {
			return s.findTurn(ctx, session, to.turn)
		})
		if err != nil {
			return false, err
		}
		if err := to.sendRest(turn); err != nil || turn.Status != sessions.TurnInProgress {
			return true, err
		}
		if turn.HasOpenCalls() {
			waiting, err := s.turns.Approvals.Waiting(ctx, turn)
			if err != nil {
				return false, err
			}
			if err := to.sendApprovals(waiting); err != nil {
				return true, err
			}
		}
		if !notified { // and read the row again: it may have changed before the turn's node knew of us
			notified = true
			if err := sessions.Notify(ctx, s.db, sessions.Notice{Kind: sessions.NoticeFollow, Session: session.ID, Turn: to.turn}); err != nil {
				return false, err
			}
			since = s.sessions.Now()
			continue
		}
		if here, err := s.resumeLost(ctx, session, to.turn); here || err != nil {
			return false, err
		}
		now := s.sessions.Now()
		next := now.Truncate(followPoll).Add(followPoll) // for all followers at the same time
		poll := time.NewTimer(next.Sub(now))
		select {
		case since = <-changed:
		case <-poll.C:
			since = next
		case <-s.turns.Life().Done():
			return false, turns.StoppingError("Follow the turn again.")
		case <-ctx.Done():
			return false, ctx.Err()
		}
		poll.Stop()
	}
}

// follower sends a caller the events of a turn that the caller does not have.
type follower struct {
	sender
	// approvals are the calls for whose approval it has asked.
	approvals map[string]bool
}

// play sends the events of a broadcast.
func (f *follower) play(ctx context.Context, b *broadcast) error {
	leave := b.join()
	defer leave()
	return b.play(ctx, b.after(f.turn, f.sent), func(e Event) error {
		if turn, sent, err := parseEventID(e.ID); err == nil {
			f.turn, f.sent = turn, sent
		}
		return f.emit(e)
	})
}

// sendApprovals asks for the approval of calls, of each once.
func (f *follower) sendApprovals(waiting []sessions.Approval) error {
	for _, one := range waiting {
		if f.approvals[one.CallID] {
			continue
		}
		if f.approvals == nil {
			f.approvals = map[string]bool{}
		}
		f.approvals[one.CallID] = true
		if err := f.send(Event{Type: EventApproval, Approval: &one}); err != nil {
			return err
		}
	}
	return nil
}

// sendRest sends what a recorded turn has beyond what was sent, and how it ended if it is over.
func (f *follower) sendRest(turn sessions.Turn) error {
	if turn.Losses != f.sent.losses {
		f.sent = position{losses: turn.Losses}
	}
	if f.sent.events == 0 {
		if err := f.send(Event{Type: EventStarted}); err != nil {
			return err
		}
	}
	if rest := textAfter(sessions.AgentText(turn.Messages), f.sent.bytes); rest != "" {
		if err := f.send(Event{Type: EventDelta, Delta: rest}); err != nil {
			return err
		}
	}
	settled := 0
	for _, call := range turn.ToolCalls() {
		if !call.Settled {
			continue
		}
		if settled++; settled <= f.sent.calls {
			continue
		}
		if err := f.send(Event{Type: EventToolCall, ToolCall: &call}); err != nil {
			return err
		}
	}
	switch turn.Status {
	case sessions.TurnInProgress:
		return nil
	case sessions.TurnFailed:
		return fault.New(fault.Reason(turn.ErrorCode), "%s", turn.ErrorMessage)
	case sessions.TurnCompleted, sessions.TurnCancelled:
	}
	for _, call := range turn.OpenClientCalls() { // each time: a position does not count them
		if err := f.send(Event{Type: EventClientCall, ToolCall: &call}); err != nil {
			return err
		}
	}
	return f.send(Event{Type: EventDone, Turn: &turn})
}

// textAfter is the text behind its first bytes; empty when these end inside of a character.
func textAfter(text string, bytes int) string {
	if bytes >= len(text) || !utf8.RuneStart(text[bytes]) {
		return ""
	}
	return text[bytes:]
}
