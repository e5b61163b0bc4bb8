package model

import (
	"context"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
)

// Breaker is the circuit breaker that all providers of a process share: 5 failures of one key in a
// row within a minute keep calls from it for 15 s, after which one call tries. Answers between
// failures count, since a busy server fails now and then; a pause is shorter than that of tools,
// since a person is waiting at the other end of each.
func Breaker() *breaker.Breaker {
	return breaker.New(breaker.Options{InARow: true, Pause: 15 * time.Second})
}

// GuardParams say what stands behind the breaker.
type GuardParams struct {
	Breaker *breaker.Breaker
	// Key names server, credential and model, and holds no secret: what fails for one of a tenant's
	// models says nothing about those of others.
	Key string
	Now func() time.Time
	// Metrics shows open circuits; nil: nobody does.
	Metrics *Metrics
}

// Guard is a provider that is not called while its circuit is open. What counts as a failure: no
// connection, silence, an answer that broke off, 5xx. What does not: a refusal of the request, of the
// key, or for the rate, which says that the server is there. A trial has succeeded at its first token.
func Guard(p Provider, params GuardParams) Provider { return guarded{Provider: p, params: params} }

type guarded struct {
	Provider
	params GuardParams
}

// Stream implements Provider. Errors: the provider's; unavailable while the circuit is open, with
// RetryAfter.
func (g guarded) Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error) {
	b, key := g.params.Breaker, g.params.Key
	verdict := b.Allow(key, g.params.Now())
	if verdict == breaker.Refused {
		return Result{Provider: g.Name(), Model: req.Model}, g.open(b.Wait(key, g.params.Now()))
	}
	says := breaker.Neutral
	trial := verdict == breaker.Trial
	defer func() { // also when the provider panics
		if b.Report(key, says, g.params.Now()) {
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
		says = breaker.Healthy
	case ctx.Err() == nil && failing(err):
		says = breaker.Failing
	}
	return result, err
}

// failing says whether an error is the server's own, rather than about the request, the key or the rate.
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

// open is the fault for a call that was not made.
func (g guarded) open(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	err := fault.New(fault.ServiceUnavailable, "%s has failed several times in a row and is not asked for a moment; try again in %d s.", g.Name(), seconds)
	err.RetryAfter = time.Duration(seconds) * time.Second
	err.Meta = map[string]string{metaProvider: g.Name(), metaWhy: ReasonCircuitOpen}
	return err
}
