package scenario

import (
	"io"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestEndByTheUser: a session's own token ends that session and no other, and its holder is not
// shown what belongs to the operator.
func TestEndByTheUser(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	create := func() harness.Response {
		return env.Do(t, "POST", "/v1/sessions", map[string]any{
			"agent_id": agent, "user_id": "u", "modality": "text", "dynamic_variables": map[string]string{"tier": "operators-word"},
		}).Must(t, 201)
	}
	own, other := create(), create()
	token := harness.Key(own.Text("token"))
	end := `{"status":"completed","reason":"the user left"}`
	checkProblem(t, env.Do(t, "POST", "/v1/sessions/"+other.Text("id")+"/end", end, token), 401, "session-token-invalid")
	ended := env.Do(t, "POST", "/v1/sessions/"+own.Text("id")+"/end", end, token).Must(t, 200)
	if ended.Text("status") != "completed" || ended.Text("end_reason") != "the user left" ||
		strings.Contains(string(ended.Body), "operators-word") {
		t.Errorf("got %s", ended.Body)
	}
	for id, status := range map[string]string{own.Text("id"): "completed", other.Text("id"): "pending"} {
		if got := env.Do(t, "GET", "/v1/sessions/"+id, nil).Must(t, 200); got.Text("status") != status {
			t.Errorf("session %s: got %s, want %s", id, got.Body, status)
		}
	}
}

// TestDeletedWorkspaceEndsStreams: with its workspace a session ends, and so does the stream of its
// turn.
func TestDeletedWorkspaceEndsStreams(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"One ", "two."}, Gate: gate})
	e := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	workspace := "/v1/workspaces/" + e.Do(t, "POST", "/v1/workspaces", `{"name":"Short-lived"}`).Must(t, 201).Text("id")
	agent := e.Do(t, "POST", workspace+"/agents", `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	stream := openStream(t, e, "/v1/sessions/"+session+"/turns", `{"text":"Count."}`)
	gate <- struct{}{}
	stream.until("turn.delta")
	e.Do(t, "DELETE", workspace, nil).Must(t, 204)
	rest, err := io.ReadAll(stream.body.Body)
	if err != nil || !strings.Contains(string(rest), `"code":"session-closed"`) {
		t.Errorf("the stream ended with %s, %v", rest, err)
	}
}
