package scenario

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestDraftIsPublished: a draft is saved, compared and published as the agent's next version; until
// then the agent stays as it is.
func TestDraftIsPublished(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	agent := e.Tenant.In("/agents/" + e.agent)
	draft := agent + "/draft"
	if none := e.Do(t, "GET", draft, nil).Must(t, 200); none.At("revision") != 0.0 || none.At("stale") != false ||
		none.Text("agent", "id") != e.agent {
		t.Errorf("without a draft: %s", none.Body)
	}
	for _, call := range [][2]string{{"GET", "/compare"}, {"POST", "/publish"}, {"DELETE", ""}} {
		checkProblem(t, e.Do(t, call[0], draft+call[1], nil), 404, "agent-draft-not-found")
	}
	checkProblem(t, e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"},"revision":1}`), 409, "agent-draft-changed")
	before := e.Do(t, "GET", agent, nil).Must(t, 200)
	saved := e.Do(t, "PUT", draft,
		`{"agent":{"name":"Ada","first_message":"Servus.","widget":{"allowed_origins":["https://Example.org:443"]}}}`).Must(t, 200)
	if saved.At("revision") != 1.0 || saved.At("stale") != false || saved.Text("updated_by") == "" || saved.Text("agent_id") != e.agent ||
		saved.Text("agent", "id") != e.agent || saved.At("agent", "version") != before.At("version") ||
		saved.At("agent", "widget", "allowed_origins", 0) != "https://example.org" || saved.At("agent", "max_duration_seconds") != 3600.0 {
		t.Errorf("saved %s", saved.Body)
	}
	again := e.Do(t, "PUT", draft, `{"agent":{"name":"Ada","first_message":"Grüezi."},"revision":1}`).Must(t, 200)
	if again.At("revision") != 2.0 || again.Text("created_at") != saved.Text("created_at") {
		t.Errorf("saved again: %s", again.Body)
	}
	checkProblem(t, e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"},"revision":1}`), 409, "agent-draft-changed")
	checkProblem(t, e.Do(t, "POST", draft+"/publish", `{"revision":1}`), 409, "agent-draft-changed")
	if now := e.Do(t, "GET", agent, nil).Must(t, 200); string(now.Body) != string(before.Body) {
		t.Errorf("saving a draft has changed the agent: %s", now.Body)
	}
	if got := e.Do(t, "GET", draft, nil).Must(t, 200); got.Text("agent", "first_message") != "Grüezi." {
		t.Errorf("read %s", got.Body)
	}
	shown := map[string]any{}
	if err := json.Unmarshal(before.Body, &shown); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "workspace_id", "version", "created_at", "updated_at"} {
		delete(shown, name)
	}
	e.Do(t, "PUT", draft, map[string]any{"agent": shown}).Must(t, 200)
	if changes := e.Do(t, "GET", draft+"/compare", nil).Must(t, 200); len(changes.List("changes")) > 0 {
		t.Errorf("the agent as it is shown differs from itself: %s", changes.Body)
	}
	e.Do(t, "PUT", draft, `{"agent":{"name":"Ada","first_message":"Grüezi."}}`).Must(t, 200)
	var paths []string
	for _, change := range e.Do(t, "GET", draft+"/compare", nil).Must(t, 200).List("changes") {
		paths = append(paths, harness.Path(change, "path").(string))
	}
	if !slices.Contains(paths, "first_message") {
		t.Errorf("differs in %v", paths)
	}
	published := e.Do(t, "POST", draft+"/publish", `{"revision":4}`).Must(t, 200)
	if published.Text("first_message") != "Grüezi." || published.At("version") != before.At("version").(float64)+1 {
		t.Errorf("published %s", published.Body)
	}
	if now := e.Do(t, "GET", agent, nil).Must(t, 200); string(now.Body) != string(published.Body) {
		t.Errorf("the agent is %s", now.Body)
	}
	if versions := e.Do(t, "GET", agent+"/versions", nil).Must(t, 200); versions.At("versions", 0, "version") != published.At("version") {
		t.Errorf("versions %s", versions.Body)
	}
	if none := e.Do(t, "GET", draft, nil).Must(t, 200); none.At("revision") != 0.0 || none.Text("agent", "first_message") != "Grüezi." {
		t.Errorf("after the publication: %s", none.Body)
	}
}

// TestDraftsOfTwoPeople: whoever has seen an earlier draft, or none, neither overwrites nor
// publishes the one there is.
func TestDraftsOfTwoPeople(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	agent := e.Tenant.In("/agents/" + e.agent)
	draft := agent + "/draft"
	for _, gone := range [][2]string{{"POST", "/publish"}, {"DELETE", ""}} {
		anna := e.Do(t, "PUT", draft, `{"agent":{"name":"Anna's"},"revision":0}`).Must(t, 200).At("revision").(float64)
		checkProblem(t, e.Do(t, "PUT", draft, `{"agent":{"name":"Ben's"},"revision":0}`), 409, "agent-draft-changed")
		e.Do(t, gone[0], draft+gone[1], nil)
		ben := e.Do(t, "PUT", draft, `{"agent":{"name":"Ben's"},"revision":0}`).Must(t, 200)
		if ben.At("revision") != anna+1 {
			t.Errorf("after %v another draft begins at revision %v, and that one was at %v", gone, ben.At("revision"), anna)
		}
		seen := map[string]any{"revision": anna}
		checkProblem(t, e.Do(t, "POST", draft+"/publish", seen), 409, "agent-draft-changed")
		seen["agent"] = map[string]any{"name": "Anna's"}
		checkProblem(t, e.Do(t, "PUT", draft, seen), 409, "agent-draft-changed")
		if got := e.Do(t, "GET", draft, nil).Must(t, 200); got.Text("agent", "name") != "Ben's" {
			t.Errorf("after %v the draft is %s", gone, got.Body)
		}
		e.Do(t, "DELETE", draft, nil).Must(t, 204)
	}
	checkProblem(t, e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"},"base_version":9}`), 400, "invalid-request")
	e.Do(t, "PATCH", agent, `{"first_message":"Hello."}`).Must(t, 200)
	late := e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"},"revision":0,"base_version":1}`).Must(t, 200)
	if late.At("stale") != true || late.At("agent", "version") != 1.0 {
		t.Errorf("a draft of an agent as it no longer is: %s", late.Body)
	}
	checkProblem(t, e.Do(t, "POST", draft+"/publish", nil), 409, "agent-draft-stale")
}

// TestStaleDraft: a draft that was begun before the agent's newest version is published only when
// that is asked for.
func TestStaleDraft(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	agent := e.Tenant.In("/agents/" + e.agent)
	draft := agent + "/draft"
	e.Do(t, "PUT", draft, `{"agent":{"name":"Ada","language":"de"}}`).Must(t, 200)
	e.Do(t, "PATCH", agent, `{"first_message":"Hello."}`).Must(t, 200)
	if got := e.Do(t, "PUT", draft, `{"agent":{"name":"Ada","language":"fr"}}`).Must(t, 200); got.At("stale") != true {
		t.Errorf("saving has hidden that the agent was changed: %s", got.Body)
	}
	checkProblem(t, e.Do(t, "POST", draft+"/publish", `{}`), 409, "agent-draft-stale")
	if got := e.Do(t, "GET", draft, nil).Must(t, 200); got.At("stale") != true || got.At("revision") != 2.0 {
		t.Errorf("after the refusal: %s", got.Body)
	}
	got := e.Do(t, "POST", draft+"/publish", `{"overwrite":true}`).Must(t, 200)
	if got.Text("language") != "fr" || got.Text("first_message") != "" || got.At("version") != 3.0 {
		t.Errorf("published %s", got.Body)
	}
	e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"}}`).Must(t, 200)
	e.Do(t, "DELETE", draft, nil).Must(t, 204)
	checkProblem(t, e.Do(t, "DELETE", draft, nil), 404, "agent-draft-not-found")
	e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"}}`).Must(t, 200)
	e.Do(t, "DELETE", agent, nil).Must(t, 204)
	checkProblem(t, e.Do(t, "GET", draft, nil), 404, "not-found")
	checkProblem(t, e.Do(t, "PUT", draft, `{"agent":{"name":"Ada"}}`), 404, "not-found")
	if left := harness.Rows[int](t, e.Env, "SELECT count(*)::int FROM agent_drafts")[0]; left != 0 {
		t.Errorf("%d drafts are left of a deleted agent", left)
	}
}

// TestDraftIsChecked: a draft that could not be an agent is refused as the agent would be.
func TestDraftIsChecked(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	for body, field := range map[string]string{
		`{"first_message":"Hello."}`:                                                   "agent.name",
		`{"name":"Ada","language":"German"}`:                                           "",
		`{"name":"Ada","language":"not a language"}`:                                   "agent.language",
		`{"name":"Ada","tools_config":{"disabled_tools":["fly"]}}`:                     "agent.tools_config.disabled_tools[0]",
		`{"name":"Ada","guards":[{"name":"x","patterns":["("]}]}`:                      "agent.guards[0]",
		`{"name":"Ada","widget":{"allowed_origins":["example.org"]}}`:                  "agent.widget.allowed_origins[0]",
		`{"name":"Ada","analysis":{"enabled":true},"privacy":{"zero_retention":true}}`: "agent.analysis.enabled",
	} {
		got := e.Do(t, "PUT", e.Tenant.In("/agents/"+e.agent+"/draft"), `{"agent":`+body+`}`)
		switch {
		case field == "":
			got.Must(t, 200)
		case got.Status != 400 || len(got.Problem.Fields()) == 0 || !strings.HasPrefix(got.Problem.Fields()[0], field):
			t.Errorf("%s: %d %s, want the field %s", body, got.Status, got.Body, field)
		}
	}
	checkProblem(t, e.Do(t, "PUT", e.Tenant.In("/agents/"+e.agent+"/draft"), `{}`), 400, "invalid-request")
}

// TestSessionOfDraft: a session takes the settings of the draft when that is asked for, keeps them,
// and says so.
func TestSessionOfDraft(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	draft := e.Tenant.In("/agents/" + e.agent + "/draft")
	body := `{"agent_id":"` + e.agent + `","user_id":"u","modality":"text","draft":true}`
	checkProblem(t, e.Do(t, "POST", "/v1/sessions", body), 404, "agent-draft-not-found")
	guarded := func(phrase string) {
		guard := `{"name":"zone","phrases":["` + phrase + `"],"action":"block","reply":"No word of it."}`
		e.Do(t, "PUT", draft, `{"agent":{"name":"Ada","guards":[`+guard+`]}}`).Must(t, 200)
	}
	talk := func(text string) (said string, session harness.Response) {
		made := e.Do(t, "POST", "/v1/sessions", body).Must(t, 201)
		turn := e.Do(t, "POST", "/v1/sessions/"+made.Text("id")+"/turns", `{"text":"`+text+`"}`).Must(t, 200)
		receipt := e.Do(t, "GET", "/v1/sessions/"+made.Text("id")+"/turns/"+turn.Text("turn_id")+"/receipt", nil).Must(t, 200)
		session = e.Do(t, "GET", "/v1/sessions/"+made.Text("id"), nil).Must(t, 200)
		if receipt.At("draft_revision") != session.At("draft_revision") {
			t.Errorf("the receipt has another revision than the session: %s", receipt.Body)
		}
		return turn.Text("text"), session
	}
	guarded("tulips")
	said, session := talk("I like tulips.")
	if said != "No word of it." || session.At("draft_revision") != 1.0 || session.At("agent_version") != 1.0 {
		t.Errorf("said %q in %s", said, session.Body)
	}
	// A draft that was begun anew has other guards.
	e.Do(t, "DELETE", draft, nil).Must(t, 204)
	guarded("roses")
	if said, _ := talk("I like tulips."); said == "No word of it." {
		t.Error("the guards of the discarded draft are in force")
	}
	if said, _ := talk("I like roses."); said != "No word of it." {
		t.Errorf("the guards of the draft are not in force: %q", said)
	}
	runtime := harness.Key(e.Tenant.Runtime)
	checkProblem(t, e.Do(t, "POST", "/v1/sessions", body, runtime), 403, "auth-scope")
	made := e.Do(t, "POST", "/v1/sessions", strings.Replace(body, "true", "false", 1), runtime).Must(t, 201)
	if got := e.Do(t, "GET", "/v1/sessions/"+made.Text("id"), nil).Must(t, 200); got.At("draft_revision") != 0.0 {
		t.Errorf("a session of the published agent: %s", got.Body)
	}
	times := e.Do(t, "GET", e.Tenant.In("/agents/"+e.agent+"/latency?agent_version=1"), nil).Must(t, 200)
	if times.At("answers") != 0.0 {
		t.Errorf("answers of drafts are counted as those of version 1: %s", times.Body)
	}
	other := e.NewTenant(t, "pro")
	checkProblem(t, e.Do(t, "GET", draft, nil, harness.Key(other.Operator)), 404, "not-found")
	checkProblem(t, e.Do(t, "POST", "/v1/sessions", body, harness.Key(other.Operator)), 404, "not-found")
}
