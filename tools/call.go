package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// traceTimeout bounds writing a trace, which happens also after the caller has gone.
const traceTimeout = 5 * time.Second

// CallParams is one call by a model.
type CallParams struct {
	Ref workspaces.Ref
	// SessionID is empty for a run, which has no cap.
	SessionID string
	TurnID    string
	// CallID names the logical call (call_…, unique); empty: one is made.
	CallID string
	// Entry is of the registry that Compose made for the turn.
	Entry Entry
	// Arguments is the model's JSON object; empty is no arguments.
	Arguments json.RawMessage
	Variables Variables
	// Untracked says that the database is away: a call whose number is bounded cannot be counted and is not made,
	// and the trace comes back in the Outcome.
	Untracked bool
	// Refused, when set, is why the caller does not want the call to be made: it is traced only.
	Refused *Error
}

// Call calls a tool and traces it. It never fails otherwise than in Outcome.Error: a model is
// told what happened in any case. When ctx ends, the outcome says canceled.
func (s *Service) Call(ctx context.Context, p CallParams) Outcome {
	if !idgen.Valid(idgen.ToolCall, p.CallID) {
		p.CallID = idgen.New(idgen.ToolCall)
	}
	ctx, span := startCall(ctx, p)
	started := s.now()
	o := Outcome{CallID: p.CallID, StartedAt: s.moment()}
	c := call{CallParams: p, redact: newRedactor(nil)}
	if err := s.prepare(ctx, &c); err != nil {
		o.Error = s.internal(ctx, "open tool", err)
	} else if o.Error = s.admit(&c); o.Error == nil {
		s.perform(ctx, &c, &o)
	}
	o.Latency = s.now().Sub(started)
	s.endCall(span, p, o)
	c.clean(&o)
	o.forModel()
	o.Untraced = s.trace(ctx, c, o)
	return o
}

// call is a call on its way.
type call struct {
	CallParams
	arguments     map[string]any // nil until decoded
	authorization string
	secrets       []string
	redact        redactor
}

// prepare opens the tool's secrets, so that they can be used and recognised.
func (s *Service) prepare(ctx context.Context, c *call) error {
	authorization, err := s.openAuthHeader(ctx, c.Entry.Tool)
	if err != nil {
		return err
	}
	c.authorization = authorization
	c.secrets = authSecrets(authorization)
	for _, secret := range c.Variables.Secret {
		c.secrets = append(c.secrets, secret.Reveal())
	}
	c.redact = newRedactor(c.secrets)
	return nil
}

// authSecrets are the parts of an authorization that an endpoint might echo by themselves.
func authSecrets(authorization string) []string {
	secrets := []string{authorization}
	_, credentials, found := strings.Cut(authorization, " ")
	if !found {
		return secrets
	}
	secrets = append(secrets, credentials)
	if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil {
		if _, password, found := strings.Cut(string(plain), ":"); found {
			secrets = append(secrets, string(plain), password)
		}
	}
	for _, part := range strings.FieldsFunc(credentials, func(r rune) bool { return strings.ContainsRune(` ,;="'`, r) }) {
		if len(part) >= minEncodedBytes && strings.ContainsAny(part, "0123456789") { // Token token="…", Signature keyId=…
			secrets = append(secrets, part)
		}
	}
	return secrets
}

