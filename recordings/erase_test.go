package recordings_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// recorded makes a session that has ended, with a recording of a second.
func (f *fixture) recorded(t *testing.T, agent agents.ID) sessions.Session {
	t.Helper()
	session := f.session(t, agent, sessions.Voice)
	r := f.record(t, session)
	r.User(0, noise(1000))
	r.Mark(recordings.Mark{ItemID: "item", ToMS: 100})
	closed(t, r)
	return f.end(t, session)
}

func (f *fixture) sweep(t *testing.T) {
	t.Helper()
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
}

// erase erases recordings, of which there are so many.
func (f *fixture) erase(t *testing.T, want int, ids ...sessions.ID) {
	t.Helper()
	if got, err := f.Erase(t.Context(), f.ref, ids); err != nil || got != want {
		t.Errorf("erased %d, want %d: %v", got, want, err)
	}
}

// TestErase: the recordings of the sessions go, with files and rows; others stay.
func TestErase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	gone, stays := f.recorded(t, f.agent.ID), f.recorded(t, f.agent.ID)
	stranger := workspaces.Ref{TenantID: f.tenant(t).TenantID, ID: f.ref.ID}
	if got, err := f.Erase(t.Context(), stranger, []sessions.ID{gone.ID}); err != nil || got != 0 {
		t.Errorf("another tenant erased %d: %v", got, err)
	}
	f.erase(t, 1, gone.ID)
	f.erase(t, 0, gone.ID)
	if view := f.view(t, gone); view.Status != recordings.Erased || view.SizeBytes() != 0 || len(view.Parts) != 0 || view.CreatedAt.IsZero() {
		t.Errorf("afterwards: %+v", view)
	}
	if _, err := f.Open(t.Context(), gone); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("Open: %v", err)
	}
	if has, err := f.HasAudio(t.Context(), f.db, gone); has || err != nil {
		t.Errorf("HasAudio: %v %v", has, err)
	}
	if has, err := f.HasAudio(t.Context(), f.db, stays); !has || err != nil {
		t.Errorf("HasAudio of the other: %v %v", has, err)
	}
	f.file(t, stays)
	if f.files(t) != 1 || f.rows(t) != 1 {
		t.Errorf("%d files and %d rows are left", f.files(t), f.rows(t))
	}
}

// TestEraseUnderWay: a recording that goes on stops, and what its server is storing just then does
// not stay.
func TestEraseUnderWay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.session(t, f.agent.ID, sessions.Voice)
	r := f.record(t, session)
	release := f.bucket.hold()
	defer release()
	r.User(0, noise(30_000))
	await(t, "a segment that is being stored", func() bool { return f.bucket.puts() == 1 })
	f.erase(t, 1, session.ID)
	release()
	closed(t, r) // an erased recording is no error
	r.User(30_000, noise(1000))
	f.clock.advance(11 * time.Minute)
	f.sweep(t)
	if f.files(t) != 0 || f.rows(t) != 0 {
		t.Errorf("%d files and %d rows are left", f.files(t), f.rows(t))
	}
}

// TestEraseAgain: files that the bucket did not delete are deleted later.
func TestEraseAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.recorded(t, f.agent.ID)
	f.bucket.deleteFailures = 1
	if _, err := f.Erase(t.Context(), f.ref, []sessions.ID{session.ID}); err == nil || f.files(t) != 1 {
		t.Fatalf("the bucket did not fail: %v", err)
	}
	f.sweep(t)
	if f.files(t) != 0 || f.rows(t) != 0 {
		t.Errorf("%d files and %d rows are left", f.files(t), f.rows(t))
	}
}

// TestDeadServer: the file that a server was storing when it died does not stay.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session := f.recorded(t, f.agent.ID)
	// As it was between the file and its confirmation.
	_, err := f.db.NewRaw("UPDATE recording_segments SET due_at = ? WHERE tenant_id = ?",
		f.clock.now().Add(10*time.Minute), f.ref.TenantID).Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.sweep(t)
	if f.files(t) != 1 {
		t.Error("it was deleted although its server may confirm it")
	}
	f.clock.advance(11 * time.Minute)
	f.sweep(t)
	if _, err := f.Open(t.Context(), session); !fault.IsReason(err, fault.ResourceNotFound) || f.files(t) != 0 || f.rows(t) != 0 {
		t.Errorf("%d files, %d rows: %v", f.files(t), f.rows(t), err)
	}
}

// TestDeletedWorkspace: the files of a workspace go with it.
func TestDeletedWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.recorded(t, f.agent.ID)
	if err := f.workspaces.DeleteWorkspace(t.Context(), f.principal(), string(f.ref.ID)); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Minute)
	f.sweep(t)
	if f.files(t) != 0 || f.rows(t) != 0 {
		t.Errorf("%d files and %d rows are left", f.files(t), f.rows(t))
	}
}

// TestRetention: recordings are deleted as their agents, workspaces and plans say, and the sessions
// stay.
func TestRetention(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	voice := agents.Voice{Recording: agents.Recording{Enabled: true}}
	keeps := func(days int) agents.ID {
		return f.newAgent(t, agents.Config{
			Voice: voice, Privacy: agents.Privacy{Retention: workspaces.Retention{AudioDays: days}},
		}).ID
	}
	week, month, plain := f.recorded(t, keeps(7)), f.recorded(t, keeps(30)), f.recorded(t, f.agent.ID)
	gone := f.newAgent(t, agents.Config{Voice: voice})
	orphan := f.recorded(t, gone.ID)
	if err := f.agents.Delete(t.Context(), f.ref, gone.ID); err != nil {
		t.Fatal(err)
	}
	open := f.session(t, week.AgentID, sessions.Voice)
	r := f.record(t, open)
	r.User(0, noise(1000))
	closed(t, r)
	names := map[string]sessions.Session{"week": week, "month": month, "plain": plain, "orphan": orphan, "open": open}
	left := func(what string, want ...string) {
		t.Helper()
		f.sweep(t)
		got := map[string]bool{}
		for name, session := range names {
			if f.view(t, session).Status != recordings.Erased {
				f.file(t, session)
				got[name] = true
			}
		}
		expected := map[string]bool{}
		for _, name := range want {
			expected[name] = true
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	f.clock.advance(6 * 24 * time.Hour)
	left("after 6 days", "week", "month", "plain", "orphan", "open")
	f.clock.advance(2 * 24 * time.Hour)
	left("after 8 days", "month", "plain", "orphan", "open")
	if _, err := f.workspaces.UpdateWorkspace(t.Context(), f.ref, workspaces.WorkspaceChange{
		Retention: &workspaces.Retention{AudioDays: 8},
	}); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(24 * time.Hour)
	left("the workspace keeps for 8 days", "month", "open")
	_, err := f.workspaces.PutPlan(t.Context(), "pro", []byte(`{"kb_storage_bytes":1000,"kb_upload_bytes":1000,"audio_days":5}`))
	if err != nil {
		t.Fatal(err)
	}
	left("the plan keeps for 5 days", "open")
	if files := f.files(t); files != 1 {
		t.Errorf("%d files are left", files)
	}
}
