package scenario

import (
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestHandoverOverREST: the model asks for a person, who finds the session, takes it over, writes
// and gives it back; the answers, the transcript and the webhook tell who said what.
func TestHandoverOverREST(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	e.Do(t, "PATCH", e.Tenant.In("/agents/"+e.agent), `{"handover":{"enabled":true}}`).Must(t, 200)
	made := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	session, token := "/v1/sessions/"+made.Text("id"), harness.Key(made.Text("token"))
	waiting := func(status string) int {
		return len(e.Do(t, "GET", "/v1/sessions?handover="+status, nil).Must(t, 200).List("sessions"))
	}
	asked := e.Do(t, "POST", session+"/turns", `{"text":"/tool transfer_to_person {\"reason\":\"Refund.\",\"summary\":\"Shoes.\"}"}`, token)
	if body := string(asked.Must(t, 200).Body); !strings.Contains(body, `"handover":"requested"`) ||
		!strings.Contains(body, `"slug":"transfer_to_person"`) {
		t.Errorf("asked: %s", body)
	}
	if waiting("requested") != 1 || waiting("operator") != 0 {
		t.Error("what waits for a person is not listed")
	}
	checkProblem(t, e.Do(t, "GET", "/v1/sessions?handover=maybe", nil), 400, "invalid-request")
	checkProblem(t, e.Do(t, "POST", session+"/take-over", `{"operator":"Ruth"}`, token), 401, "auth-invalid-key")
	checkProblem(t, e.Do(t, "POST", session+"/take-over", `{"operator":""}`), 400, "invalid-request")
	checkProblem(t, e.Do(t, "POST", session+"/operator-messages", `{"text":"Hi."}`), 409, "session-not-taken-over")
	taken := string(e.Do(t, "POST", session+"/take-over", `{"operator":"Ruth"}`).Must(t, 200).Body)
	for _, part := range []string{`"status":"operator"`, `"reason":"Refund."`, `"summary":"Shoes."`, `"operator":"Ruth"`, `"taken_at":"2`} {
		if !strings.Contains(taken, part) {
			t.Errorf("no %s in %s", part, taken)
		}
	}
	checkProblem(t, e.Do(t, "POST", session+"/take-over", `{"operator":"Paul"}`), 409, "session-taken-over")
	unanswered := string(e.Do(t, "POST", session+"/turns", `{"text":"Is anybody there?"}`, token).Must(t, 200).Body)
	if !strings.Contains(unanswered, `"text":""`) || !strings.Contains(unanswered, `"handover":"operator"`) ||
		!strings.Contains(unanswered, `"status":"completed"`) {
		t.Errorf("a turn while a person has the session: %s", unanswered)
	}
	repeated := harness.Header("Idempotency-Key", "the same message")
	said := e.Do(t, "POST", session+"/operator-messages", `{"text":"Ruth here."}`, repeated).Must(t, 200)
	again := e.Do(t, "POST", session+"/operator-messages", `{"text":"Ruth here."}`, repeated).Must(t, 200)
	if said.Text("operator_text") != "Ruth here." || said.Text("agent_text") != "" || again.Text("id") != said.Text("id") {
		t.Errorf("said %s, again %s", said.Body, again.Body)
	}
	released := e.Do(t, "POST", session+"/release", `{"note":"Done."}`).Must(t, 200)
	if !strings.Contains(string(released.Body), `"handover":null`) {
		t.Errorf("released %s", released.Body)
	}
	transcript := string(e.Do(t, "GET", session+"/transcript", nil).Must(t, 200).Body)
	if strings.Count(transcript, `"kind":"operator"`) != 1 || strings.Count(transcript, `"kind":"operator_note"`) != 1 ||
		strings.Count(transcript, `"operator_text":"Ruth here."`) != 1 {
		t.Errorf("transcript %s", transcript)
	}
	receipt := e.Do(t, "GET", session+"/turns/"+said.Text("id")+"/receipt", nil).Must(t, 200)
	if receipt.Text("begun_by") != "operator" || strings.Contains(string(receipt.Body), "Ruth here.") {
		t.Errorf("receipt %s", receipt.Body)
	}
	e.Do(t, "POST", session+"/end", `{"status":"completed"}`).Must(t, 200)
	checkProblem(t, e.Do(t, "POST", session+"/release", `{}`), 409, "session-closed")
}
