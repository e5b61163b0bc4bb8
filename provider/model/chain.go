package model

import (
	"context"
	"errors"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
)

// Chain answers with the first provider that begins to: when one fails before it emitted
// anything, the next is asked. Once a word is out the answer stays with its provider, since two
// models cannot share a sentence. A caller's hang-up or deadline ends the chain.
//
// Request.Model is for the first provider; the others answer with their own model. When all
// fail the error is one fault that names each: unavailable if all were, else upstream-failed.
// Chain needs at least one provider; a chain of one is that provider.
func Chain(first Provider, others ...Provider) Provider {
	if len(others) == 0 {
		return first
	}
	return chain(append([]Provider{first}, others...))
}

type chain []Provider

// Name is the first provider's.
func (c chain) Name() string { return c[0].Name() }

func (c chain) Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error) {
	begun := false
	noting := func(e Event) error {
		begun = true
		return emit(e)
	}
	var failures []error
	for _, p := range c {
		result, err := p.Stream(ctx, req, noting)
		if err == nil || begun || ctx.Err() != nil {
			return result, err
		}
		failures = append(failures, err)
		req.Model = ""
	}
	return Result{}, noneAnswered(failures)
}

func noneAnswered(failures []error) error {
	reason := fault.ServiceUnavailable
	sentences := make([]string, 0, len(failures))
	var retryAfter time.Duration
	for _, err := range failures {
		f := fault.From(err)
		if f.Reason != fault.ServiceUnavailable {
			reason = fault.UpstreamFailed
		}
		if f.RetryAfter > 0 && (retryAfter == 0 || f.RetryAfter < retryAfter) {
			retryAfter = f.RetryAfter
		}
		sentences = append(sentences, f.Message)
	}
	wrapped := fault.Wrap(errors.Join(failures...), reason, "No model answered: %s", strings.Join(sentences, " "))
	wrapped.RetryAfter = retryAfter
	return wrapped
}
