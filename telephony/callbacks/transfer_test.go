package callbacks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// colleague and another are numbers that calls are transferred to.
const (
	colleague = "+12015550142"
	another   = "+12015550143"
)

// talking is a callback that was answered.
func (f *fixture) talking(t testing.TB) callbacks.Callback {
	t.Helper()
	made := f.plan(t, "u", "now")
	f.work(t)
	f.answer(t, made.ID)
	return f.get(t, made.ID)
}

// join has the media socket of a callback's session come.
func (f *fixture) join(t testing.TB, made callbacks.Callback) {
	t.Helper()
	now := f.clock.now()
	err := f.sessions.Locked(t.Context(), f.ref.TenantID, made.SessionID, func(ctx context.Context, tx bun.Tx, s *sessions.Session) error {
		if _, err := f.sessions.StartTx(ctx, tx, s, now, false); err != nil {
			return err
		}
		return sessions.UpsertConnection(ctx, tx, sessions.Connection{
			SessionID: s.ID, TenantID: s.TenantID, Channel: sessions.VoiceChannel, JoinedAt: now, SeenAt: now,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnsweredBy: who has answered is written down when the carrier knows it.
func TestAnsweredBy(t *testing.T) {
	t.Parallel()
	for by, form := range map[string]map[string]string{"": nil, telephony.Human: {"human": "1"}, telephony.Machine: {"machine": "1"}} {
		f := newFixture(t)
		made := f.talking(t)
		f.hook(t, made.ID, carrier.MachineDetected, form)
		if got := f.get(t, made.ID).Calls[0].AnsweredBy; got != by {
			t.Errorf("it was answered by %q, want %q", got, by)
		}
	}
}

// TestTransfersAtOnce: of two requests for different numbers one is made, and the other is told of
// it.
func TestTransfersAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	call := f.talking(t).CallID
	var both sync.WaitGroup
	outcomes := make(chan error, 2) // of each request
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw("SELECT id FROM phone_calls WHERE tenant_id = ? AND id = ? FOR UPDATE", f.ref.TenantID, call).Exec(ctx)
		if err != nil {
			return err
		}
		for _, to := range []string{colleague, another} {
			both.Go(func() {
				_, err := f.calls.Transfer(t.Context(), f.ref, call, telephony.TransferParams{To: to})
				outcomes <- err
			})
		}
		return f.awaitLocks(ctx, cap(outcomes)) // both have read the call, and wait for its row
	})
	both.Wait()
	if err != nil {
		t.Fatal(err)
	}
	first, second := <-outcomes, <-outcomes
	if first == nil {
		first, second = second, first
	}
	wantReason(t, first, fault.Conflict)
	got, err := f.calls.Get(t.Context(), f.ref, call)
	if second != nil || err != nil || len(f.line.bridges) != 1 || f.line.bridges[0].To != got.Transfer.To {
		t.Errorf("%v, %v, the carrier was asked for %+v of %+v", second, err, f.line.bridges, got.Transfer)
	}
	_, err = f.calls.Transfer(t.Context(), f.ref, call, telephony.TransferParams{To: got.Transfer.To})
	if err != nil || len(f.line.bridges) != 1 {
		t.Errorf("the same again: %v, %d transfers", err, len(f.line.bridges))
	}
}

// TestMediaEndedByTransfer: the end of a media socket is known to be a transfer's, even when it is
// handled after the person was busy or has answered. The end of the socket with which the caller
// has come back is a hang-up, and so is one of a call that is over.
func TestMediaEndedByTransfer(t *testing.T) {
	t.Parallel()
	type bridge = map[string]string
	busy := bridge{"bridge": string(carrier.Busy), "status": string(carrier.InProgress)}
	for name, test := range map[string]struct {
		bridge      bridge // how it ended, if it has
		comesBack   bool   // the socket is the one with which the caller came back
		isOver      bool
		transferred bool
	}{
		"rings":       {transferred: true},
		"busy":        {bridge: busy, transferred: true},
		"answered":    {bridge: bridge{"bridge": string(carrier.Completed)}, transferred: true},
		"came back":   {bridge: busy, comesBack: true},
		"hung up too": {bridge: busy, isOver: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.talking(t)
			f.join(t, made)
			openedAt := f.clock.now()
			f.clock.advance(time.Second)
			if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: colleague}); err != nil {
				t.Fatal(err)
			}
			f.clock.advance(time.Second)
			if test.bridge != nil {
				f.hook(t, made.ID, carrier.BridgeEnded, test.bridge)
			}
			if test.comesBack {
				openedAt = f.clock.now()
			}
			if test.isOver {
				f.status(t, made.ID, carrier.Completed)
			}
			transferred, err := f.calls.MediaEnded(t.Context(), telephony.MediaEndedParams{
				TenantID: f.ref.TenantID, SessionID: made.SessionID, OpenedAt: openedAt,
			})
			if err != nil || transferred != test.transferred {
				t.Errorf("transferred is %t, %v", transferred, err)
			}
		})
	}
}

