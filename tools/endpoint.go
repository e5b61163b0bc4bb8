package tools

import (
	"context"
	"net"
	"net/url"

	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/tools/failure"
)

// callEndpoint calls an endpoint, unless there is no slot, its circuit is open, or the cap of the
// session is reached. send reports to the circuit breaker.
func (s *Service) callEndpoint(ctx context.Context, e *execution, o *Outcome, url string, send func() breaker.Result) {
	leave, problem := s.enter(ctx, e)
	if problem != nil {
		o.Error = problem
		return
	}
	defer leave()
	key := string(e.Ref.TenantID) + " " + hostPort(url)
	if s.breakers.Allow(key, s.now()) == breaker.Refused {
		o.Error = failure.New(failure.CircuitOpen, "The tool's endpoint failed several times in the last minute, so it was not called. "+
			"Tell the user that this is not possible right now; it may work in half a minute.")
		return
	}
	result := breaker.Neutral
	defer func() { s.breakers.Report(key, result, s.now()) }()
	if o.Error = s.count(ctx, e); o.Error == nil {
		result = send()
	}
}

// enter waits for one of the slots that all tenants share. The timeout of the call begins
// afterwards.
func (s *Service) enter(ctx context.Context, e *execution) (leave func(), problem *Error) {
	leave, err := s.gate.Enter(ctx, string(e.Ref.TenantID))
	switch {
	case err == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, failure.New(failure.Canceled, "The call was cancelled before it was made.")
	}
	return nil, failure.New(failure.Unavailable, "Too many tool calls wait already, so this one was not made. "+
		"Tell the user that this is not possible right now; it may work in a moment.")
}

// count counts a call against the cap of the session. A call counts however it ends.
func (s *Service) count(ctx context.Context, e *execution) *Error {
	limit := e.Entry.MaxCallsPerSession
	if limit == 0 || e.SessionID == "" {
		return nil
	}
	if e.Untracked {
		return failure.New(failure.Unavailable, "This tool can be called %d times in a conversation, and calls cannot be counted right now, "+
			"so it was not called. Tell the user that this is not possible right now; it may work in some minutes.", limit)
	}
	allowed, err := countCall(ctx, s.db, e.Ref, e.SessionID, e.Entry.Tool.ID, limit, s.timestamp())
	if err != nil {
		return s.internal(ctx, "count tool call", err)
	}
	if !allowed {
		return failure.New(failure.CallsExhausted, "This tool can be called %d times in a conversation, and has been. "+
			"Do not call it again; go on without it.", limit)
	}
	return nil
}

// breakerResult is what a call says about the health of its endpoint.
func breakerResult(failed *Error, status int) breaker.Result {
	switch {
	case failed == nil || failed.Code == failure.Tool:
		return breaker.Healthy
	case failed.Code == failure.ConnectionFailed || failed.Code == failure.Timeout:
		return breaker.Failing
	case failed.Code != failure.HTTPStatus:
		return breaker.Neutral
	case status >= 500:
		return breaker.Failing
	}
	return breaker.Healthy
}

// hostPort is the host of a URL with its port, or the port of its scheme.
func hostPort(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
