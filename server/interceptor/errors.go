package interceptor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// RPC is the Connect interceptor. It recovers from panics, validates every message, and turns the
// error of a handler into the error on the wire. It logs the cause of internal errors.
type RPC struct {
	Log       *slog.Logger
	Metrics   *telemetry.Metrics
	Now       func() time.Time
	Validator protovalidate.Validator
	// Undecoded returns the error of a message that could not be decoded, nil for all others.
	Undecoded func(proto.Message) error
	Pages     *Pages
	Policies  Policies
}

// WrapUnary implements connect.Interceptor.
func (i *RPC) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (res connect.AnyResponse, err error) {
		started := i.Now()
		defer func() {
			if cause := recover(); cause != nil {
				err = panicked(cause)
			}
			err = i.finish(ctx, req.Spec().Procedure, started, err)
		}()
		if err := i.validate(req.Any()); err != nil {
			return nil, err
		}
		if err := i.checkIfMatch(req); err != nil {
			return nil, err
		}
		if res, err = i.paged(ctx, req, next); err == nil {
			tag(res)
		}
		return res, err
	}
}

// versioned are the methods that compare If-Match.
var versioned = []string{
	parlancev1connect.AgentServiceUpdateAgentProcedure, parlancev1connect.AgentServiceDeleteAgentProcedure,
	parlancev1connect.AgentServiceRollbackAgentProcedure, parlancev1connect.ToolServiceUpdateToolsConfigProcedure,
}

// checkIfMatch refuses If-Match where nothing compares it: the caller counts on not overwriting
// what somebody else has changed. Errors: Invalid invalid-request.
func (i *RPC) checkIfMatch(req connect.AnyRequest) error {
	asked := req.Header().Get("If-Match")
	procedure := req.Spec().Procedure
	if asked == "" || asked == "*" || !i.Policies[procedure].Changes() || slices.Contains(versioned, procedure) {
		return nil
	}
	return fault.InvalidField("If-Match", "unsupported", "Only agents have versions that If-Match compares; send this request without it.")
}

// tag gives an answer with an agent the ETag that If-Match compares. It is done here, so that a
// replayed answer has it too.
func tag(res connect.AnyResponse) {
	if agent, ok := res.Any().(*parlancev1.Agent); ok {
		res.Header().Set("ETag", strconv.Quote(strconv.Itoa(int(agent.GetVersion()))))
	}
}

// paged calls next with the page token of the noun in place of the caller's, and authenticates the
// next token in the response.
func (i *RPC) paged(ctx context.Context, req connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	asked, ok := req.Any().(proto.Message)
	if !ok {
		return next(ctx, req)
	}
	bound, err := i.Pages.Open(ctx, req.Spec().Procedure, asked)
	if err != nil {
		return nil, err
	}
	res, err := next(ctx, req)
	if err != nil {
		return nil, err
	}
	if answer, ok := res.Any().(proto.Message); ok {
		i.Pages.Seal(bound, answer)
	}
	return res, nil
}

// WrapStreamingClient implements connect.Interceptor; the server never is a client.
func (i *RPC) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (i *RPC) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) (err error) {
		started := i.Now()
		defer func() {
			if cause := recover(); cause != nil {
				err = panicked(cause)
			}
			err = i.finish(ctx, conn.Spec().Procedure, started, err)
		}()
		return next(ctx, validatingConn{StreamingHandlerConn: conn, validate: i.validate})
	}
}

// validatingConn validates each message a stream receives.
type validatingConn struct {
	connect.StreamingHandlerConn
	validate func(any) error
}

func (c validatingConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	if err := c.validate(message); err != nil {
		return problem.ToConnect(fault.From(err))
	}
	return nil
}

// validate applies the protos' rules. Errors: Invalid invalid-request with every violation.
func (i *RPC) validate(message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return nil
	}
	if err := i.Undecoded(m); err != nil {
		return err
	}
	if field := nulField(m.ProtoReflect(), ""); field != "" {
		return fault.InvalidField(field, "control_character", "The text holds a NUL or, in a name, another control character.")
	}
	if err := settleExact(m.ProtoReflect(), ""); err != nil {
		return err
	}
	if err := checkMask(m.ProtoReflect()); err != nil {
		return err
	}
	err := i.Validator.Validate(m)
	if err == nil {
		return nil
	}
	if violations, ok := errors.AsType[*protovalidate.ValidationError](err); ok {
		return fault.InvalidFields(problem.Violations(violations.ToProto())...)
	}
	return fmt.Errorf("validate %T: %w", message, err)
}

// finish converts, counts and logs the outcome of a call.
func (i *RPC) finish(ctx context.Context, procedure string, started time.Time, err error) error {
	elapsed := i.Now().Sub(started)
	if err == nil {
		i.Metrics.ObserveRPC(procedure, "", elapsed)
		return nil
	}
	decided := decisionOf(err)
	if workspaces.PrincipalFrom(ctx).SessionID != "" {
		decided = sessions.ForEndUser(decided)
	}
	i.Metrics.ObserveRPC(procedure, string(decided.Reason), elapsed)
	if decided.Kind() == fault.Internal {
		i.Log.ErrorContext(ctx, "call failed", telemetry.KeyProcedure, procedure, telemetry.KeyError, err)
	}
	return problem.ToConnect(decided)
}

// decisionOf keeps an error that connect itself made, such as a message that it cannot decode, and
// tells an unavailable database from an internal error.
func decisionOf(err error) *fault.Error {
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		return decided
	}
	if wire, ok := errors.AsType[*connect.Error](err); ok {
		return problem.FromConnect(wire)
	}
	return postgres.Decide(err)
}

func panicked(cause any) error {
	return fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
}
