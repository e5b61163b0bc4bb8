package interceptor

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// keyCheck is how often it is looked whether the key of a stream is still valid.
const keyCheck = 10 * time.Second

// Standing is the Connect interceptor that ends the streams of people whose role has changed, and
// of keys that were revoked.
type Standing struct {
	// Now is the clock.
	Now func() time.Time
}

// WrapUnary implements connect.Interceptor.
func (s Standing) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc { return next }

// WrapStreamingClient implements connect.Interceptor; the server never is a client.
func (s Standing) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (s Standing) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		switch p := workspaces.PrincipalFrom(ctx); {
		case p.PersonID != "":
			conn = &standingConn{StreamingHandlerConn: conn, ctx: ctx, now: s.Now}
		case p.KeyID != "":
			conn = &standingConn{StreamingHandlerConn: conn, ctx: ctx, now: s.Now, every: keyCheck, checked: s.Now()}
		}
		return next(ctx, conn)
	}
}

// standingConn ends a stream to a caller who may not read it any more. A person is checked before
// each message, because their role says what they may see; a key, which has no role, from time to
// time. While the database is away a key's stream goes on, as the turns of open sessions do.
type standingConn struct {
	connect.StreamingHandlerConn
	ctx context.Context //nolint:containedctx // Send has none
	now func() time.Time
	// every is how often it is checked; 0: before each message.
	every   time.Duration
	checked time.Time
}

// Send implements connect.StreamingHandlerConn.
func (c *standingConn) Send(message any) error {
	if now := c.now(); now.Sub(c.checked) >= c.every {
		err := workspaces.Standing(c.ctx)
		if isUnknown := fault.IsReason(err, fault.ServiceUnavailable) && c.every > 0; err != nil && !isUnknown {
			return err
		}
		c.checked = now
	}
	return c.StreamingHandlerConn.Send(message)
}
