package tools

import (
	"context"

	"parlance.dev/parlance/tools/httpcall"
)

// callHTTP calls an http tool.
func (s *Service) callHTTP(ctx context.Context, e *execution, o *Outcome) {
	config := e.Entry.Tool.Config
	request, problem := renderHTTP(e, o)
	if problem != nil {
		o.Error = problem
		return
	}
	s.callEndpoint(ctx, e, o, request.URL, func() health {
		bounded, cancel := context.WithTimeout(ctx, config.Timeout())
		defer cancel()
		limits := httpcall.Limits{Timeout: config.Timeout(), MaxAnswerBytes: config.ResponseMaxBytes}
		if config.Retry != nil {
			limits.MaxAttempts, limits.RetryStatuses = config.Retry.MaxAttempts, config.Retry.Statuses
		}
		answer := s.http.Send(bounded, request, e.CallID, limits)
		if !answer.Complete() {
			answer.Body.Bytes = e.redact.Partial(answer.Body.Bytes)
		}
		answer.Body.Bytes = e.redact.Bytes(answer.Body.Bytes) // taking out markup would hide where a secret is broken
		o.Attempts, o.StatusCode, o.OutputText = answer.Attempts, answer.Status, answer.Body.Text()
		o.Error = answer.Failure(ctx, bounded, config.Timeout())
		return healthOf(o.Error, answer.Status)
	})
}

// renderHTTP makes the request, and sets o.Request to the same request without secrets.
func renderHTTP(e *execution, o *Outcome) (httpcall.Request, *Error) {
	config := e.Entry.Tool.Config
	sent := httpcall.Values{SecretHeaders: e.secretHeaders}
	shown := httpcall.Values{SecretHeaders: hidden(e.secretHeaders)}
	if config.AllowDynamicVars {
		sent.Operator, sent.Model = e.Variables.operator, e.Variables.model
		shown.Operator, shown.Model = e.Variables.masked, e.Variables.model
	}
	request, problem := httpcall.Render(config.endpoint(), e.arguments, sent)
	if problem != nil {
		return httpcall.Request{}, problem
	}
	e.addRendered(request.Headers)
	visible, problem := httpcall.Render(config.endpoint(), e.arguments, shown)
	if problem != nil {
		return httpcall.Request{}, problem
	}
	visible.Headers["Idempotency-Key"] = e.CallID
	o.Request = &Request{Method: visible.Method, URL: visible.URL, Headers: visible.Headers, Body: string(visible.Body)}
	return request, nil
}
