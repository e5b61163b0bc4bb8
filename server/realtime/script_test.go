package realtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"

	"parlance.dev/parlance/provider/model"
)

// step is one call of a script's model.
type step = func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error)

// script is a model that takes one step a call, from a test's list.
type script struct {
	mu    sync.Mutex
	steps []step
	asked []model.Request
}

func (s *script) Name() string { return "script" }

func (s *script) then(steps ...step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

func (s *script) requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request{}, s.asked...)
}

func (s *script) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	s.mu.Lock()
	s.asked = append(s.asked, req)
	if len(s.steps) == 0 {
		s.mu.Unlock()
		return model.Result{}, errors.New("the script has ended")
	}
	next := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	return next(ctx, req, emit)
}

// say answers with pieces of text.
func say(pieces ...string) step {
	return func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		for _, piece := range pieces {
			if err := emit(model.TextDelta{Text: piece}); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{
			Text:         strings.Join(pieces, ""),
			FinishReason: model.FinishStop,
			Model:        "script-1",
			Usage:        model.Usage{InputTokens: 10, OutputTokens: 3},
		}, nil
	}
}

// call answers with a call of a tool.
func call(name, arguments string) step {
	return func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		one := model.NewToolCall("call_"+name, name, arguments)
		if err := emit(model.ToolCallReady{Call: one}); err != nil {
			return model.Result{}, err
		}
		return model.Result{ToolCalls: []model.ToolCall{one}, FinishReason: model.FinishStop, Model: "script-1"}, nil
	}
}

// sayUntil says a text, waits until it is cancelled, and ends with end.
func sayUntil(text string, end <-chan struct{}) step {
	return func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		result, err := sayAndWait(text)(ctx, req, emit)
		<-end
		return result, err
	}
}

// sayAndWait answers with a text, then waits until it is cancelled.
func sayAndWait(text string) step {
	return func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		if err := emit(model.TextDelta{Text: text}); err != nil {
			return model.Result{}, err
		}
		<-ctx.Done()
		return model.Result{Text: text}, ctx.Err()
	}
}
