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

// What happens to a call comes from several sides, late or twice, and in any order.

// transfer has the call of a callback transferred.
func (f *fixture) transfer(t *testing.T, made callbacks.Callback, to, mode string) {
	t.Helper()
	p := telephony.TransferParams{To: to, Mode: mode, Summary: "a lamp"}
	if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, p); err != nil {
		t.Fatal(err)
	}
}

// joined is a callback that was answered, with its media socket.
func (f *fixture) joined(t *testing.T) callbacks.Callback {
	t.Helper()
	made := f.talking(t)
	f.line.statuses = map[carrier.CallID]carrier.Status{"1": carrier.InProgress}
	f.join(t, made)
	f.clock.advance(time.Second)
	return made
}

// callOf reads the call of a callback.
func (f *fixture) callOf(t *testing.T, made callbacks.Callback) telephony.Call {
	t.Helper()
	call, err := f.calls.Get(t.Context(), f.ref, made.CallID)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// sweep looks at the calls that are due.
func (f *fixture) sweep(t *testing.T) {
	t.Helper()
	if err := f.calls.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
}

var (
	answered = map[string]string{"bridge": string(carrier.InProgress)}
	noAnswer = map[string]string{"bridge": string(carrier.NoAnswer), "status": string(carrier.InProgress)}
)

// TestConnectedWhileLookedAt: two who are connected while Sweep looks at their call are not hung
// up.
func TestConnectedWhileLookedAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.transfer(t, made, colleague, agents.Cold)
	f.clock.advance(time.Minute)
	f.line.onChoose = func() error {
		f.hook(t, made.ID, carrier.BridgeChanged, answered)
		return nil
	}
	f.sweep(t)
	if got := f.callOf(t, made); got.Transfer.Status != telephony.TransferConnected || len(f.line.hungUp) != 0 {
		t.Errorf("the transfer is %s, hung up %v", got.Transfer.Status, f.line.hungUp)
	}
}

// TestHungUpInSummary: a caller whose person hangs up at the end of the summary comes back to an
// open session, also when Sweep looks at the call meanwhile.
func TestHungUpInSummary(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.transfer(t, made, colleague, agents.Warm)
	f.hook(t, made.ID, carrier.BridgeChanged, answered)
	f.hook(t, made.ID, carrier.Whispered, nil)
	f.clock.advance(5 * time.Second) // that they hung up is said late
	f.sweep(t)
	if got := f.callOf(t, made); got.Transfer.Status != telephony.TransferRinging {
		t.Fatalf("the transfer is %s", got.Transfer.Status)
	}
	f.clock.advance(time.Minute)
	f.line.onChoose = func() error {
		f.hook(t, made.ID, carrier.BridgeEnded, noAnswer)
		return nil
	}
	f.sweep(t)
	if session := f.sessionOf(t, made.ID); session.Closed() {
		t.Errorf("the session was closed: %s", session.EndReason)
	}
}

// TestPlacedOnce: a call whose placing got no answer is placed once, whoever looks for it when.
func TestPlacedOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		losesRequest bool
		meanwhile    func(t *testing.T, f *fixture, made callbacks.Callback)
	}{
		"webhook while it is looked for": {false, func(t *testing.T, f *fixture, made callbacks.Callback) {
			f.line.onFind = func() { f.status(t, made.ID, carrier.Ringing) }
		}},
		"two look for it": {true, func(t *testing.T, f *fixture, _ callbacks.Callback) {
			f.line.onChoose = func() error {
				f.clock.advance(31 * time.Second)
				f.sweep(t)
				return nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.line.losesRequest, f.line.losesAnswer = test.losesRequest, !test.losesRequest
			made := f.plan(t, "u", "now")
			f.work(t)
			f.line.losesRequest, f.line.losesAnswer = false, false
			f.clock.advance(41 * time.Second)
			test.meanwhile(t, f, made)
			f.sweep(t)
			if f.line.calls() != 1 {
				t.Errorf("placed %d times", f.line.calls())
			}
		})
	}
}

// TestPlacedTooLate: a call is not placed when somebody else may look at it before the carrier has
// answered.
func TestPlacedTooLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	placing := false
	f.line.onChoose = func() error { // for the number that it comes from
		f.line.onChoose = func() error { // for placing it
			placing = true
			f.clock.advance(30 * time.Second)
			return nil
		}
		return nil
	}
	f.work(t)
	if !placing || f.line.calls() != 0 {
		t.Fatalf("placed %d times", f.line.calls())
	}
	f.clock.advance(11 * time.Second)
	f.work(t)
	if f.want(t, made.ID, callbacks.Dialing, ""); f.line.calls() != 1 {
		t.Errorf("placed %d times", f.line.calls())
	}
}

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
	goesOn, err := f.calls.MediaEnded(t.Context(), telephony.MediaEndedParams{
		TenantID: f.ref.TenantID, SessionID: made.SessionID, OpenedAt: f.clock.now().Add(-time.Second),
	})
	if err != nil || !goesOn {
		t.Errorf("taken for a hang-up: %v", err)
	}
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
			f.handsOver(t)
			made := f.joined(t)
			f.asks(t, made)
			if err := f.calls.HandOver(t.Context(), f.ref.TenantID, made.SessionID); err != nil {
				t.Fatal(err)
			}
			f.clock.advance(time.Second)
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

// TestMessageBeforeEnd: the carrier is told to leave the message before the session ends, because a
// call whose media socket ends has nothing else to do. The end of the socket is no hang-up then.
func TestMessageBeforeEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, agents.Config{
		Callbacks: agents.Callbacks{Voicemail: agents.VoicemailLeaveMessage, VoicemailMessage: "Call us"},
	})
	made := f.joined(t)
	f.line.onInstruct = func(context.Context) error {
		if f.sessionOf(t, made.ID).Closed() {
			t.Error("the session is closed already")
		}
		goesOn, err := f.calls.MediaEnded(t.Context(), telephony.MediaEndedParams{
			TenantID: f.ref.TenantID, SessionID: made.SessionID, OpenedAt: noon,
		})
		if err != nil || !goesOn {
			t.Errorf("taken for a hang-up: %v", err)
		}
		return nil
	}
	f.hook(t, made.ID, carrier.MachineDetected, map[string]string{"machine": "1"})
	if got := f.sessionOf(t, made.ID); got.EndReason != telephony.EndVoicemailLeft {
		t.Errorf("the session ended because of %q", got.EndReason)
	}
}

// TestCarrierNotRead: a call goes on while it cannot be read who its carrier is, and ends when that
// was deleted.
func TestCarrierNotRead(t *testing.T) {
	t.Parallel()
	for reason, want := range map[fault.Reason]telephony.Status{
		fault.ServiceUnavailable: telephony.InProgress, fault.ProviderNotConfigured: telephony.Failed,
	} {
		f := newFixture(t)
		made := f.joined(t)
		f.clock.advance(time.Minute)
		f.line.onChoose = func() error { return fault.New(reason, "It cannot be read.") }
		if err := f.calls.Sweep(t.Context(), f.clock.now()); (err != nil) != (want == telephony.InProgress) {
			t.Errorf("%s: %v", reason, err)
		}
		if got := f.callOf(t, made); got.Status != want {
			t.Errorf("%s: the call is %s", reason, got.Status)
		}
	}
}
