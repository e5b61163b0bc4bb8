// Package ahead has the model asked for the answer to a turn that has not begun: to what the user
// has probably said, while it is not certain yet that they have finished.
//
//	user falls silent ──► Answer.Ask ──► the turn begins, and asks the same: Provider hands it over
//	                                └──► Drop: they go on, or have said something else
//
// Nothing is stored, sent or called for it. Its tokens are counted when nobody takes it. The
// package knows neither turns nor Postgres; package turns makes the request.
package ahead

import (
	"context"
	"fmt"
	"sync"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// Answer is the first answer of the model to a turn that has not begun. A nil one does nothing. It
// is safe for concurrent use.
type Answer struct {
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

// New returns an answer that was not asked for yet, and what Ask is to be called with.
func New(ctx context.Context, turn sessions.TurnID, text string) (*Answer, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &Answer{Turn: turn, Text: text, cancel: cancel, changed: make(chan struct{})}, ctx
}

// Asking are the parts of Ask.
type Asking struct {
	// PrepareFunc makes the request that the turn will make.
	PrepareFunc func(ctx context.Context) (model.Provider, model.Request, error)
	// EnterFunc waits for the right to call a model, and returns what gives it back.
	EnterFunc func(ctx context.Context) (leave func(), err error)
	// CountFunc counts what a call has used whose answer no turn has.
	CountFunc func(call sessions.ReceiptModelCall)
}

// Ask asks the model, and returns when the answer is over and it is known who has it.
func (a *Answer) Ask(ctx context.Context, asking Asking) {
	defer a.cancel()
	provider, request, err := asking.PrepareFunc(ctx)
	if err != nil {
		a.end(model.Result{}, err)
		return
	}
	leave, err := asking.EnterFunc(ctx)
	if err != nil {
		a.end(model.Result{}, err)
		return
	}
	a.change(func() { a.request = request.Hash() })
	result, err := provider.Stream(ctx, request, func(e model.Event) error {
		a.change(func() { a.events = append(a.events, e) })
		return nil
	})
	leave()
	a.end(result, err)
	if err != nil && ctx.Err() == nil || a.isTaken(ctx) { // a failure costs nothing
		return
	}
	if result.Usage.Incomplete || result.Usage.IsZero() {
		result.Usage = result.Usage.Estimate(request, result.Text)
	}
	asking.CountFunc(sessions.NewModelCall(provider.Name(), request, result))
}

// change changes the state and wakes whoever waits for that.
func (a *Answer) change(apply func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	apply()
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *Answer) end(result model.Result, err error) {
	a.change(func() { a.result, a.err, a.over = result, err, true })
}

// Drop says that no turn takes the answer, unless one has.
func (a *Answer) Drop() {
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
func (a *Answer) isTaken(ctx context.Context) bool {
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
func (a *Answer) take(request string) (took bool) {
	a.change(func() {
		failed := a.over && a.err != nil && len(a.events) == 0
		took = a.request == request && !failed && !a.taken && !a.dropped
		a.taken = a.taken || took
	})
	return took
}

// Provider answers the first request with the answer, where that was asked for with the same. All
// others are answered by the provider that it is made of.
func (a *Answer) Provider(otherwise model.Provider) model.Provider {
	if a == nil {
		return otherwise
	}
	return provider{otherwise, a}
}

type provider struct {
	model.Provider
	answer *Answer
}

// Stream implements model.Provider.
func (p provider) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	a := p.answer
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
func (a *Answer) stopped() model.Result {
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
