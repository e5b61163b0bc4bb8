package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns/history"
	"parlance.dev/parlance/turns/prompt"
	"parlance.dev/parlance/workspaces"
)

// Turns that soon do not fit the model's budget are summarised by the agent's own model, after a
// turn and beside the conversation:
//
//	turns since the summary ≥ ¾ of history_tokens ──► the summary and the oldest of them, until ⅖ of
//	the budget are left, are given to the model ──► the next summary
//
// The model sees a turn or its summary, never both. When a summary fails, the model sees the newest
// turns that fit (package history). The extractive responder always sees these.

const (
	// summaryTimeout bounds the writing of a summary. summaryPause follows a failure.
	summaryTimeout = 45 * time.Second
	summaryPause   = time.Minute
	// summaryChars bounds a summary.
	summaryChars = 4000
	// summaryTurns is how many turns a summary takes at most.
	summaryTurns = 100
)

// summary replaces a session's first turns in what the model sees.
type summary struct {
	bun.BaseModel `bun:"table:session_summaries,alias:m"`

	SessionID    sessions.ID         `bun:"session_id,pk"`
	TenantID     workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID  workspaces.ID       `bun:"workspace_id"`
	Text         string              `bun:"text"`
	Turns        int                 `bun:"turns"`
	Model        string              `bun:"model"`
	InputTokens  int                 `bun:"input_tokens"`
	OutputTokens int                 `bun:"output_tokens"`
	Rounds       int                 `bun:"rounds"`
	UpdatedAt    time.Time           `bun:"updated_at"`
}

// selectSummary reads a session's summary; an empty one when there is none.
func selectSummary(ctx context.Context, db bun.IDB, session sessions.Session) (summary, error) {
	var found []summary
	if session.SummarizedTurns == 0 {
		return summary{}, nil
	}
	err := db.NewSelect().Model(&found).Where("m.tenant_id = ?", session.TenantID).Where("m.session_id = ?", session.ID).Scan(ctx)
	if err != nil || len(found) == 0 {
		return summary{}, err
	}
	return found[0], nil
}

// summarise starts writing a summary after a turn, when one is due.
func (r *Runner) summarise(ctx context.Context, after sessions.Session) {
	if r.S.Holds(after.ID) || after.KeepsNothing() {
		return // a summary needs all turns in Postgres, and some are in the journal, or nothing may be kept
	}
	budget := history.Budget(r.Session)
	tokens := r.before.Tokens + min(history.TokensOf(r.Turn.Messages), history.LargestShare(budget))
	if !r.before.Truncated && tokens < budget*3/4 || after.Closed() {
		return
	}
	if !r.S.claimSummary(after.ID) {
		return
	}
	after.Config = r.Session.Config
	ctx = context.WithoutCancel(ctx)
	begun := r.S.TryGo(func() {
		ctx, cancel := context.WithTimeout(ctx, summaryTimeout)
		defer cancel()
		defer context.AfterFunc(r.S.life, cancel)()
		err := r.S.writeSummary(ctx, after, budget)
		r.S.releaseSummary(after.ID, err)
		if err != nil && !errors.Is(err, context.Canceled) {
			r.S.log.WarnContext(ctx, "earlier turns not summarised", "session_id", after.ID, "error", err)
		}
	})
	if !begun {
		r.S.releaseSummary(after.ID, nil)
	}
}

// claimSummary reports whether a summary may be written now: there is no other of the session, and
// none has just failed.
func (s *Service) claimSummary(id sessions.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if until, ok := s.summaries[id]; ok && now.Before(until) {
		return false
	}
	for one, until := range s.summaries {
		if !now.Before(until) {
			delete(s.summaries, one)
		}
	}
	s.summaries[id] = now.Add(2 * summaryTimeout)
	return true
}

func (s *Service) releaseSummary(id sessions.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.summaries, id)
	if err != nil {
		s.summaries[id] = s.now().Add(summaryPause)
	}
}

