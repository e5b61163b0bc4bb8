package callbacks_test

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// What comes late, twice or in another order of a transfer.

// TestTransferNotMade: a transfer that nobody has made, or whose answer was lost, is given up while
// the caller is with the agent, and another can be made.
func TestTransferNotMade(t *testing.T) {
	t.Parallel()
	for name, instruct := range map[string]func(*context.CancelFunc) error{
		"its request is lost": func(*context.CancelFunc) error { return errLost },
		"who asked hangs up": func(hangUp *context.CancelFunc) error {
			(*hangUp)()
			return context.Canceled
		},
		"the process dies": func(*context.CancelFunc) error { panic("kill -9") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.joined(t)
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			f.line.onInstruct = func(context.Context) error { return instruct(&hangUp) }
			func() {
				defer func() { _ = recover() }()
				if _, err := f.calls.Transfer(ctx, f.ref, made.CallID, telephony.TransferParams{To: colleague}); err == nil {
					t.Error("the transfer was made")
				}
			}()
			f.line.onInstruct = nil
			if got := f.callOf(t, made); got.Transfer.Status != telephony.TransferRinging {
				t.Fatalf("the transfer is %s", got.Transfer.Status)
			}
			for range 2 {
				f.clock.advance(time.Minute)
				f.sweep(t)
			}
			if got := f.callOf(t, made); got.Transfer.Status != telephony.TransferFailed || got.Transfer.Reason != telephony.EndCarrierFailed {
				t.Errorf("the transfer is %s (%s)", got.Transfer.Status, got.Transfer.Reason)
			}
			f.transfer(t, made, another, agents.Cold)
		})
	}
}

// TestTransferAnswerLost: a transfer whose answer was lost is one, when the carrier makes it.
func TestTransferAnswerLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.line.onInstruct = func(context.Context) error { return errLost }
	_, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: colleague})
	wantReason(t, err, fault.UpstreamFailed)
	f.wantGoesOn(t, made)
	f.hook(t, made.ID, carrier.BridgeChanged, answered)
	f.status(t, made.ID, carrier.Completed)
	if got := f.callOf(t, made); got.Transfer.Status != telephony.TransferConnected || got.EndReason != telephony.EndTransferred {
		t.Errorf("the transfer is %s, the call ended because of %s", got.Transfer.Status, got.EndReason)
	}
}

// asks has the session of a callback ask for a person.
func (f *fixture) asks(t *testing.T, made callbacks.Callback) {
	t.Helper()
	_, err := f.db.NewRaw("UPDATE sessions SET handover_status = 'requested', handover_requested_at = ? WHERE tenant_id = ? AND id = ?",
		f.clock.now(), f.ref.TenantID, made.SessionID).Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
}

// handsOver is an agent that transfers to a colleague.
func (f *fixture) handsOver(t *testing.T) {
	t.Helper()
	f.agent = f.newAgent(t, agents.Config{Handover: agents.Handover{
		Enabled: true, Destinations: []agents.Destination{{Name: "sales", PhoneNumber: colleague}},
	}})
}

// requested is a callback whose session has asked for a person, with the transfer that waits for
// the agent to say so.
func (f *fixture) requested(t *testing.T) callbacks.Callback {
	t.Helper()
	f.handsOver(t)
	made := f.joined(t)
	f.asks(t, made)
	if err := f.calls.HandOver(t.Context(), f.ref.TenantID, made.SessionID); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Second)
	return made
}

// TestRequestTakenBack: a transfer that a session has asked for is not made when the session was
// given back to the agent, or taken over, before.
func TestRequestTakenBack(t *testing.T) {
	t.Parallel()
	for name, takeBack := range map[string]func(f *fixture, ctx context.Context, p workspaces.Principal, id sessions.ID) error{
		"released": func(f *fixture, ctx context.Context, p workspaces.Principal, id sessions.ID) error {
			_, err := handover.New(handover.Deps{Sessions: f.sessions}).Release(ctx, p, id, "")
			return err
		},
		"taken over": func(f *fixture, ctx context.Context, p workspaces.Principal, id sessions.ID) error {
			_, err := handover.New(handover.Deps{Sessions: f.sessions}).TakeOver(ctx, p, id, "Eve")
			return err
		},
		"still asked for": func(*fixture, context.Context, workspaces.Principal, sessions.ID) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.requested(t)
			p := workspaces.Principal{TenantID: f.ref.TenantID, WorkspaceID: f.ref.ID}
			if err := takeBack(f, t.Context(), p, made.SessionID); err != nil {
				t.Fatal(err)
			}
			f.clock.advance(21 * time.Second)
			f.sweep(t)
			want := 0
			if name == "still asked for" {
				want = 1
			}
			if len(f.line.bridges) != want {
				t.Errorf("transferred %d times, want %d", len(f.line.bridges), want)
			}
			if got := f.callOf(t, made).Transfer.Status; want == 0 && got != "" {
				t.Errorf("the transfer is %s", got)
			}
		})
	}
}

