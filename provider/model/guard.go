package model

import (
	"context"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
)

// Breaker is the circuit breaker that all providers of a process share: 5 consecutive failures of
// one key within a minute open its circuit for 15 s. Failures must be consecutive, because a busy
// server fails now and then. The pause is shorter than that of tools, because a person waits for
// each answer.
func Breaker() *breaker.Breaker {
	return breaker.New(breaker.Options{Pause: 15 * time.Second})
}

// GuardParams are the parameters of Guard.
type GuardParams struct {
	Breaker *breaker.Breaker
	// Key identifies server, credential and model, and has no secret. A failing model of one tenant
	// says nothing about those of others.
	Key string
	Now func() time.Time
	// Metrics counts opened circuits. nil: they are not counted.
	Metrics *Metrics
}

// Guard wraps a provider that is not called while its circuit is open. Failures are: no connection,
// silence, an answer that broke off, 5xx. A refused request, key or rate is none: the server is
// there. A trial succeeds at its first token.
func Guard(p Provider, params GuardParams) Provider { return guarded{Provider: p, params: params} }

type guarded struct {
	Provider
	params GuardParams
}

// Stream implements Provider. Errors: those of the provider; unavailable with RetryAfter while the
// circuit is open.
func (g guarded) Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error) {
	b, key := g.params.Breaker, g.params.Key
	verdict := b.Allow(key, g.params.Now())
	if verdict == breaker.Refused {
		return Result{Provider: g.Name(), Model: req.Model}, g.refusal()
	}
	outcome := breaker.Neutral
	trial := verdict == breaker.Trial
	defer func() { // also when the provider panics
		if b.Report(key, outcome, g.params.Now()) {
			g.params.Metrics.opened(g.Name())
		}
	}()
	result, err := g.Provider.Stream(ctx, req, func(e Event) error {
		if trial {
			trial = false
			b.Report(key, breaker.Healthy, g.params.Now())
		}
		return emit(e)
	})
	switch {
	case err == nil:
		outcome = breaker.Healthy
	case ctx.Err() == nil && failing(err):
		outcome = breaker.Failing
	}
	return result, err
}

// failing says whether an error is a failure of the server, rather than about the request, the key
// or the rate.
func failing(err error) bool {
	decided := fault.From(err)
	if decided.Reason != fault.UpstreamFailed && decided.Reason != fault.ServiceUnavailable {
		return false
	}
	status, _ := strconv.Atoi(decided.Meta[metaStatus])
	if decided.Meta[metaWhy] != "" {
		return false
	}
	return decided.Meta[metaProvider] != "" && (status == 0 || status >= 500 || status == 408)
}

// refusal is the error of a call that was not made.
func (g guarded) refusal() error {
	err := g.params.Breaker.Refusal(g.params.Key, g.Name(), g.params.Now())
	err.Meta = map[string]string{metaProvider: g.Name(), metaWhy: ReasonCircuitOpen}
	return err
}