// admit is the gates before anything is rendered: enabled, and arguments that match the schema.
func (s *Service) admit(c *call) *Error {
	if c.Refused != nil {
		return c.Refused
	}
	if !c.Entry.Enabled {
		return c.Entry.refusal()
	}
	var fields []fault.Field
	if c.arguments, fields = decodeArguments(c.Arguments); len(fields) == 0 {
		var err error
		if fields, err = s.schemas.checkArguments(c.Entry.InputSchema, c.arguments); err != nil {
			return s.internal(context.Background(), "check arguments", err)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return refuse(CodeArgumentsInvalid, "The arguments do not match the tool's input_schema. %s Correct them and call the tool again.", fieldText(fields))
}

func fieldText(fields []fault.Field) string {
	var lines []string
	for _, f := range fields {
		lines = append(lines, strings.TrimPrefix(f.Field+": ", ": ")+strings.TrimSuffix(f.Message, ".")+".")
	}
	return strings.Join(lines, " ")
}

// perform runs an admitted call.
func (s *Service) perform(ctx context.Context, c *call, o *Outcome) {
	switch {
	case c.Entry.Tool.Bucket != BucketCustom:
		s.performBuiltin(ctx, c, o)
	case c.Entry.Tool.Kind == KindMCP:
		s.performMCP(ctx, c, o)
	default:
		s.performHTTP(ctx, c, o)
	}
}

func (s *Service) performHTTP(ctx context.Context, c *call, o *Outcome) {
	config := c.Entry.Tool.Config
	request, problem := s.renderBoth(c, o)
	if problem != nil {
		o.Error = problem
		return
	}
	s.reach(ctx, c, o, request.url, func() breaker.Result {
		bounded, cancel := context.WithTimeout(ctx, config.Timeout())
		defer cancel()
		last, attempts := s.send(bounded, request, c.CallID, config)
		if last.cut || last.err != nil {
			last.body = c.redact.partial(last.body)
		}
		o.Attempts, o.StatusCode = attempts, last.status
		o.OutputText = last.text()
		o.Error = failure(ctx, bounded, last, config)
		return verdict(o.Error, last.status)
	})
}

// reach passes the gates that stand before an endpoint (a slot, its breaker, the cap of the session) and
// sends; what send says is told to the breaker.
func (s *Service) reach(ctx context.Context, c *call, o *Outcome, url string, send func() breaker.Result) {
	leave, problem := s.enter(ctx, c)
	if problem != nil {
		o.Error = problem
		return
	}
	defer leave()
	key := string(c.Ref.TenantID) + " " + hostPort(url)
	if s.breaker.Allow(key, s.now()) == breaker.Refused {
		o.Error = refuse(CodeCircuitOpen, "The tool's endpoint failed several times in the last minute, so it was not called. Tell the user that this is not possible right now; it may work in half a minute.")
		return
	}
	says := breaker.Neutral
	defer func() { s.breaker.Report(key, says, s.now()) }()
	if o.Error = s.count(ctx, c); o.Error == nil {
		says = send()
	}
}

// enter waits for a slot among the calls of all tenants. The call's own time begins afterwards.
func (s *Service) enter(ctx context.Context, c *call) (leave func(), problem *Error) {
	leave, err := s.gate.Enter(ctx, string(c.Ref.TenantID))
	switch {
	case err == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, refuse(CodeCanceled, "The call was cancelled before it was made.")
	}
	return nil, refuse(CodeUnavailable, "Too many tool calls wait already, so this one was not made. Tell the user that this is not possible right now; it may work in a moment.")
}

// renderBoth makes the request, and fills in o.Request the same one made without secrets.
func (s *Service) renderBoth(c *call, o *Outcome) (wire, *Error) {
	config := c.Entry.Tool.Config
	real, shown := view{authorization: c.authorization}, view{}
	if c.authorization != "" {
		shown.authorization = redactedWord
	}
	if config.AllowDynamicVars {
		real.operator, real.model = c.Variables.operator, c.Variables.model
		shown.operator, shown.model = c.Variables.masked, c.Variables.model
	}
	request, problem := render(config, c.arguments, real)
	if problem != nil {
		return wire{}, problem
	}
	if sent := request.headers["Authorization"]; sent != c.authorization { // it held placeholders
		c.redact = newRedactor(append(c.secrets, authSecrets(sent)...))
	}
	visible, problem := render(config, c.arguments, shown)
	if problem != nil {
		return wire{}, problem
	}
	visible.headers["Idempotency-Key"] = c.CallID
	o.Request = &Request{Method: visible.method, URL: visible.url, Headers: visible.headers, Body: string(visible.body)}
	return request, nil
}

func (s *Service) performBuiltin(ctx context.Context, c *call, o *Outcome) {
	runner, ok := s.builtin(c.Entry.Tool.Slug)
	if !ok {
		o.Error = refuse(CodeNotAvailable, "This tool is not available. Tell the user that this is not possible.")
		return
	}
	if o.Error = s.count(ctx, c); o.Error != nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, c.Entry.Tool.Config.Timeout())
	defer cancel()
	arguments, err := json.Marshal(c.arguments)
	if err != nil {
		o.Error = s.internal(ctx, "encode arguments", err)
		return
	}
	o.Attempts = 1
	o.OutputText, err = runner.RunBuiltin(bounded, BuiltinCall{
		Ref: c.Ref, SessionID: c.SessionID, TurnID: c.TurnID, CallID: c.CallID, Arguments: arguments, Variables: c.Variables.Public,
	})
	o.Error = s.builtinFailure(ctx, bounded, err)
}

func (s *Service) builtinFailure(caller, ctx context.Context, err error) *Error {
	if err == nil {
		return nil
	}
	if decided, ok := errors.AsType[*fault.Error](err); ok && decided.Reason != fault.InternalError {
		return &Error{Code: Code(decided.Reason), Message: decided.Message}
	}
	if caller.Err() != nil {
		return refuse(CodeCanceled, "The call was cancelled before it was done.")
	}
	if ctx.Err() != nil {
		return refuse(CodeTimeout, "The tool took too long. Tell the user that this is not possible right now.")
	}
	return s.internal(caller, "run built-in tool", err)
}

// count takes one of the session's calls. A call that was let out counts, however it ends.
func (s *Service) count(ctx context.Context, c *call) *Error {
	limit := c.Entry.MaxCallsPerSession
	if limit == 0 || c.SessionID == "" {
		return nil
	}
	if c.Untracked {
		return refuse(CodeUnavailable, "This tool can be called %d times in a conversation, and calls cannot be counted right now, so it was not called. Tell the user that this is not possible right now; it may work in some minutes.", limit)
	}
	allowed, err := takeCall(ctx, s.db, c.Ref, c.SessionID, c.Entry.Tool.ID, limit, s.moment())
	if err != nil {
		return s.internal(ctx, "count tool call", err)
	}
	if !allowed {
		return refuse(CodeCallsExhausted, "This tool can be called %d times in a conversation, and has been. Do not call it again; go on without it.", limit)
	}
	return nil
}

// internal logs our own fault and tells the model no more than that there was one.
func (s *Service) internal(ctx context.Context, what string, err error) *Error {
	if ctx.Err() != nil {
		return refuse(CodeCanceled, "The call was cancelled before it was made.")
	}
	s.log.ErrorContext(ctx, "tool call failed inside", slog.String("what", what), slog.Any("error", err))
	return refuse(CodeInternal, "The tool could not be called because of an internal error. Tell the user that this is not possible right now.")
}

// clean takes secrets out of what came from outside.
func (c *call) clean(o *Outcome) {
	if whole := asJSON(o.OutputText); whole != nil && c.redact.replacer != nil {
		// Value by value first: a number that is a secret must not leave broken JSON behind.
		if value, changed := c.redact.value(decodeJSON(whole)); changed {
			o.OutputText = compactJSON(value)
		}
	}
	o.OutputText = c.redact.text(o.OutputText)
	o.OutputJSON = asJSON(o.OutputText)
	if o.Error != nil {
		o.Error = &Error{Code: o.Error.Code, Message: c.redact.text(o.Error.Message)}
	}
	if o.Request != nil {
		o.Request = &Request{
			Method: o.Request.Method, URL: c.redact.text(o.Request.URL),
			Headers: c.redact.values(o.Request.Headers), Body: c.redact.text(o.Request.Body),
		}
	}
}

// PutTrace writes down the trace of a call that could not be written when it was made; a second time it does nothing.
func (s *Service) PutTrace(ctx context.Context, row Call) error { return insertCall(ctx, s.db, row) }

// trace writes the call down; it is worth having also when the caller has hung up. The trace comes back when it
// could not be written.
func (s *Service) trace(ctx context.Context, c call, o Outcome) *Call {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), traceTimeout)
	defer cancel()
	row := Call{
		ID: c.CallID, TenantID: c.Ref.TenantID, WorkspaceID: c.Ref.ID, SessionID: c.SessionID, TurnID: c.TurnID, AgentID: c.Entry.AgentID,
		ToolID: c.Entry.Tool.ID, Slug: c.Entry.Name, Input: c.traceInput(), Output: o.Output, StatusCode: o.StatusCode,
		LatencyMS: int(o.Latency.Milliseconds()), Attempts: o.Attempts, StartedAt: o.StartedAt,
	}
	if o.Error != nil {
		row.ErrorCode, row.ErrorMessage = string(o.Error.Code), o.Error.Message
	}
	if c.Untracked {
		return &row
	}
	if err := insertCall(ctx, s.db, row); err != nil {
		s.log.ErrorContext(ctx, "tool call not traced", slog.String("tool_id", string(row.ToolID)),
			slog.String("session_id", row.SessionID), slog.Any("error", err))
		return &row
	}
	return nil
}

