package conversation_test

import (
	"context"
	"testing"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
)

// TestUnreachable: who comes while Postgres hangs is refused within seconds, and at once when that is known.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	r.wire.hold()
	for range 2 {
		_, err := r.Admit(t.Context(), conversation.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: conversation.ChatChannel})
		if decided := fault.From(err); decided.Reason != fault.ServiceUnavailable || decided.RetryAfter == 0 {
			t.Errorf("refused with %v", err)
		}
		if err := r.Reach(t.Context(), func(context.Context) error { return nil }); !fault.IsReason(err, fault.ServiceUnavailable) {
			t.Errorf("reached: %v", err)
		}
	}
	r.wire.mend()
	await(t, "it is there", func() bool {
		return r.Reach(t.Context(), func(context.Context) error { return nil }) == nil
	})
	f.join(t, r.Service, made)
}
