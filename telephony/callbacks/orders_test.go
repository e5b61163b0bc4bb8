package callbacks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
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

// wantGoesOn has the media socket of a callback end, which must not be taken for a hang-up.
func (f *fixture) wantGoesOn(t *testing.T, made callbacks.Callback) {
	t.Helper()
	goesOn, err := f.calls.MediaEnded(t.Context(), telephony.MediaEndedParams{
		TenantID: f.ref.TenantID, SessionID: made.SessionID, OpenedAt: noon,
	})
	if err != nil || !goesOn {
		t.Errorf("taken for a hang-up: %v", err)
	}
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
		f.wantGoesOn(t, made)
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

// TestHungUpOnMachine: the session of a call that is hung up on a machine says so, also when the
// carrier ends the media socket first.
func TestHungUpOnMachine(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.line.onInstruct = func(context.Context) error {
		f.wantGoesOn(t, made)
		return nil
	}
	f.hook(t, made.ID, carrier.MachineDetected, map[string]string{"machine": "1"})
	if got := f.sessionOf(t, made.ID); got.EndReason != telephony.EndVoicemail {
		t.Errorf("the session ended because of %q", got.EndReason)
	}
}

// TestMessageRefused: a call whose message the carrier does not take has left none, and is tried
// again.
func TestMessageRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, agents.Config{
		Callbacks: agents.Callbacks{Voicemail: agents.VoicemailLeaveMessage, VoicemailMessage: "Call us"},
	})
	made := f.joined(t)
	f.line.onInstruct = func(context.Context) error { return &carrier.Refused{Code: "21220", Message: "no"} }
	f.hook(t, made.ID, carrier.MachineDetected, map[string]string{"machine": "1"})
	f.status(t, made.ID, carrier.Completed)
	f.want(t, made.ID, callbacks.Scheduled, "")
	if got := f.callOf(t, made).EndReason; got != telephony.EndVoicemail {
		t.Errorf("the call ended because of %q", got)
	}
}

// TestLongSummary: a session waits for its caller for as long as a summary is said.
func TestLongSummary(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	p := telephony.TransferParams{To: colleague, Mode: agents.Warm, Summary: strings.Repeat("The lamp is broken. ", 75)}
	if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, p); err != nil {
		t.Fatal(err)
	}
	err := f.sessions.Locked(t.Context(), f.ref.TenantID, made.SessionID, func(ctx context.Context, tx bun.Tx, s *sessions.Session) error {
		_, err := sessions.LeaveTx(ctx, tx, s, 0, f.clock.now()) // the carrier has ended the media socket
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.clock.advance(10 * time.Second)
	f.hook(t, made.ID, carrier.Whispered, nil)
	f.clock.advance(115 * time.Second)
	if err := f.sessions.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	f.hook(t, made.ID, carrier.BridgeEnded, noAnswer)
	if got := f.sessionOf(t, made.ID); got.Closed() {
		t.Errorf("the session was closed: %s", got.EndReason)
	}
}

// TestBackTooLate: a caller who comes back to a session that is over is told so, and not hung up on
// without a word.
func TestBackTooLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.transfer(t, made, colleague, agents.Cold)
	_, err := f.sessions.RequestEnd(t.Context(), f.sessionOf(t, made.ID), sessions.Completed, sessions.ReasonDisconnected)
	if err != nil {
		t.Fatal(err)
	}
	f.hook(t, made.ID, carrier.BridgeEnded, noAnswer)
	if told, speaks := f.line.rendered[len(f.line.rendered)-1].(carrier.Speak); !speaks || told.Text == "" {
		t.Errorf("the carrier is told %+v", f.line.rendered[len(f.line.rendered)-1])
	}
}

// TestCanceledAgain: a callback that is canceled while the carrier does not answer is canceled, and
// its call is hung up when the carrier does.
func TestCanceledAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.joined(t)
	f.line.onInstruct = func(context.Context) error { return fault.New(fault.UpstreamFailed, "It is down.") }
	for range 2 {
		got, err := f.Cancel(t.Context(), f.ref, made.ID, "")
		if err != nil || got.Status != callbacks.Canceled {
			t.Fatalf("it is %s, %v", got.Status, err)
		}
	}
	f.line.onInstruct = nil
	f.clock.advance(time.Second)
	f.sweep(t)
	if len(f.line.hungUp) != 1 {
		t.Errorf("hung up %v", f.line.hungUp)
	}
}
