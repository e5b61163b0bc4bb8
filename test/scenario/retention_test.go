package scenario

import (
	"bytes"
	"testing"
	"time"

	"parlance.dev/parlance/test/harness"
)

// TestRetention: sessions that have ended longer ago than is kept are deleted with everything of
// them, also those that were there before; others stay.
func TestRetention(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const words = "marmalade-retention-48213"
	agent := func() string {
		return env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	}
	short, plain, gone := agent(), agent(), agent()
	session := func(agent string, age string) string {
		id := env.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u", "modality": "text"}).Must(t, 201).Text("id")
		env.Do(t, "POST", "/v1/sessions/"+id+"/turns", map[string]any{"text": words + " " + id}).Must(t, 200)
		if age != "" {
			env.Do(t, "POST", "/v1/sessions/"+id+"/end", `{"status":"completed"}`).Must(t, 200)
			env.Exec(t, "UPDATE sessions SET ended_at = now() - $2::interval WHERE id = $1", id, age)
		}
		return id
	}
	sweep := func() {
		t.Helper()
		if err := env.App.Privacy.SweepRetention(t.Context(), harness.Rows[time.Time](t, env, "SELECT now()")[0]); err != nil {
			t.Error(err)
		}
	}
	wants := func(what string, status int, ids ...string) {
		t.Helper()
		for _, id := range ids {
			if got := env.Do(t, "GET", "/v1/sessions/"+id, nil).Status; got != status {
				t.Errorf("%s: %s answers %d, want %d", what, id, got, status)
			}
			if there := bytes.Contains(dumpDatabase(t, env), []byte(words+" "+id)); there != (status == 200) {
				t.Errorf("%s: words of %s are in the database: %v", what, id, there)
			}
		}
	}
	open, old, older := session(short, ""), session(short, "8 days"), session(plain, "91 days")
	young, recent, orphan := session(short, "6 days 23 hours"), session(plain, "89 days"), session(gone, "91 days")
	env.Do(t, "DELETE", env.Tenant.In("/agents/"+gone), nil).Must(t, 204)
	sweep()
	wants("kept for ever", 200, open, old, older, young, recent, orphan)
	env.Do(t, "PATCH", env.Tenant.In("/agents/"+short), `{"privacy":{"retention":{"transcript_days":7}}}`).Must(t, 200)
	sweep()
	wants("kept by the agent", 404, old)
	wants("not the agent's, or not old", 200, open, older, young, recent, orphan)
	workspace := "/v1/workspaces/" + env.Tenant.WorkspaceID
	changed := env.Do(t, "PATCH", workspace, `{"retention":{"transcript_days":90}}`, harness.Key(env.Tenant.Admin)).Must(t, 200)
	if got := changed.At("retention", "transcript_days"); got != 90.0 {
		t.Errorf("the workspace keeps for %v", got)
	}
	sweep()
	wants("kept by the workspace", 404, older, orphan)
	wants("young enough", 200, open, young, recent)
	env.Do(t, "PATCH", env.Tenant.In("/agents/"+plain), `{"privacy":{"retention":{"transcript_days":3650}}}`).Must(t, 200)
	env.Do(t, "PATCH", workspace, `{"retention":{"transcript_days":1}}`, harness.Key(env.Tenant.Admin)).Must(t, 200)
	sweep()
	wants("the agent's longer time", 200, open, young, recent)
	audio := env.Do(t, "PATCH", workspace, `{"retention":{"audio_days":30}}`, harness.Key(env.Tenant.Admin)).Must(t, 200)
	if audio.At("retention", "audio_days") != 30.0 || audio.At("retention", "transcript_days") != 1.0 {
		t.Errorf("audio_days: %s", audio.Body)
	}
	own := env.Do(t, "PATCH", env.Tenant.In("/agents/"+plain), `{"privacy":{"retention":{"audio_days":7}}}`).Must(t, 200)
	if own.At("privacy", "retention", "audio_days") != 7.0 || own.At("privacy", "retention", "transcript_days") != 3650.0 {
		t.Errorf("audio_days of the agent: %s", own.Body)
	}
	if _, err := env.App.Workspaces.PutPlan(t.Context(), "enterprise",
		[]byte(`{"kb_storage_bytes":1000,"kb_upload_bytes":1000,"transcript_days":60}`)); err != nil {
		t.Fatal(err)
	}
	sweep()
	wants("kept by the plan", 404, recent)
	wants("younger", 200, open, young)
	env.Exec(t, "UPDATE tenants SET plan_since = now()") // after the sessions were made
	older = session(plain, "61 days")
	env.Exec(t, "UPDATE sessions SET created_at = now() - interval '62 days' WHERE id = $1", older)
	sweep()
	wants("made before the tenant had the plan", 200, older)
	env.Do(t, "PATCH", workspace, `{"retention":{"transcript_days":3651}}`, harness.Key(env.Tenant.Admin)).Must(t, 400)
	env.Do(t, "PATCH", workspace, `{"retention":null}`, harness.Key(env.Tenant.Admin)).Must(t, 200)
}
