package sessions

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/usage"
)

// StartTx makes a locked pending session in_progress and stores its greeting, if the agent has one.
// spoken says that somebody will hear it. A session whose token has expired is closed instead. It
// returns the greeting, or nil when it did not store one.
func (s *Service) StartTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time, spoken bool) (*Turn, error) {
	if session.Status != Pending {
		return nil, nil //nolint:nilnil // no greeting is no error
	}
	if !session.TokenExpiresAt.After(now) {
		return nil, s.CloseTx(ctx, tx, session, Failed, ReasonExpired, now)
	}
	session.Status, session.StartedAt, session.LastActivityAt = InProgress, now, now
	greeting, err := s.GreetTx(ctx, tx, session, now, spoken)
	if err != nil {
		return nil, err
	}
	if err := usage.Add(ctx, tx, session.Place(), usage.Record{Source: string(session.ID), Meter: usage.Sessions, Quantity: 1}); err != nil {
		return nil, err
	}
	return greeting, Update(ctx, tx, *session, "status", "started_at", "last_activity_at", "turn_count")
}

// GreetTx stores the agent's first_message as a turn, counts the turn in the session and returns
// it; nil when the agent has none. The session's row must be locked, and the caller updates it.
func (s *Service) GreetTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time, spoken bool) (*Turn, error) {
	values, err := s.PublicVariables(ctx, *session)
	if err != nil {
		return nil, err
	}
	text, err := s.onGreet(ctx, *session, RenderVariables(session.Config.FirstMessage, values))
	if err != nil {
		return nil, err
	}
	greeting := newGreeting(session, text, now, spoken)
	if greeting == nil {
		return nil, nil //nolint:nilnil // no greeting is no error
	}
	stored, err := s.StoredTurn(ctx, *session, *greeting)
	if err == nil {
		err = InsertTurn(ctx, tx, stored)
	}
	session.TurnCount++
	return greeting, err
}

// newGreeting returns the turn of a greeting; nil for an empty text.
func newGreeting(session *Session, text string, now time.Time, spoken bool) *Turn {
	if text == "" {
		return nil
	}
	turn := NewTurn(*session, TurnID(idgen.New(idgen.Turn)), now)
	turn.Status, turn.AgentText, turn.EndedAt = TurnCompleted, text, now
	said := Message{Role: RoleAssistant, ItemID: idgen.New(idgen.Item), Text: text}
	if spoken {
		said.Audio = &Audio{Transcribed: true}
	}
	turn.Messages = []Message{said}
	turn.SetReceipt(*session, nil)
	return &turn
}
