package tools

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/schema"
	"parlance.dev/parlance/workspaces"
)

// traceTimeout bounds the storing of a trace, which does not end with the caller.
const traceTimeout = 5 * time.Second

// CallParams is one call by a model.
type CallParams struct {
	Ref workspaces.Ref
	// SessionID is empty for a run, which has no cap.
	SessionID string
	TurnID    string
	// CallID is the id of the logical call (call_…, unique). When it is empty, Call makes one.
	CallID string
	// Entry is that of the registry of the turn.
	Entry Entry
	// Arguments is the JSON object of the model. Empty is no arguments.
	Arguments json.RawMessage
	Variables Variables
	// Untracked says that the database is unavailable. A tool with a cap is not called then, and the
	// trace is not stored but returned in the Outcome.
	Untracked bool
	// Refused is why the caller does not want the call to be made: it is only traced. nil makes the
	// call.
	Refused *Error
	// PII replaces personal data in the trace.
	PII pii.Redactor
}

// execution is a call while it is made.
type execution struct {
	CallParams
	arguments map[string]any // nil until decoded
	// secretHeaders are the templates of auth_header and secret_headers, by the headers' names.
	secretHeaders map[string]string
	secrets       []string
	redact        redact.Redactor
}

// newExecution decrypts the secrets of a call.
func (s *Service) newExecution(ctx context.Context, p CallParams) (*execution, error) {
	e := &execution{CallParams: p}
	headers, err := s.openSecretHeaders(ctx, p.Entry.Tool)
	if err != nil {
		return e, err
	}
	e.secretHeaders = headers
	for _, header := range headers {
		e.secrets = append(e.secrets, redact.Header(header)...)
	}
	for _, secret := range p.Variables.Secret {
		e.secrets = append(e.secrets, secret.Reveal())
	}
	e.redact = redact.New(e.secrets)
	return e, nil
}

// addRendered makes the redactor find rendered secret headers that differ from their templates.
func (e *execution) addRendered(headers map[string]string) {
	secrets := e.secrets
	for name, template := range e.secretHeaders {
		if rendered := headers[name]; rendered != template {
			secrets = append(secrets, redact.Header(rendered)...)
		}
	}
	if len(secrets) > len(e.secrets) {
		e.redact = redact.New(secrets)
	}
}

// maxAnswerDepth is how deep an answer may be nested to be read as JSON. A deeper one is text:
// protobuf refuses values of some thousand levels, and the libraries of callers fewer.
const maxAnswerDepth = 1000

// redactOutcome removes secrets from what came from outside.
func (e *execution) redactOutcome(o *Outcome) {
	o.OutputText = e.redact.JSON(o.OutputText)
	o.OutputJSON = jsonvalue.Raw(o.OutputText)
	if jsonvalue.DeeperThan(jsonvalue.Decode(o.OutputJSON), maxAnswerDepth) {
		o.OutputJSON = nil
	}
	if o.Error != nil {
		o.Error = &Error{Code: o.Error.Code, Message: e.redact.Text(o.Error.Message)}
	}
	if o.Request != nil {
		o.Request = &Request{
			Method: o.Request.Method, URL: e.redact.Text(o.Request.URL),
			Headers: e.redact.Values(o.Request.Headers), Body: e.redact.Text(o.Request.Body),
		}
	}
}

// ArgumentsAsText is the object that traces and transcripts have in place of arguments that are not
// a JSON object or cannot be kept: their text, or its beginning.
func ArgumentsAsText(text string) json.RawMessage {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	return json.RawMessage(jsonvalue.Compact(map[string]any{"arguments_as_text": CutForModel(text)}))
}

// traceInput is the arguments as a JSON object, without secrets.
func (e *execution) traceInput() json.RawMessage {
	arguments := e.arguments
	if arguments == nil {
		arguments, _ = jsonvalue.Decode(e.Arguments).(map[string]any)
	}
	if arguments == nil && len(e.Arguments) > 0 || jsonvalue.DeeperThan(arguments, jsonvalue.MaxDepth) ||
		jsonvalue.Unkeepable(e.Arguments) != "" {
		return ArgumentsAsText(e.redact.Text(string(e.Arguments)))
	}
	if arguments == nil {
		arguments = map[string]any{}
	}
	clean, _ := e.redact.Value(arguments)
	return json.RawMessage(jsonvalue.Compact(clean))
}

// checkArguments decodes arguments and checks them against a schema.
func (s *Service) checkArguments(inputSchema, raw json.RawMessage) (map[string]any, []fault.Field, error) {
	arguments, fields := schema.DecodeArguments(raw)
	if len(fields) > 0 {
		return arguments, fields, nil
	}
	fields, err := s.schemas.CheckArguments(inputSchema, arguments)
	return arguments, fields, err
}

// fieldText is the messages of violations as sentences.
func fieldText(fields []fault.Field) string {
	var lines []string
	for _, f := range fields {
		lines = append(lines, strings.TrimPrefix(f.Field+": ", ": ")+strings.TrimSuffix(f.Message, ".")+".")
	}
	return strings.Join(lines, " ")
}

// trace stores the trace of a call, also when the caller has gone. It returns the trace if it is
// not stored.
func (s *Service) trace(ctx context.Context, e *execution, o Outcome) *Call {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), traceTimeout)
	defer cancel()
	row := Call{
		ID: e.CallID, TenantID: e.Ref.TenantID, WorkspaceID: e.Ref.ID, SessionID: e.SessionID, TurnID: e.TurnID,
		AgentID: e.Entry.AgentID, ToolID: e.Entry.Tool.ID, Slug: e.Entry.Name,
		Input: e.PII.JSON(e.traceInput()), Output: e.PII.Document(o.Output), StatusCode: o.StatusCode,
		LatencyMS: int(o.Latency.Milliseconds()), Attempts: o.Attempts, StartedAt: o.StartedAt,
	}
	if o.Error != nil {
		row.ErrorCode, row.ErrorMessage = string(o.Error.Code), e.PII.Text(o.Error.Message)
	}
	if e.Untracked {
		return &row
	}
	if err := insertCall(ctx, s.db, row); err != nil {
		s.log.ErrorContext(ctx, "tool call not traced", slog.String("tool_id", string(row.ToolID)),
			slog.String("session_id", row.SessionID), slog.Any("error", err))
		return &row
	}
	return nil
}

// internal logs a fault of this service. The model does not get its text.
func (s *Service) internal(ctx context.Context, what string, err error) *Error {
	if ctx.Err() != nil {
		return failure.New(failure.Canceled, "The call was cancelled before it was made.")
	}
	s.log.ErrorContext(ctx, "tool call failed internally", slog.String("what", what), slog.Any("error", err))
	return failure.New(failure.Internal,
		"The tool could not be called because of an internal error. Tell the user that this is not possible right now.")
}
