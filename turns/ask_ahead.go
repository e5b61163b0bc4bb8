package turns

import (
	"context"
	"errors"
	"fmt"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns/ahead"
)

// errNotAhead says that an answer is not asked for ahead of its turn.
var errNotAhead = errors.New("the answer is not asked for ahead")

// AskAhead asks the model for the answer to r.Start, a turn that has not begun. nil: the agent has
// guards or budgets, which come before the model, or keeps nothing of what was said as it was.
func (r *Runner) AskAhead(ctx context.Context) *ahead.Answer {
	config := r.Start.Session.Config
	if len(config.Guards) > 0 || len(config.Budgets) > 0 || r.Start.Session.ContentRedactor().Redacts() || r.S.Offline() {
		return nil
	}
	answer, ctx := ahead.New(ctx, r.Start.Turn, sessions.UserText(r.Start.Said))
	asking := ahead.Asking{
		PrepareFunc: r.prepareAhead,
		EnterFunc:   func(ctx context.Context) (func(), error) { return r.S.gate.Enter(ctx, string(r.Session.TenantID)) },
		CountFunc: func(call sessions.ReceiptModelCall) { // the turn of this id can have an answer of its own
			r.S.count(ctx, r.Session, "ahead of "+string(answer.Turn), []sessions.ReceiptModelCall{call})
		},
	}
	if !r.S.TryGo(func() { answer.Ask(ctx, asking) }) {
		return nil
	}
	return answer
}

// prepareAhead makes the request that the turn will make.
func (r *Runner) prepareAhead(ctx context.Context) (provider model.Provider, request model.Request, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("asking ahead panicked: %v", panicked)
		}
	}()
	start := r.Start.Session
	r.Session, err = sessions.Find(ctx, r.S.db, start.TenantID, start.ID, "")
	if err == nil {
		err = sessions.CheckOpen(r.Session)
	}
	if err == nil {
		err = r.admit(ctx)
	}
	if err != nil {
		return nil, model.Request{}, err
	}
	r.Session.Config = start.Config
	r.Turn = sessions.NewTurn(r.Session, r.Start.Turn, r.S.sessions.Now())
	r.Turn.Messages, r.Turn.UserText = r.Start.Said, sessions.UserText(r.Start.Said)
	r.initialMessages = len(r.Turn.Messages)
	if err := r.prepare(ctx); err != nil {
		return nil, model.Request{}, err
	}
	r.readUsedUp(ctx)
	provider, err = r.provider(ctx, r.Session.Config.Model)
	if err == nil && provider.Name() == extractive.Name { // it answers at once
		err = errNotAhead
	}
	return provider, r.modelRequest(true), err
}
