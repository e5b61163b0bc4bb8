package live

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
)

// AdmitParams are what a client presents before the upgrade.
type AdmitParams struct {
	SessionID sessions.ID
	// Token is the signed token from the URL, otherwise the bearer or sub-protocol token.
	Token   string
	Channel sessions.Channel
}

// Admission allows one socket to join; made by Admit, used once.
type Admission struct {
	// Session is the session as it was when the socket was admitted.
	Session sessions.Session
	Channel sessions.Channel
	// HoldGreeting delays the first_message until Greet, so that the client can configure the
	// session first.
	HoldGreeting bool
}

// Admit checks a socket before the HTTP upgrade; it changes nothing. Errors: Unauthenticated
// session-token-invalid, Precondition session-closed, Forbidden session-modality, Unavailable
// unavailable.
func (s *Service) Admit(ctx context.Context, p AdmitParams) (Admission, error) {
	var session sessions.Session
	err := s.turns.Reach(ctx, func(ctx context.Context) (err error) {
		session, err = s.sessions.Verify(ctx, p.Token, p.SessionID)
		return err
	})
	if err != nil {
		return Admission{}, err
	}
	if err := sessions.CheckOpen(session); err != nil {
		return Admission{}, err
	}
	if !session.HasChannel(p.Channel) {
		return Admission{}, fault.New(fault.SessionModality,
			"The session's modality is %s, which has no %s socket. Use chat_url.", session.Modality, p.Channel)
	}
	return Admission{Session: session, Channel: p.Channel}, nil
}

// joinTurns is how many of the newest turns a joining socket reads: more than a client misses
// within DropGrace, and independent of the conversation's length.
const joinTurns = 50

// Join adds an upgraded socket to its conversation. A pending session becomes in_progress (with the
// greeting), and an older socket of the channel on any node gets Closed with the reason replaced.
// ctx bounds the joining only; the conversation lasts until Leave.
// Errors: Precondition session-closed, Unavailable unavailable (this node is being stopped).
func (s *Service) Join(ctx context.Context, a Admission) (*Live, error) {
	if a.Session.Status == sessions.InProgress && s.engineOf(a.Session.ID) == nil { // its node may be lost
		s.turns.Settle(ctx, a.Session.ID)
	}
	e, err := s.engineFor(a.Session)
	if err != nil {
		return nil, err
	}
	arrived, err := s.arrive(ctx, a, e)
	if !e.inbox.call(func() { e.join(arrived) }) && err == nil {
		err = sessions.ClosedError(sessions.Session{Status: sessions.Completed, EndReason: "closed"})
	}
	if err != nil {
		return nil, err
	}
	return arrived.live, nil
}

