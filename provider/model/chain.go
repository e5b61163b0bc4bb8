package model

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/internal/apiclient"
)

// ChainParams are the parameters of Chain.
type ChainParams struct {
	// Providers in the order in which they are called, at least one.
	Providers []Provider
	// Now measures the durations of attempts. nil: they are zero.
	Now func() time.Time
	// Metrics counts fail-overs. nil: they are not counted.
	Metrics *Metrics
	// Log gets the reason of each fail-over. nil: it is not logged.
	Log *slog.Logger
}

// Chain is a provider that fails over between several: when one fails before it emitted anything,
// it calls the next. After the first event an answer stays with its provider, because two models
// cannot share a sentence. The end of the context ends the chain.
//
// It fails over after: no connection, silence before the first token, a refusal that concerns the
// provider (its key, its limits, its load, its model), a request that is too long for its model,
// and a complete answer without text or calls. It does not after: a request that is wrong for every
// provider (400, 413, 422), and one that a content filter refused.
//
// All but the last get Request.Standby, so they do not repeat a call or wait. Request.Model is for
// the first provider; the others use their own model. When all fail, the error is one fault that
// names each: unavailable if all were unavailable, else upstream-failed. RetryAfter is the shortest
// of theirs.
func Chain(p ChainParams) Provider { return chain(p) }

type chain ChainParams

// Name is that of the first provider.
func (c chain) Name() string { return c.Providers[0].Name() }

func (c chain) Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error) {
	begun := false
	emitFirst := func(e Event) error {
		begun = true
		return emit(e)
	}
	var failures []error
	var attempts []Attempt
	var spent Usage
	for i, p := range c.Providers {
		last := i == len(c.Providers)-1
		req.Standby = !last
		started := c.moment()
		result, err := p.Stream(ctx, req, emitFirst)
		attempt := attemptOf(p, req, result, err)
		attempt.Took = c.moment().Sub(started)
		if err == nil && !last && empty(result) {
			attempt.Reason, attempt.Message = ReasonEmptyAnswer, p.Name()+" answered without a word."
		}
		attempts = append(attempts, attempt)
		spent = spent.plus(result.Usage)
		result.Attempts, result.Usage = attempts, spent
		if attempt.Reason == "" || begun || ctx.Err() != nil || !failsOver(err) {
			return result, err
		}
		if err != nil {
			failures = append(failures, err)
		}
		if last {
			return result, apiclient.AllFailed("No model answered:", failures)
		}
		c.failedOver(ctx, attempt, c.Providers[i+1])
		req.Model = ""
	}
	return Result{}, errors.New("a chain without providers") // ChainParams needs one
}

func (c chain) moment() time.Time {
	if c.Now == nil {
		return time.Time{}
	}
	return c.Now()
}

// failedOver counts and logs a fail-over.
func (c chain) failedOver(ctx context.Context, a Attempt, next Provider) {
	if c.Metrics != nil {
		c.Metrics.failovers.WithLabelValues(a.Provider, a.Reason).Inc()
	}
	if c.Log != nil {
		c.Log.WarnContext(ctx, "model failed over", telemetry.KeyProvider, a.Provider, telemetry.KeyModel, a.Model,
			telemetry.KeyReason, a.Reason, telemetry.KeyError, a.Message,
			telemetry.KeyDurationMS, a.Took.Milliseconds(), "next", next.Name())
	}
}

// attemptOf describes the call of one provider.
func attemptOf(p Provider, req Request, result Result, err error) Attempt {
	attempt := Attempt{Provider: p.Name(), Model: result.Model}
	if attempt.Model == "" {
		attempt.Model = req.Model
	}
	if err == nil {
		return attempt
	}
	decided := fault.From(err)
	attempt.Reason, attempt.Message = string(decided.Reason), decided.Message
	if decided.Meta[metaWhy] == ReasonCircuitOpen {
		attempt.Reason = ReasonCircuitOpen
	}
	return attempt
}

// empty says whether a complete answer has neither text nor calls.
func empty(r Result) bool {
	return r.FinishReason == FinishStop && len(r.ToolCalls) == 0 && strings.TrimSpace(r.Text) == ""
}

// failsOver says whether another provider may succeed.
func failsOver(err error) bool {
	if err == nil { // the answer was empty
		return true
	}
	switch meta := fault.From(err).Meta; meta[metaWhy] {
	case whyTooLong:
		return true
	case whyRefused:
		return false
	default:
		return meta[metaStatus] != "400" && meta[metaStatus] != "413" && meta[metaStatus] != "422"
	}
}