// TestComesBack: a caller comes back to the session that they have, whatever would refuse another
// one.
func TestComesBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config agents.Config
		change func(t *testing.T, f *fixture)
	}{
		"SessionsUsedUp": {
			config: agents.Config{Fatigue: []agents.FatigueWindow{{Window: "1h", MaxSessions: 1, Action: agents.FatigueRefuse}}},
			change: func(*testing.T, *fixture) {},
		},
		"AgentDeleted": {change: func(t *testing.T, f *fixture) {
			if err := f.agents.Delete(t.Context(), f.ref, f.agent.ID); err != nil {
				t.Fatal(err)
			}
			// The webhook reaches a process that never had the agent in its cache.
			f.agents = agents.New(agents.Deps{DB: f.db, Workspaces: f.workspaces, Now: f.clock.now})
			f.start()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.agent = f.newAgent(t, test.config)
			made := f.talking(t)
			f.join(t, made)
			if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: colleague}); err != nil {
				t.Fatal(err)
			}
			test.change(t, f)
			f.hook(t, made.ID, carrier.BridgeEnded, map[string]string{"bridge": string(carrier.Busy), "status": string(carrier.InProgress)})
			connect, connects := f.line.rendered[len(f.line.rendered)-1].(carrier.Connect)
			if !connects || connect.Parameters["session_id"] != string(made.SessionID) {
				t.Fatalf("the carrier is told %#v", f.line.rendered)
			}
			if _, err := f.sessions.Verify(t.Context(), connect.Parameters["token"], made.SessionID); err != nil {
				t.Errorf("the token is refused: %v", err)
			}
		})
	}
}

// TestTransferOver: a call that was transferred and has ended is not in progress, like any other.
func TestTransferOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.talking(t)
	if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: colleague}); err != nil {
		t.Fatal(err)
	}
	f.hook(t, made.ID, carrier.BridgeEnded, map[string]string{"bridge": string(carrier.Completed)})
	_, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: another})
	wantReason(t, err, fault.Conflict)
	f.status(t, made.ID, carrier.Completed)
	for _, to := range []string{colleague, another} {
		_, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: to})
		wantReason(t, err, fault.CallNotInProgress)
	}
}

// TestWhisper: the summary is said in the agent's language.
func TestWhisper(t *testing.T) {
	t.Parallel()
	for summary, want := range map[string]carrier.Speak{
		"Es geht um die Lampe.": {Text: "Es geht um die Lampe.", Language: "de", Whisper: true},
		"":                      {Text: "You have a call.", Language: "en-US", Whisper: true},
	} {
		f := newFixture(t)
		f.agent = f.newAgent(t, agents.Config{Language: "de"})
		made := f.talking(t)
		p := telephony.TransferParams{To: colleague, Mode: agents.Warm, Summary: summary}
		if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, p); err != nil {
			t.Fatal(err)
		}
		f.hook(t, made.ID, carrier.Whispered, nil)
		if diff := cmp.Diff(carrier.Instruction(want), f.line.rendered[len(f.line.rendered)-1]); diff != "" {
			t.Errorf("it says (-want +got)\n%s", diff)
		}
	}
}

// TestTransferEnds: a call that ends while the person's phone rings says who has ended it.
func TestTransferEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// end ends the call, and returns how often the carrier is told to.
		end          func(t *testing.T, f *fixture, made callbacks.Callback) (hungUp int)
		call, bridge string
	}{
		"CallerHangsUp": {func(*testing.T, *fixture, callbacks.Callback) int { return 0 }, telephony.EndPersonHungUp, "hung_up"},
		"SessionEnded": {func(t *testing.T, f *fixture, made callbacks.Callback) int {
			_, err := f.sessions.End(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID}, made.SessionID,
				sessions.EndParams{Status: sessions.Completed})
			if err != nil {
				t.Fatal(err)
			}
			f.work(t)
			return 1
		}, telephony.EndAgentHungUp, "canceled"},
		"CallHungUp": {func(t *testing.T, f *fixture, made callbacks.Callback) int {
			if _, err := f.calls.HangUp(t.Context(), f.ref, made.CallID); err != nil {
				t.Fatal(err)
			}
			return 1
		}, telephony.EndCanceled, "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.line.statuses = map[carrier.CallID]carrier.Status{"1": carrier.InProgress}
			made := f.talking(t)
			f.join(t, made)
			if _, err := f.calls.Transfer(t.Context(), f.ref, made.CallID, telephony.TransferParams{To: colleague}); err != nil {
				t.Fatal(err)
			}
			f.clock.advance(time.Second)
			hungUp := test.end(t, f, made)
			if len(f.line.hungUp) != hungUp {
				t.Fatalf("hung up %v", f.line.hungUp)
			}
			f.hook(t, made.ID, carrier.BridgeEnded, map[string]string{"bridge": string(carrier.Canceled), "status": string(carrier.Completed)})
			f.status(t, made.ID, carrier.Completed)
			got, err := f.calls.Get(t.Context(), f.ref, made.CallID)
			if err != nil || got.EndReason != test.call || got.Transfer.Status != telephony.TransferFailed || got.Transfer.Reason != test.bridge {
				t.Errorf("the call ended because of %s, its transfer is %s (%s), %v", got.EndReason, got.Transfer.Status, got.Transfer.Reason, err)
			}
		})
	}
}
