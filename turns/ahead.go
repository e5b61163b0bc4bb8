package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
)

// errNotAhead says that an answer is not asked for ahead of its turn.
var errNotAhead = errors.New("the answer is not asked for ahead")

// Ahead is the first answer of the model to a turn that has not begun: to what the user has
// probably said, while it is not certain yet that they have finished.
//
//	user falls silent ──► Runner.AskAhead ──► the turn begins: Runner.Ahead, its request is the same
//	                                     └──► Drop: they go on, or have said something else
//
// Nothing is stored, sent or called for it, but its tokens are counted. A nil Ahead does nothing.
type Ahead struct {
	// Turn is the id that the turn will have: the request contains it.
	Turn sessions.TurnID
	// Text is what the user has probably said.
	Text string

	cancel context.CancelFunc

	mu sync.Mutex
	// request is the hash of what the model was asked; empty: it was not asked yet.
	request string
	events  []model.Event
	result  model.Result
	err     error
	over    bool
	// taken says that the turn has its answer from here, dropped that it never will.
	taken, dropped bool
	// changed is closed and made anew when any of these changes.
	changed chan struct{}
}

// AskAhead asks the model for the answer to r.Start, a turn that has not begun. nil: the agent has
// guards or budgets, which come before the model, or keeps nothing of what was said as it was.
func (r *Runner) AskAhead(ctx context.Context) *Ahead {
	config := r.Start.Session.Config
	if len(config.Guards) > 0 || len(config.Budgets) > 0 || r.Start.Session.ContentRedactor().Redacts() || r.S.Offline() {
		return nil
	}
	a := &Ahead{Turn: r.Start.Turn, Text: sessions.UserText(r.Start.Said), changed: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(ctx)
	if !r.S.TryGo(func() { r.askAhead(ctx, a) }) {
		a.cancel()
		return nil
	}
	return a
}

// askAhead asks the model, and counts what nobody takes.
func (r *Runner) askAhead(ctx context.Context, a *Ahead) {
	defer a.cancel()
	provider, request, err := r.prepareAhead(ctx)
	if err != nil {
		a.end(model.Result{}, err)
		return
	}
	leave, err := r.S.gate.Enter(ctx, string(r.Session.TenantID))
	if err != nil {
		a.end(model.Result{}, err)
		return
	}
	defer leave()
	a.change(func() { a.request = request.Hash() })
	result, err := provider.Stream(ctx, request, a.keep)
	a.end(result, err)
	if a.isTaken(ctx) || err != nil && ctx.Err() == nil { // a failure has no price
		return
	}
	used := result.Usage
	if used.Incomplete || used.IsZero() {
		used = used.Estimate(request, result.Text)
	}
	r.S.count(ctx, r.Session, string(a.Turn), sessions.Usage{
		InputTokens: used.InputTokens, OutputTokens: used.OutputTokens, Model: result.Model,
	})
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

// change changes the state and wakes whoever waits for it.
func (a *Ahead) change(apply func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	apply()
	close(a.changed)
	a.changed = make(chan struct{})
}

// keep keeps an event of the answer until the turn takes it.
func (a *Ahead) keep(e model.Event) error {
	a.change(func() { a.events = append(a.events, e) })
	return nil
}

func (a *Ahead) end(result model.Result, err error) {
	a.change(func() { a.result, a.err, a.over = result, err, true })
}

// Drop says that no turn takes the answer, unless one has.
func (a *Ahead) Drop() {
	if a == nil {
		return
	}
	a.change(func() {
		a.dropped = true
		if !a.taken {
			a.cancel()
		}
	})
}

// isTaken waits until it is known whether the turn takes the answer.
func (a *Ahead) isTaken(ctx context.Context) bool {
	for {
		a.mu.Lock()
		taken, dropped, changed := a.taken, a.dropped, a.changed
		a.mu.Unlock()
		if taken || dropped {
			return taken
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// take takes the answer for a turn's request, if it is the one that was asked for.
func (a *Ahead) take(request string) bool {
	if a == nil {
		return false
	}
	took := false
	a.change(func() {
		failed := a.over && a.err != nil && len(a.events) == 0
		took = a.request == request && !failed && !a.taken && !a.dropped
		a.taken = took
	})
	return took
}

// aheadProvider answers a turn's first request with what was asked for ahead, where it is the same.
type aheadProvider struct {
	model.Provider
	ahead *Ahead
}

// Stream implements model.Provider.
func (p aheadProvider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	a := p.ahead
	if !a.take(req.Hash()) {
		a.Drop()
		return p.Provider.Stream(ctx, req, emit)
	}
	defer a.cancel()
	for sent := 0; ; {
		a.mu.Lock()
		events, over, changed := a.events[sent:], a.over, a.changed
		result, err := a.result, a.err
		a.mu.Unlock()
		for _, e := range events {
			if err := emit(e); err != nil {
				return a.stopped(), fmt.Errorf("handing on the answer: %w", err)
			}
		}
		sent += len(events)
		if over {
			return result, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return a.stopped(), fmt.Errorf("answering: %w", ctx.Err())
		}
	}
}

// stopped stops the answer, and returns what came of it.
func (a *Ahead) stopped() model.Result {
	a.cancel()
	for {
		a.mu.Lock()
		result, over, changed := a.result, a.over, a.changed
		a.mu.Unlock()
		if over {
			return result
		}
		<-changed
	}
}
