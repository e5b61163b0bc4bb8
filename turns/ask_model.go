package turns

import (
	"context"
	"errors"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
)

// answerCapacity is the initial capacity, in bytes, for what the agent says.
const answerCapacity = 1 << 10

// offlineLookup bounds the choice of a provider while Postgres is away.
const offlineLookup = 2 * time.Second

// answering finds the provider that answers. While Postgres is away it is the one that answered
// last in the session, else the installation's if the workspace is known to have no keys. Errors:
// Unavailable unavailable (the workspace's keys cannot be read), Upstream upstream-failed.
func (r *Runner) answering(ctx context.Context) (model.Provider, error) {
	k := r.Start.Cache
	if k == nil || !r.offline && !r.S.Offline() {
		provider, err := r.provider(ctx, r.Session.Config.Model)
		if err == nil {
			k.setProvider(provider)
		}
		return provider, providerError(err)
	}
	if last := k.lastProvider(); last != nil {
		return last, nil
	}
	bounded, cancel := context.WithTimeout(ctx, offlineLookup)
	defer cancel()
	provider, err := r.provider(bounded, r.Session.Config.Model)
	if err != nil && bounded.Err() != nil { // Postgres hangs
		return nil, OfflineError(err)
	}
	return provider, providerError(err)
}

// providerError is the error of a turn for which no provider was found.
func providerError(err error) error {
	if err == nil {
		return nil
	}
	if postgres.IsAway(err) {
		return OfflineError(err)
	}
	return sessions.UpstreamFault(err)
}

// provider is the one that a choice names.
func (r *Runner) provider(ctx context.Context, choice agents.Model) (model.Provider, error) {
	choose := r.S.models
	if r.begun != nil && !r.begun.OwnKeys && r.S.installed != nil {
		choose = r.S.installed
	}
	return choose(ctx, r.Session.Ref(), choice)
}

// askModel has the model answer once and returns the calls that it makes. What it said before an
// error is kept in the turn.
func (r *Runner) askModel(ctx context.Context, provider model.Provider, req model.Request) ([]model.ToolCall, error) {
	queued := r.S.sessions.Now()
	leave, err := r.S.gate.Enter(ctx, string(r.Session.TenantID))
	if err != nil {
		return nil, err // too many calls wait, or the caller has gone
	}
	defer leave()
	asked, first := r.S.sessions.Now(), time.Time{}
	if asked.Sub(queued) >= time.Millisecond {
		r.Receipt.Stage(sessions.StageModelQueue, queued, asked)
	}
	said := r.newMessage()
	open := false
	var words strings.Builder
	say := func(text string) error {
		if text == "" {
			return ctx.Err()
		}
		if !open {
			open = true
			words.Grow(answerCapacity) // enough for most answers
			said.At = sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun))
			if err := r.send(MessageStarted{ResponseID: r.ResponseID, ItemID: said.ItemID}); err != nil {
				return err
			}
		}
		words.WriteString(text)
		if err := r.send(TextDelta{ResponseID: r.ResponseID, ItemID: said.ItemID, Text: text}); err != nil {
			return err
		}
		return ctx.Err()
	}
	streaming, stop := context.WithCancel(ctx) // whoever stops the answer: the provider is not to blame
	defer stop()
	filter, err := r.newFilter(ctx, say, stop)
	if err != nil {
		return nil, err
	}
	result, err := provider.Stream(streaming, req, func(e model.Event) error {
		if first.IsZero() {
			first = r.S.sessions.Now()
		}
		if r.Turn.Metrics.ModelFirstTokenMS == 0 {
			r.Turn.Metrics.ModelFirstTokenMS = max(1, sessions.Milliseconds(r.S.sessions.Now().Sub(asked)))
		}
		delta, ok := e.(model.TextDelta)
		if !ok {
			return ctx.Err()
		}
		if r.firstToken == 0 {
			r.firstToken = max(1, r.S.sessions.Now().Sub(r.Begun))
		}
		err := filter.write(ctx, sessions.StorableText(delta.Text))
		if errors.Is(err, judge.ErrStopped) {
			stop()
		}
		return err
	})
	match, err := filter.finish(ctx, err)
	if provider.Name() != extractive.Name && (result.Usage.Incomplete || streaming.Err() != nil && result.Usage.IsZero()) {
		result.Usage = result.Usage.Estimate(req, result.Text)
	}
	r.Receipt.ModelCall(provider.Name(), req, result, err, asked, first, r.S.sessions.Now())
	if filter.guarded != nil {
		r.countJudge(ctx, sideAgent)
	}
	r.Turn.InputTokens += result.Usage.InputTokens
	r.Turn.OutputTokens += result.Usage.OutputTokens
	r.finish = result.FinishReason
	if result.Model != "" {
		r.Turn.Model = result.Model
	}
	if given := r.Turn.Citations; result.Citations != nil { // the others were not used
		r.Turn.Citations = nil
		for _, i := range result.Citations {
			given[i].Quoted = true
			r.Turn.Citations = append(r.Turn.Citations, given[i])
		}
	}
	said.Interrupted = err != nil || match != nil || r.finish == model.FinishLength || r.finish == model.FinishFiltered
	if said.Text = words.String(); open {
		r.Turn.Messages = append(r.Turn.Messages, said)
		_ = r.Emit(
			MessageDone{ResponseID: r.ResponseID, ItemID: said.ItemID, Text: said.Text, Cut: said.Interrupted},
		) // an error of Emit comes again with the next event
	}
	if match != nil && ctx.Err() == nil {
		return nil, r.guarded(ctx, *match, sideAgent)
	}
	if err != nil {
		return nil, r.modelError(ctx, err)
	}
	return result.ToolCalls, nil
}

// modelError separates failures of the model from the end of the caller.
func (r *Runner) modelError(ctx context.Context, err error) error {
	if _, gone := errors.AsType[goneError](err); gone || ctx.Err() != nil {
		return err
	}
	return sessions.UpstreamFault(err)
}
