package sessions

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
)

// StartTx makes a locked pending session in_progress and stores its greeting, if the agent has one.
// A session whose token has expired is closed instead. It returns the greeting, or nil when it did
// not store one.
func (s *Service) StartTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time) (*Turn, error) {
	if session.Status != Pending {
		return nil, nil //nolint:nilnil // no greeting is no error
	}
	if !session.TokenExpiresAt.After(now) {
		return nil, s.CloseTx(ctx, tx, session, Failed, ReasonExpired, now)
	}
	session.Status, session.StartedAt, session.LastActivityAt = InProgress, now, now
	greeting := NewGreeting(session, now)
	if greeting != nil {
		if err := InsertTurn(ctx, tx, greeting.Redacted(session.Redactor())); err != nil {
			return nil, err
		}
		session.TurnCount++
	}
	return greeting, Update(ctx, tx, *session, "status", "started_at", "last_activity_at", "turn_count")
}

// NewGreeting returns the agent's first_message as a turn; nil when it has none. The session's row
// must be locked.
func NewGreeting(session *Session, now time.Time) *Turn {
	text := RenderVariables(session.Config.FirstMessage, PublicVariables(*session, now))
	if text == "" {
		return nil
	}
	turn := NewTurn(*session, TurnID(idgen.New(idgen.Turn)), now)
	turn.Status, turn.AgentText, turn.EndedAt = TurnCompleted, text, now
	turn.Messages = []Message{{Role: RoleAssistant, ItemID: idgen.New(idgen.Item), Text: text}}
	turn.SetReceipt(*session, nil)
	return &turn
}