// arrive stores the socket's connection. The engine waits for the arrival that it returns, also
// after an error, when the arrival has no live.
func (s *Service) arrive(ctx context.Context, a Admission, e *engine) (arrival, error) {
	now := s.sessions.Now()
	live := &Live{
		inbox: &e.inbox, now: s.now, channel: a.Channel, origin: telemetry.OriginOf(ctx),
		wake: make(chan struct{}, 1), handover: make(chan any, 1),
	}
	live.onCommand = func(c Command) { e.carryOut(live, c) }
	live.onCut = func(ctx context.Context, c Truncate) error { return s.cutHeard(ctx, live.session, c) }
	live.onFeedback = func(ctx context.Context, c Feedback) error { return s.saveFeedback(ctx, live.session, c) }
	live.onLeave = func(how Leaving, keepsEvents bool) { e.leave(live, how, keepsEvents) }
	var (
		refused    error
		greeting   *sessions.Turn
		turns      []sessions.Turn
		unanswered []sessions.Turn
	)
	start := func(ctx context.Context, tx bun.Tx, row *sessions.Session) (err error) {
		refused, live.resumed = nil, row.Status == sessions.InProgress
		first := row.Config.FirstMessage
		if a.HoldGreeting {
			row.Config.FirstMessage = ""
		}
		greeting, err = s.sessions.StartTx(ctx, tx, row, now, a.Channel == sessions.VoiceChannel)
		row.Config.FirstMessage = first
		if err != nil {
			return err
		}
		if refused = sessions.CheckOpen(*row); refused != nil {
			return nil //nolint:nilerr // refused is returned once the transaction has kept what StartTx wrote
		}
		if turns, unanswered = nil, nil; greeting != nil {
			turns = []sessions.Turn{*greeting}
		}
		if live.resumed {
			if turns, err = sessions.NewestTurns(ctx, tx, *row, joinTurns); err != nil {
				return err
			}
			if unanswered, err = sessions.UnansweredTurns(ctx, tx, *row); err != nil {
				return err
			}
		}
		live.session = *row
		return s.connectTx(ctx, tx, live)
	}
	err := s.sessions.Locked(ctx, a.Session.TenantID, a.Session.ID, start)
	if err == nil {
		err = refused
	}
	if err == nil {
		turns, err = s.sessions.OpenTurns(ctx, live.session, turns)
	}
	if err == nil {
		unanswered, err = s.sessions.OpenTurns(ctx, live.session, unanswered)
	}
	if err != nil {
		return arrival{}, err
	}
	var items []sessions.Item
	if live.resumed {
		for _, turn := range turns {
			visible, all := sessions.VisibleItems(turn, live.session.ItemEdits), sessions.ItemsOf(turn)
			running := turn.Losses == 0 || turn.ID == live.session.RunningTurnID
			if turn.Status == sessions.TurnInProgress && running { // the answer's events bring its items
				visible, all = slices.DeleteFunc(visible, ofAgent), slices.DeleteFunc(all, ofAgent)
			}
			// A note that a person left for the model is shown to nobody.
			visible, all = slices.DeleteFunc(visible, isNote), slices.DeleteFunc(all, isNote)
			items = append(items, all...)
			live.history = append(live.history, visible...)
		}
		items, live.history = sessions.LatestItems(items), sessions.LatestItems(live.history)
	}
	return arrival{
		live: live, turns: turns, greeting: greeting, unanswered: unanswered,
		open: sessions.OpenCalls(turns), items: items, running: runningTurn(turns, live.session),
	}, nil
}

func isNote(item sessions.Item) bool { return item.Note }

// ofAgent reports whether the item is part of an answer.
func ofAgent(item sessions.Item) bool {
	switch item.Kind {
	case sessions.AssistantItem, sessions.ToolItem, sessions.ClientToolCallItem:
		return !item.Inserted
	case sessions.UserItem, sessions.SystemItem, sessions.ToolOutputItem:
	}
	return false
}

// runningTurn returns the session's running turn.
func runningTurn(turns []sessions.Turn, session sessions.Session) sessions.Turn {
	for _, turn := range turns {
		if turn.ID == session.RunningTurnID {
			return turn
		}
	}
	return sessions.Turn{}
}

// connectTx stores the socket as its channel's, and notifies the node of the older one.
func (s *Service) connectTx(ctx context.Context, tx bun.Tx, live *Live) (err error) {
	now := s.sessions.Now()
	if live.number, err = sessions.NextNumber(ctx, tx); err != nil {
		return err
	}
	row := &live.session
	err = sessions.UpsertConnection(ctx, tx, sessions.Connection{
		SessionID: row.ID, Channel: live.channel, TenantID: row.TenantID, Number: live.number, NodeID: s.node, JoinedAt: now, SeenAt: now,
	})
	if err != nil {
		return err
	}
	row.DroppedAt, row.LastActivityAt = row.EndedAt, now // no socket is lost now
	if err := sessions.Update(ctx, tx, *row, "dropped_at", "last_activity_at"); err != nil {
		return err
	}
	return sessions.Notify(ctx, tx, sessions.Notice{
		Kind: sessions.NoticeJoined, Session: row.ID, Channel: live.channel,
		Number: live.number, From: s.node,
	})
}
