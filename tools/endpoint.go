package tools

import (
	"context"
	"net"
	"net/url"
	"time"

	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/workspaces"
)

// The rules of the circuit breakers. Source: decisions, Tools.
const (
	// breakerMinCalls in a minute, half of which failed, open the circuit of a tool that has no rule
	// of its own.
	breakerMinCalls = 10
	// breakerHostFailures are the failed connections in a row that open the circuit of a host. Each
	// may take ten seconds with its repetitions, so they count for longer than a minute.
	breakerHostFailures = 5
	breakerHostWindow   = 10 * time.Minute
)

// health is what a call says about its tool and about the connection to its host.
type health struct{ tool, host breaker.Result }

// callEndpoint calls an endpoint, unless there is no slot, a circuit is open, the tool is no longer
// there, or the cap of the session is reached. send says how the call went.
func (s *Service) callEndpoint(ctx context.Context, e *execution, o *Outcome, url string, send func() health) {
	leave, problem := s.enter(ctx, e)
	if problem != nil {
		o.Error = problem
		return
	}
	defer leave()
	if e.SessionID == "" { // a person tries the tool: that neither counts nor is refused
		send()
		return
	}
	var result health
	if rule := e.Entry.Tool.Config.Breaker; rule == nil || !rule.Disabled {
		report, problem := s.passBreakers(e, url)
		if problem != nil {
			o.Error = problem
			return
		}
		defer func() { report(result) }()
	}
	if o.Error = s.reserve(ctx, e); o.Error == nil {
		result = send()
	}
}

// passBreakers asks the circuits of the tool and of its host. The result of the call that they let
// pass must be reported.
func (s *Service) passBreakers(e *execution, url string) (report func(health), problem *Error) {
	tool := string(e.Entry.Tool.ID) + " " + e.Entry.RemoteTool
	host := string(e.Ref.TenantID) + " " + hostPort(url)
	tools := s.toolBreakers.get(e.Entry.Tool.Config.Breaker)
	if tools.Allow(tool, s.now()) == breaker.Refused {
		return nil, failure.New(failure.CircuitOpen, "Too many of this tool's calls failed just now, so it was not called. "+
			"Tell the user that this is not possible right now; it may work later.")
	}
	if s.hostBreaker.Allow(host, s.now()) == breaker.Refused {
		tools.Report(tool, breaker.Neutral, s.now())
		return nil, failure.New(failure.CircuitOpen, "The tool's host could not be reached several times in a row, so it was not called. "+
			"Tell the user that this is not possible right now; it may work in half a minute.")
	}
	return func(result health) {
		tools.Report(tool, result.tool, s.now())
		s.hostBreaker.Report(host, result.host, s.now())
	}, nil
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

// reserve counts a call against the cap of its session, and refuses it when the tool is no longer
// what the model was offered: a turn runs for minutes, and waits for people's approval. A call
// counts however it ends.
func (s *Service) reserve(ctx context.Context, e *execution) *Error {
	limit := e.Entry.MaxCallsPerSession
	switch {
	case e.SessionID == "":
		return nil // a person tries the tool
	case e.Untracked && limit == 0:
		return nil // whether the tool was changed cannot be known either
	case e.Untracked:
		return failure.New(failure.Unavailable, "This tool can be called %d times in a conversation, and calls cannot be counted right now, "+
			"so it was not called. Tell the user that this is not possible right now; it may work in some minutes.", limit)
	}
	r, err := reserveCall(ctx, s.db, e.CallParams, s.timestamp())
	switch {
	case err != nil:
		return s.internal(ctx, "reserve tool call", err)
	case !r.Attached:
		return failure.New(failure.Disabled, "The tool %s was switched off for this agent just now, so it was not called. "+
			"Do not call it again; go on without it.", e.Entry.Name)
	case !r.Unchanged:
		return failure.New(failure.Disabled, "The tool %s was changed by its operator just now, so it was not called. "+
			"It can be called again in the next turn.", e.Entry.Name)
	case !r.Counted:
		return failure.New(failure.CallsExhausted, "This tool can be called %d times in a conversation, and has been. "+
			"Do not call it again; go on without it.", r.Limit)
	}
	return nil
}

// UsedUp are the tools of a registry whose cap of calls a session has reached.
func (s *Service) UsedUp(ctx context.Context, ref workspaces.Ref, sessionID string, registry Registry) (map[ID]bool, error) {
	caps := map[ID]int{}
	for e := range registry.Offered() {
		if e.MaxCallsPerSession > 0 {
			caps[e.Tool.ID] = e.MaxCallsPerSession
		}
	}
	usedUp := map[ID]bool{}
	if len(caps) == 0 {
		return usedUp, nil
	}
	counts, err := countedCalls(ctx, s.db, ref, sessionID)
	if err != nil {
		return nil, err
	}
	for _, counted := range counts {
		limit := caps[counted.ToolID]
		usedUp[counted.ToolID] = limit > 0 && counted.Calls >= limit
	}
	return usedUp, nil
}

// healthOf is what a call says that ended so. A status in which the arguments are wrong, or a tool
// that reports a failure, is a healthy answer.
func healthOf(failed *Error, status int) health {
	switch {
	case failed == nil || failed.Code == failure.Tool:
		return health{tool: breaker.Healthy, host: breaker.Healthy}
	case failed.Code == failure.ConnectionFailed:
		return health{tool: breaker.Failing, host: breaker.Failing}
	case failed.Code == failure.Timeout: // the host may be well
		return health{tool: breaker.Failing, host: breaker.Neutral}
	case failed.Code != failure.HTTPStatus:
		return health{tool: breaker.Neutral, host: breaker.Neutral}
	case status >= 500:
		return health{tool: breaker.Failing, host: breaker.Healthy}
	}
	return health{tool: breaker.Healthy, host: breaker.Healthy}
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