// traceInput is the arguments as an object; what is no object is kept as text.
func (c *call) traceInput() json.RawMessage {
	arguments := c.arguments
	if arguments == nil {
		arguments, _ = decodeJSON(c.Arguments).(map[string]any)
	}
	if arguments == nil && len(c.Arguments) > 0 || deeper(arguments, maxJSONDepth) {
		arguments = map[string]any{"not_an_object": cutText(c.redact.text(string(c.Arguments)), ModelMaxBytes)}
	}
	if arguments == nil {
		arguments = map[string]any{}
	}
	clean, _ := c.redact.value(arguments)
	return json.RawMessage(compactJSON(clean))
}

// openAuthHeader is the stored authorization; empty when there is none.
func (s *Service) openAuthHeader(ctx context.Context, t Tool) (string, error) {
	if !t.AuthHeaderSet() {
		return "", nil
	}
	plain, err := s.keys.Open(ctx, t.AuthHeader, authPlace(t.TenantID, t.ID))
	if err != nil {
		return "", fmt.Errorf("open auth_header of tool %s: %w", t.ID, err)
	}
	return string(plain), nil
}

// authPlace binds a sealed auth_header to its tool.
func authPlace(tenant workspaces.TenantID, id ID) seal.Binding {
	return seal.Binding{TenantID: string(tenant), Record: "tools/" + string(id), Field: "auth_header"}
}
