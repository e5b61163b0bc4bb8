package turns

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// RunOutOfBand gives an answer out of band. It returns an error only if the answer was never begun.
func (r *Runner) RunOutOfBand(ctx context.Context) error {
	ctx, span := r.startTrace(ctx)
	outcome := Outcome{Session: r.Session}
	defer func() { r.endTrace(span, outcome) }()
	config := r.Session.Config
	session, err := sessions.Find(ctx, r.S.db, r.Session.TenantID, r.Session.ID, "")
	if err == nil {
		err = sessions.CheckOpen(session)
	}
	if err != nil {
		return err
	}
	sessions.AddToLog(ctx, session)
	session.Config = config
	r.Session, r.Begun = session, r.S.sessions.Now()
	r.Receipt.AskedAt = r.Begun
	r.Turn = sessions.NewTurn(session, "", r.Begun)
	err = r.send(ResponseStarted{ResponseID: r.ResponseID, CommandID: r.CommandID, OutOfBand: true})
	if err == nil {
		err = r.answerOutOfBand(ctx)
	}
	err = r.conclude(ctx, err)
	r.S.count(ctx, r.Session, r.ResponseID, r.Receipt.ModelCalls())
	done := r.doneEvent(err)
	done.OutOfBand = true
	outcome.Turn, outcome.Err = sessions.Turn{InputTokens: r.Turn.InputTokens, OutputTokens: r.Turn.OutputTokens}, err
	_ = r.Emit(done) // the caller may have gone
	return nil
}

// answerOutOfBand asks the model once.
func (r *Runner) answerOutOfBand(ctx context.Context) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the answer panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	if err := r.admit(ctx); err != nil {
		return err
	}
	if stopped, err := r.keepBudgets(ctx); stopped || err != nil {
		return err
	}
	open, seen, err := r.readUnanswered(ctx)
	if err != nil {
		return err
	}
	if stopped, err := r.guardUser(ctx, seen); stopped || err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.Earlier = append(r.Earlier, open...)
	provider, err := r.S.models(ctx, r.Session.Ref(), r.Session.Config.Model)
	if err != nil {
		return providerError(err)
	}
	calls, err := r.askModel(ctx, provider, r.modelRequest(true))
	if err != nil {
		return err
	}
	return r.tellClientCalls(ctx, calls)
}

// readUnanswered reads the messages that are not answered yet, which the history does not have, and
// sets the text for which passages are searched. seen is what the model reads besides the history.
func (r *Runner) readUnanswered(ctx context.Context) (open, seen []sessions.Message, err error) {
	seen = r.Input
	if r.Input == nil {
		unanswered, err := selectOpenTurns(ctx, r.S.db, r.Session)
		if err != nil {
			return nil, nil, err
		}
		for _, turn := range unanswered {
			open = append(open, turn.Messages...)
		}
		seen = open
	}
	seen = sessions.EditedMessages(seen, r.Session.ItemEdits)
	for _, m := range seen {
		if m.Role == sessions.RoleUser {
			r.Turn.UserText = m.Text
		}
	}
	return open, seen, nil
}

// tellClientCalls emits the calls that the client is to run. The answer has no other calls.
func (r *Runner) tellClientCalls(ctx context.Context, calls []model.ToolCall) error {
	round := make([]*pendingCall, len(calls))
	for i, call := range calls {
		round[i] = r.newCall(call)
	}
	if _, err := r.guardArguments(ctx, round); err != nil {
		return err
	}
	for _, p := range round {
		if !p.Call.Client {
			continue
		}
		r.Turn.Messages = append(r.Turn.Messages, sessions.Message{Role: sessions.RoleAssistant, Calls: []sessions.MessageCall{p.Call}})
		err := r.send(
			ClientToolCalled{ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments},
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// count adds what calls of models beside the turns have used to the session's usage. source is
// unique for them.
func (s *Service) count(ctx context.Context, session sessions.Session, source string, calls []sessions.ReceiptModelCall) {
	input, output := 0, 0
	for _, call := range calls {
		input, output = input+call.InputTokens, output+call.OutputTokens
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	now := s.sessions.Now()
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*sessions.Session)(nil)).
			Set("input_tokens = s.input_tokens + ?", input).Set("output_tokens = s.output_tokens + ?", output).
			Where("s.tenant_id = ?", session.TenantID).Where("s.id = ?", session.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("counting tokens: %w", err)
		}
		return sessions.MeterModels(ctx, tx, session, source, calls, s.prices, now)
	})
	if err != nil {
		s.log.ErrorContext(
			ctx, "tokens not counted", "session_id", session.ID, "input_tokens", input, "output_tokens", output, "error", err,
		)
	}
}

// selectOpenTurns reads the turns in progress: the unanswered ones and the one that runs.
func selectOpenTurns(ctx context.Context, db bun.IDB, session sessions.Session) ([]sessions.Turn, error) {
	var turns []sessions.Turn
	err := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).
		Where("t.status = ?", sessions.TurnInProgress).OrderExpr("t.index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading open turns: %w", err)
	}
	return turns, nil
}