// TestRequestServedOnce: a request of a session is transferred once, also when its task is late and
// the transfer has failed before.
func TestRequestServedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.handsOver(t)
	made := f.joined(t)
	f.asks(t, made)
	f.clock.advance(time.Second)
	if err := f.calls.TransferNow(t.Context(), f.ref.TenantID, made.SessionID); err != nil { // the socket is faster than the task
		t.Fatal(err)
	}
	ended := make(chan struct{})
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw("SELECT id FROM sessions WHERE tenant_id = ? AND id = ? FOR UPDATE", f.ref.TenantID, made.SessionID).Exec(ctx)
		if err != nil {
			return err
		}
		go func() {
			defer close(ended)
			f.hook(t, made.ID, carrier.BridgeEnded, noAnswer)
		}()
		for f.callOf(t, made).Transfer.Status != telephony.TransferFailed && ctx.Err() == nil { // and the request is still there
		}
		return f.calls.HandOver(ctx, f.ref.TenantID, made.SessionID) // the task
	})
	<-ended
	if err != nil {
		t.Fatal(err)
	}
	f.clock.advance(21 * time.Second)
	f.sweep(t)
	if asked := f.sessionOf(t, made.ID).Handover.Status; len(f.line.bridges) != 1 || asked != "" {
		t.Errorf("transferred %d times, and the session's request is %q", len(f.line.bridges), asked)
	}
	f.asks(t, made)
	if err := f.calls.TransferNow(t.Context(), f.ref.TenantID, made.SessionID); err != nil || len(f.line.bridges) != 2 {
		t.Errorf("asked again: %v, transferred %d times", err, len(f.line.bridges))
	}
}

// TestLateWebhookOfTransfer: what a carrier says late of a transfer is not taken for the next
// one's.
func TestLateWebhookOfTransfer(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]struct {
		url  func(carrier.Bridge) string
		form map[string][]string
	}{
		"answered":  {func(b carrier.Bridge) string { return b.StatusURL }, map[string][]string{"bridge": {string(carrier.InProgress)}}},
		"no answer": {func(b carrier.Bridge) string { return b.EndedURL }, map[string][]string{"bridge": {string(carrier.NoAnswer)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.joined(t)
			f.transfer(t, made, colleague, agents.Cold)
			f.hook(t, made.ID, carrier.BridgeEnded, noAnswer)
			f.clock.advance(time.Second)
			f.transfer(t, made, another, agents.Cold)
			hook, known := telephony.ParsePath(late.url(f.line.bridges[0])[len("http://parlance.test"):])
			hook.Form = late.form
			if _, err := f.calls.Receive(t.Context(), hook); err != nil || !known {
				t.Fatal(known, err)
			}
			if got := f.callOf(t, made).Transfer; got.Status != telephony.TransferRinging || got.To != another {
				t.Errorf("the transfer to %s is %s (%s)", got.To, got.Status, got.Reason)
			}
			hook, _ = telephony.ParsePath(f.line.bridges[1].StatusURL[len("http://parlance.test"):])
			hook.Form = map[string][]string{"bridge": {string(carrier.InProgress)}}
			if _, err := f.calls.Receive(t.Context(), hook); err != nil {
				t.Fatal(err)
			}
			if got := f.callOf(t, made).Transfer; got.Status != telephony.TransferConnected {
				t.Errorf("the transfer to %s is %s (%s)", got.To, got.Status, got.Reason)
			}
		})
	}
}

// TestRequestByAnotherClock: a request of a session is transferred once also when the clock of the
// node that transfers it is behind the one that has noted it.
func TestRequestByAnotherClock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.handsOver(t)
	made := f.joined(t)
	f.asks(t, made)
	f.clock.advance(-200 * time.Millisecond)
	if err := f.calls.HandOver(t.Context(), f.ref.TenantID, made.SessionID); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(2 * time.Second)
	if err := f.calls.TransferNow(t.Context(), f.ref.TenantID, made.SessionID); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(30 * time.Second)
	f.hook(t, made.ID, carrier.BridgeEnded, noAnswer)
	f.clock.advance(5 * time.Second)
	if err := f.calls.TransferNow(t.Context(), f.ref.TenantID, made.SessionID); err != nil { // what the new media socket does
		t.Fatal(err)
	}
	if asked := f.sessionOf(t, made.ID).Handover.Status; len(f.line.bridges) != 1 || asked != "" {
		t.Errorf("transferred %d times, and the session's request is %q", len(f.line.bridges), asked)
	}
}

// TestOperatorTransfersAfterRequest: an operator who has taken the conversation over transfers the
// call, to whatever number the agent had asked for before.
func TestOperatorTransfersAfterRequest(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"the same number": colleague, "another": another} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.requested(t)
			p := workspaces.Principal{TenantID: f.ref.TenantID, WorkspaceID: f.ref.ID}
			if _, err := handover.New(handover.Deps{Sessions: f.sessions}).TakeOver(t.Context(), p, made.SessionID, "Eve"); err != nil {
				t.Fatal(err)
			}
			f.transfer(t, made, to, agents.Cold)
			if got := f.callOf(t, made).Transfer; got.Status != telephony.TransferRinging || got.To != to || len(f.line.bridges) != 1 {
				t.Errorf("the transfer to %s is %q, made %d times", got.To, got.Status, len(f.line.bridges))
			}
		})
	}
}

// TestCarrierTooBusyToTransfer: a carrier that is too busy leaves the caller with the agent, and
// soon another transfer can be made.
func TestCarrierTooBusyToTransfer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.line.onInstruct = func(context.Context) error { return fault.New(fault.UpstreamFailed, "It answered 429.") }
	_, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: colleague})
	wantReason(t, err, fault.UpstreamFailed)
	f.line.onInstruct = nil
	f.clock.advance(6 * time.Second)
	f.sweep(t)
	f.transfer(t, made, another, agents.Cold)
	if len(f.line.bridges) != 1 {
		t.Errorf("transferred %d times", len(f.line.bridges))
	}
}
