package handover

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Limits of what a person gives.
const (
	maxOperatorChars = 200
	maxNoteChars     = 4000
)

// Deps are what a Service works with. Sessions is required.
type Deps struct {
	Sessions *sessions.Service
	// Node names this process in notices.
	Node string
	// OnSaid is called with each message of a person that was stored here, as it was written; nil:
	// nobody is told. The other nodes read it from its row.
	OnSaid func(sessions.Turn)
}

// Service takes conversations over for people. Safe for concurrent use.
type Service struct {
	sessions *sessions.Service
	node     string
	onSaid   func(sessions.Turn)
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{sessions: d.Sessions, node: d.Node, onSaid: d.OnSaid}
	if s.onSaid == nil {
		s.onSaid = func(sessions.Turn) {}
	}
	return s
}

// TakeOver gives a session to a person and stops the answer that is being given. A pending session
// begins with it. operator is the person's name, 1 to 200 characters. Errors: NotFound, Invalid
// invalid-request, Precondition session-closed, session-taken-over (somebody else has it).
func (s *Service) TakeOver(ctx context.Context, p workspaces.Principal, id sessions.ID, operator string) (sessions.Session, error) {
	operator = sessions.OneLine(operator)
	if operator == "" || utf8.RuneCountInString(operator) > maxOperatorChars || !sessions.IsStorable(operator) {
		return sessions.Session{}, fault.InvalidField("operator", "length", "operator has 1 to %d characters.", maxOperatorChars)
	}
	take := func(ctx context.Context, tx bun.Tx, row *sessions.Session, now time.Time) error {
		switch {
		case row.Handover.WithOperator() && row.Handover.Operator == operator:
			return nil
		case row.Handover.WithOperator():
			return fault.New(fault.SessionTakenOver, "%s has the conversation. It can be taken over when they have released it.",
				row.Handover.Operator)
		}
		row.Handover.Status, row.Handover.Operator, row.Handover.TakenAt = sessions.HandoverOperator, operator, now
		row.LastActivityAt = now
		if row.RunningTurnID != "" {
			stop := sessions.Notice{Kind: sessions.NoticeStop, Session: row.ID, Turn: row.RunningTurnID}
			if err := sessions.Notify(ctx, tx, stop); err != nil {
				return err
			}
		}
		return update(ctx, tx, *row, "last_activity_at")
	}
	return s.change(ctx, p, id, take)
}

// Release gives a session back to the agent, and withdraws a request that nobody took. note, at
// most 4,000 characters, is for the model. Errors: NotFound, Invalid invalid-request, Precondition
// session-closed.
func (s *Service) Release(ctx context.Context, p workspaces.Principal, id sessions.ID, note string) (sessions.Session, error) {
	if utf8.RuneCountInString(note) > maxNoteChars || !sessions.IsStorable(note) {
		return sessions.Session{}, fault.InvalidField("note", "max_len", "note has at most %d characters.", maxNoteChars)
	}
	turnID, item := sessions.TurnID(idgen.In(ctx, idgen.Turn)), idgen.New(idgen.Item)
	release := func(ctx context.Context, tx bun.Tx, row *sessions.Session, now time.Time) error {
		if row.Handover.Status == sessions.NoHandover {
			return nil
		}
		if row.Handover.WithOperator() && strings.TrimSpace(note) != "" {
			message := sessions.Message{Role: sessions.RoleOperator, ItemID: item, Operator: row.Handover.Operator, Text: note, Note: true}
			if _, err := s.insertTurn(ctx, tx, row, turnID, message, now); err != nil {
				return err
			}
		}
		row.Handover, row.LastActivityAt = sessions.Handover{}, now
		return update(ctx, tx, *row, "turn_count", "last_activity_at")
	}
	return s.change(ctx, p, id, release)
}

// Withdraw takes a request back that nobody has taken and that was not made after a time, or does
// nothing. Errors: those of the database.
func (s *Service) Withdraw(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, madeUntil time.Time) error {
	err := s.sessions.Locked(ctx, tenant, id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if row.Handover.Status != sessions.HandoverRequested || row.Handover.RequestedAt.After(madeUntil) {
			return nil
		}
		row.Handover = sessions.Handover{}
		return update(ctx, tx, *row)
	})
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return nil
	}
	return err
}

