package scenario

import (
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/test/harness"
)

// TestApprovalOverREST: a turn over HTTP asks for approval, in its stream and in the session's
// list; the word that comes with the session's token is what the turn goes on with, and what its
// transcript and receipt tell.
func TestApprovalOverREST(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	bank := mcpserver.New(t)
	bank.Tool("pay", "Pays.", `{"type":"object","properties":{"sum":{"type":"integer"}}}`, mcpserver.Text("Paid."))
	tool := e.Do(t, "POST", e.Tenant.In("/tools"),
		`{"slug":"pay","description":"Pays.","kind":"mcp","mcp_server_url":"`+bank.URL+`","mcp_tool_name":"pay","approval":"always"}`,
		harness.Key(e.Tenant.Admin)).Must(t, 201).Text("id")
	e.Do(t, "POST", e.Tenant.In("/agents/"+e.agent+"/tools/attach"), `{"tool_id":"`+tool+`","enabled":true}`).Must(t, 200)
	made := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	session, token := "/v1/sessions/"+made.Text("id"), harness.Key(made.Text("token"))
	if none := e.Do(t, "GET", session+"/approvals", nil).Must(t, 200); !strings.Contains(string(none.Body), `"approvals":[]`) {
		t.Errorf("nothing asked: %s", none.Body)
	}
	waiting := func() string {
		var found []any
		harness.Await(t, harness.Patience, "a request", func() bool {
			found = e.Do(t, "GET", session+"/approvals?status=waiting", nil, token).Must(t, 200).List("approvals")
			return len(found) == 1
		})
		return found[0].(map[string]any)["call_id"].(string)
	}
	var turning sync.WaitGroup
	var streamed, answered harness.Response
	turning.Go(func() {
		streamed = e.Do(t, "POST", session+"/turns", `{"text":"/tool pay {\"sum\":5}"}`, token, harness.Header("Accept", "text/event-stream"))
	})
	asked := waiting()
	path := session + "/approvals/" + asked
	stranger := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("token")
	checkProblem(t, e.Do(t, "POST", path, `{"approve":true}`, harness.Key(stranger)), 401, "session-token-invalid")
	checkProblem(t, e.Do(t, "POST", path, `{}`, token), 400, "invalid-request")
	checkProblem(t, e.Do(t, "POST", session+"/approvals/call_nobody", `{"approve":true}`, token), 404, "not-found")
	checkProblem(t, e.Do(t, "GET", session+"/approvals?status=maybe", nil, token), 400, "invalid-request")
	if said := e.Do(t, "POST", path, `{"approve":true}`, token).Must(t, 200); said.Text("status") != "approved" ||
		said.Text("decided_by") != "session_token" || said.Text("slug") != "pay" {
		t.Errorf("decided: %s", said.Body)
	}
	checkProblem(t, e.Do(t, "POST", path, `{"approve":false}`), 409, "approval-decided")
	turning.Wait()
	events := string(streamed.Must(t, 200).Body)
	_, behind, found := strings.Cut(events, "event: turn.approval_requested\n")
	if !found || !strings.Contains(behind, "Paid.") || !strings.Contains(events, `"expires_at"`) {
		t.Errorf("streamed %s", events)
	}
	turning.Go(func() { answered = e.Do(t, "POST", session+"/turns", `{"text":"/tool pay {\"sum\":6}"}`, token) })
	e.Do(t, "POST", session+"/approvals/"+waiting(), `{"approve":false,"reason":"Too much."}`).Must(t, 200)
	turning.Wait()
	if body := string(answered.Must(t, 200).Body); !strings.Contains(body, "not-approved") ||
		!strings.Contains(body, `"status":"denied"`) || !strings.Contains(body, `"decided_by":"key_`) {
		t.Errorf("answered %s", body)
	}
	receipt := e.Do(t, "GET", session+"/turns/"+answered.Text("turn_id")+"/receipt", nil).Must(t, 200)
	if !strings.Contains(string(receipt.Body), `"approval":{`) || strings.Contains(string(receipt.Body), "Too much.") {
		t.Errorf("receipt %s", receipt.Body)
	}
	if calls := bank.Count("tools/call"); calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