// writeSummary has the model write the next summary and stores it.
func (s *Service) writeSummary(ctx context.Context, session sessions.Session, budget int) (err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "summarise turns", telemetry.Text("parlance.session_id", string(session.ID)))
	defer func() { span.End(err) }()
	provider, err := s.models(ctx, session.Ref(), session.Config.Model)
	if err != nil {
		return err
	}
	if provider.Name() == extractive.Name {
		return nil
	}
	now, err := sessions.Find(ctx, s.db, session.TenantID, session.ID, "")
	if err != nil {
		return fmt.Errorf("reading session: %w", err)
	}
	session.SummarizedTurns, session.ItemEdits = now.SummarizedTurns, now.ItemEdits // another summary may have been stored since
	last, err := selectSummary(ctx, s.db, session)
	if err != nil {
		return fmt.Errorf("reading summary: %w", err)
	}
	turns, err := selectToSummarise(ctx, s.db, session)
	if err != nil {
		return err
	}
	turns = history.ToSummarise(turns, budget)
	if len(turns) == 0 {
		return nil
	}
	leave, err := s.gate.Enter(ctx, string(session.TenantID))
	if err != nil {
		return err
	}
	defer leave()
	fence := prompt.Fence(s.fenceKey, session.ID, "summary of "+string(turns[len(turns)-1].ID))
	req := history.SummaryRequest(fence, session, last.Text, turns)
	result, err := provider.Stream(ctx, req, func(model.Event) error { return ctx.Err() })
	next := summary{
		SessionID:    session.ID,
		TenantID:     session.TenantID,
		WorkspaceID:  session.WorkspaceID,
		Text:         last.Text,
		Turns:        last.Turns,
		Model:        result.Model,
		InputTokens:  last.InputTokens + result.Usage.InputTokens,
		OutputTokens: last.OutputTokens + result.Usage.OutputTokens,
		Rounds:       last.Rounds + 1,
		UpdatedAt:    s.sessions.Now(),
	}
	if text := []rune(strings.TrimSpace(sessions.StorableText(result.Text))); err == nil && len(text) > 0 {
		next.Text, next.Turns = string(text[:min(len(text), summaryChars)]), turns[len(turns)-1].Index+1
	} else if err == nil {
		err = errors.New("the model wrote nothing")
	}
	if next.Turns == 0 {
		return err // the first summary failed, so none is stored
	}
	return errors.Join(err, s.keepSummary(ctx, next, session, last, sessions.NewModelCall(provider.Name(), req, result)))
}

// keepSummary stores a summary of session, unless another node was first, or an item that it may
// tell of was edited meanwhile.
func (s *Service) keepSummary(
	ctx context.Context, next summary, session sessions.Session, last summary, call sessions.ReceiptModelCall,
) error {
	return s.sessions.Locked(ctx, next.TenantID, next.SessionID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if row.SummarizedTurns != last.Turns || !row.ItemEdits.Equal(session.ItemEdits) {
			return nil
		}
		_, err := tx.NewInsert().Model(&next).On("CONFLICT (session_id) DO UPDATE").
			Set("text = EXCLUDED.text").Set("turns = EXCLUDED.turns").Set("model = EXCLUDED.model").Set("rounds = EXCLUDED.rounds").
			Set("input_tokens = EXCLUDED.input_tokens").Set("output_tokens = EXCLUDED.output_tokens").Set("updated_at = EXCLUDED.updated_at").
			Where("m.tenant_id = EXCLUDED.tenant_id").Exec(ctx)
		if err != nil {
			return fmt.Errorf("storing summary: %w", err)
		}
		row.SummarizedTurns = next.Turns
		row.InputTokens += call.InputTokens
		row.OutputTokens += call.OutputTokens
		if err := sessions.Update(ctx, tx, *row, "summarized_turns", "input_tokens", "output_tokens"); err != nil {
			return err
		}
		source := fmt.Sprintf("summary %d of %s", next.Rounds, row.ID)
		return sessions.MeterModels(ctx, tx, *row, source, []sessions.ReceiptModelCall{call}, s.prices, next.UpdatedAt)
	})
}

// ForgetSummary deletes the summary of a session whose row is locked. The next one is written from
// the turns as they are then.
func ForgetSummary(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
	_, err := tx.NewDelete().Model((*summary)(nil)).Where("m.tenant_id = ?", row.TenantID).Where("m.session_id = ?", row.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forgetting summary: %w", err)
	}
	row.SummarizedTurns = 0
	return sessions.Update(ctx, tx, *row, "summarized_turns")
}

// selectToSummarise reads the oldest turns that no summary covers.
func selectToSummarise(ctx context.Context, db bun.IDB, session sessions.Session) ([]sessions.Turn, error) {
	var turns []sessions.Turn
	err := db.NewSelect().Model(&turns).Column("id", "index", "status", "messages").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.index >= ?", session.SummarizedTurns).
		OrderExpr("t.index").Limit(summaryTurns).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading turns to summarise: %w", err)
	}
	return turns, nil
}