// update writes the state of the handover and some more columns, and notifies the nodes.
func update(ctx context.Context, tx bun.Tx, row sessions.Session, more ...string) error {
	columns := append(slices.Clone(more), "handover_status", "handover_reason", "handover_summary", "handover_destination",
		"handover_requested_at", "handover_operator", "handover_taken_at")
	if err := sessions.Update(ctx, tx, row, columns...); err != nil {
		return err
	}
	return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeHandover, Session: row.ID})
}

// change runs fn with the locked row of an open session, and returns the session as it is then. A
// pending session begins before. fn may run twice.
func (s *Service) change(
	ctx context.Context, p workspaces.Principal, id sessions.ID,
	fn func(ctx context.Context, tx bun.Tx, row *sessions.Session, now time.Time) error,
) (sessions.Session, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Session{}, err
	}
	now := s.sessions.Now()
	var after sessions.Session
	var closed error
	err = s.sessions.Locked(ctx, session.TenantID, id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if _, err := s.sessions.StartTx(ctx, tx, row, now, false); err != nil {
			return err
		}
		if closed = sessions.CheckOpen(*row); closed != nil {
			return nil //nolint:nilerr // closed is returned once the transaction has kept the end of a session that has expired
		}
		if err := fn(ctx, tx, row, now); err != nil {
			return err
		}
		after = *row
		return nil
	})
	if err == nil {
		err = closed
	}
	return after, err
}

// Say says something to the user for the person who has the session, as a turn. Errors: NotFound,
// Invalid invalid-request, Precondition session-closed, session-not-taken-over.
func (s *Service) Say(ctx context.Context, p workspaces.Principal, id sessions.ID, text string) (sessions.Turn, error) {
	if strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > sessions.MaxTextChars || !sessions.IsStorable(text) {
		return sessions.Turn{}, fault.InvalidField("text", "length",
			"text must have 1 to %d characters, not only spaces, and cannot have the character U+0000.", sessions.MaxTextChars)
	}
	turnID, item := sessions.TurnID(idgen.In(ctx, idgen.Turn)), idgen.New(idgen.Item)
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Turn{}, err
	}
	now := s.sessions.Now()
	var said sessions.Turn
	repeated := false
	err = s.sessions.Locked(ctx, session.TenantID, id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) (err error) {
		said, err = sessions.FindTurn(ctx, tx, *row, turnID)
		if repeated = err == nil; repeated || !fault.IsReason(err, fault.ResourceNotFound) {
			return err
		}
		if err := sessions.CheckOpen(*row); err != nil {
			return err
		}
		if !row.Handover.WithOperator() {
			return fault.New(fault.SessionNotTakenOver, "Nobody has taken the conversation over. Take it over, then write.")
		}
		message := sessions.Message{Role: sessions.RoleOperator, ItemID: item, Operator: row.Handover.Operator, Text: text}
		if said, err = s.insertTurn(ctx, tx, row, turnID, message, now); err != nil {
			return err
		}
		row.LastActivityAt = now
		if err := sessions.Update(ctx, tx, *row, "turn_count", "last_activity_at"); err != nil {
			return err
		}
		return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeTurn, Session: row.ID, Turn: turnID, From: s.node})
	})
	switch {
	case err != nil:
		return sessions.Turn{}, err
	case repeated:
		return s.sessions.OpenTurn(ctx, session, said)
	}
	s.onSaid(said)
	return said, nil
}

// insertTurn stores a message of a person as a turn at the session's next place, and counts the
// turn in row. It returns the turn as it was said.
func (s *Service) insertTurn(
	ctx context.Context, tx bun.Tx, row *sessions.Session, id sessions.TurnID, message sessions.Message, now time.Time,
) (sessions.Turn, error) {
	turn := sessions.NewTurn(*row, id, now)
	turn.Status, turn.EndedAt, turn.Messages = sessions.TurnCompleted, now, []sessions.Message{message}
	turn.Metrics.Handover, turn.Metrics.Operator = sessions.HandoverOperator, row.Handover.Operator
	turn.SetReceipt(*row, nil)
	stored, err := s.sessions.StoredTurn(ctx, *row, turn)
	if err != nil {
		return sessions.Turn{}, err
	}
	if err := sessions.InsertTurn(ctx, tx, stored); err != nil {
		return sessions.Turn{}, err
	}
	row.TurnCount++
	return turn, nil
}

// Opened returns sessions with the content of their handovers, for operators.
func (s *Service) Opened(ctx context.Context, list []sessions.Session) ([]sessions.Session, error) {
	opened := slices.Clone(list)
	for i := range opened {
		if err := open(ctx, s.sessions, &opened[i]); err != nil {
			return nil, err
		}
	}
	return opened, nil
}
