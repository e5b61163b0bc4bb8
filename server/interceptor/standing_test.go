package interceptor_test

import (
	"context"
	"testing"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/workspaces"
)

// sent is a stream that takes every message.
type sent struct{ connect.StreamingHandlerConn }

func (sent) Send(any) error { return nil }

// TestRevokedKeyEndsStream: a stream ends within ten seconds after its key was revoked, with its
// next message, and not while nobody knows whether it was.
func TestRevokedKeyEndsStream(t *testing.T) {
	t.Parallel()
	at, asked, revoked := time.Unix(0, 0), 0, false
	ctx := workspaces.WithStanding(workspaces.WithPrincipal(t.Context(), workspaces.Principal{KeyID: "key_1"}), func(context.Context) error {
		switch asked++; {
		case asked == 1:
			return fault.New(fault.ServiceUnavailable, "The database is away.")
		case revoked:
			return fault.New(fault.AuthInvalidKey, "The API key is not valid.")
		}
		return nil
	})
	err := interceptor.Standing{Now: func() time.Time { return at }}.WrapStreamingHandler(
		func(_ context.Context, conn connect.StreamingHandlerConn) error {
			for range 25 { // a message a second
				if err := conn.Send("a message"); err != nil {
					return err
				}
				at = at.Add(time.Second)
				revoked = at.Unix() > 12
			}
			return nil
		})(ctx, sent{})
	if fault.ReasonOf(err) != fault.AuthInvalidKey || at.Unix() != 20 || asked != 2 {
		t.Errorf("ended after %d s with %v, having asked %d times", at.Unix(), err, asked)
	}
}
