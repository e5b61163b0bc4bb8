package interceptor

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// Masked is the Connect interceptor that masks personal data in what people with the role analyst
// are answered: see masker. It is outside Once, so that an answer is kept as it was.
type Masked struct {
	hashUser func(ctx context.Context, tenant workspaces.TenantID, userID string) (string, error)
}

// NewMasked makes the interceptor. hashUser replaces the ids of end users.
func NewMasked(hashUser func(ctx context.Context, tenant workspaces.TenantID, userID string) (string, error)) *Masked {
	return &Masked{hashUser: hashUser}
}

// maskerOf returns the masker of a call; ok is false when the caller sees everything.
func (m *Masked) maskerOf(ctx context.Context) (found masker, ok bool) {
	p := workspaces.PrincipalFrom(ctx)
	if m == nil || p.Role != workspaces.RoleAnalyst {
		return masker{}, false
	}
	return newMasker(func(userID string) (string, error) { return m.hashUser(ctx, p.TenantID, userID) }), true
}

// WrapUnary implements connect.Interceptor.
func (m *Masked) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		masker, ok := m.maskerOf(ctx)
		if !ok {
			return next(ctx, req)
		}
		if err := checkAsked(req.Any()); err != nil {
			return nil, err
		}
		res, err := next(ctx, req)
		if err != nil {
			return nil, err
		}
		answer, ok := res.Any().(proto.Message)
		if !ok {
			return res, nil
		}
		masked, err := masker.masked(answer)
		if err != nil {
			return nil, err
		}
		proto.Reset(answer)
		proto.Merge(answer, masked)
		return res, nil
	}
}

// WrapStreamingClient implements connect.Interceptor; the server never is a client.
func (m *Masked) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (m *Masked) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		if masker, ok := m.maskerOf(ctx); ok {
			conn = maskedConn{StreamingHandlerConn: conn, masker: masker}
		}
		return next(ctx, conn)
	}
}

// maskedConn masks the messages that are sent.
type maskedConn struct {
	connect.StreamingHandlerConn
	masker masker
}

// Receive implements connect.StreamingHandlerConn.
func (c maskedConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	return checkAsked(message)
}

// Send implements connect.StreamingHandlerConn.
func (c maskedConn) Send(message any) error {
	answer, ok := message.(proto.Message)
	if !ok {
		return c.StreamingHandlerConn.Send(message)
	}
	masked, err := c.masker.masked(answer)
	if err != nil {
		return err
	}
	return c.StreamingHandlerConn.Send(masked)
}

// checkAsked refuses the request of an analyst that names a user: by trying ids, they could find
// out whose sessions they see. Errors: Forbidden auth-scope.
func checkAsked(request any) error {
	if message, ok := request.(proto.Message); ok && textField(message, userIDField) != "" {
		return fault.New(fault.AuthScope, "Your role \"analyst\" cannot ask for a user: leave user_id out. "+otherRole)
	}
	return nil
}
