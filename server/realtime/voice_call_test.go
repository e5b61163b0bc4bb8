package realtime_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/server/realtime/mediastream"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

// noStack neither hears nor speaks.
func noStack(context.Context, workspaces.Ref, agents.Voice, string) (voice.Stack, error) {
	return voice.Stack{}, nil
}

// begin begins a call of a new session of an agent.
func (f *fixture) begin(t *testing.T, calls *voice.Service, of workspaces.Principal, agent agents.ID, known voice.Configure) *voice.Call {
	t.Helper()
	made, err := f.Create(t.Context(), of, sessions.CreateParams{AgentID: agent, UserID: "user-1", Modality: sessions.Voice})
	if err != nil {
		t.Fatal(err)
	}
	admission, err := f.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: sessions.VoiceChannel})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := f.Join(t.Context(), admission)
	if err != nil {
		t.Fatal(err)
	}
	c := calls.StartWith(t.Context(), joined, known)
	t.Cleanup(func() {
		c.Leave(live.HungUp)
		c.LeaveHandover(nil)
	})
	return c
}

// newCalls are calls that neither hear nor speak.
func (f *fixture) newCalls(t *testing.T, meter voice.MeterFunc) *voice.Service {
	t.Helper()
	calls := voice.New(voice.Deps{StackFunc: noStack, Now: f.now, MeterFunc: meter})
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := calls.Close(closing); err != nil {
			t.Error(err)
		}
	})
	return calls
}

// TestUsageOfADeletedTenant: usage that can never be counted does not keep other usage from being
// counted.
func TestUsageOfADeletedTenant(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	refused := make(chan error, 1)
	calls := f.newCalls(t, func(ctx context.Context, place usage.Place, records ...usage.Record) error {
		err := usage.Add(ctx, f.db, place, records...)
		if err != nil {
			select {
			case refused <- err:
			default: // it was tried before
			}
		}
		return err
	})
	counted := func(of workspaces.TenantID) func() bool {
		return func() bool {
			n, err := f.db.NewSelect().Table("usage_records").Where("tenant_id = ?", of).Where("meter = 'voice_minutes'").Count(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n > 0
		}
	}
	gone, err := f.owners.CreateTenant(t.Context(), "Gone", "pro")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := f.agents.Create(t.Context(), workspaces.Ref{TenantID: gone.Tenant.ID, ID: gone.Workspace.ID}, "Ada", agents.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f.stopClock()
	f.begin(t, calls, workspaces.Principal{TenantID: gone.Tenant.ID, Scope: workspaces.ScopeAdmin}, agent.ID, voice.Configure{})
	await(t, "its first minute is counted", counted(gone.Tenant.ID))
	if _, err := f.db.ExecContext(t.Context(), "DELETE FROM tenants WHERE id = ?", gone.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	f.advance(time.Minute) // its second one begins before its call is ended
	<-refused
	f.begin(t, calls, f.principal, f.agent.ID, voice.Configure{})
	await(t, "another tenant's minute is counted", counted(f.ref.TenantID))
}

// TestPress: the agent presses keys, whose tones an interruption does not stop.
func TestPress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	c := f.begin(t, f.newCalls(t, nil), f.principal, f.agent.ID, voice.Configure{Output: mediastream.Format})
	woken := make(chan struct{}, 1)
	c.OnWake(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	for _, command := range []live.Command{voice.Press{Digits: "1w2"}, voice.Press{Digits: "no keys"}, voice.ClearOutput{}} {
		if err := c.Do(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
	var want, got []byte
	want = mediastream.Format.AppendEncode(nil, audio.AppendKeyTones(nil, "1w2", 8000))
	for len(got) < len(want) {
		var e turns.Event
		is := false
		for e, is = c.Poll(); !is; e, is = c.Poll() {
			<-woken
		}
		if sound, heard := e.(voice.Audio); heard && sound.ItemID == "" {
			got = append(got, sound.Data...)
		}
	}
	if !slices.Equal(got, want) {
		t.Error("the tones are others")
	}
}
