package scenario

import (
	"bytes"
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestTurnOverREST: a turn without a socket is read, followed from an event's id in both ways that clients
// of event streams come back, and cancelled; nobody else's token does any of it.
func TestTurnOverREST(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	open := func() (id, token string) {
		made := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
		return made.Text("id"), made.Text("token")
	}
	session, token := open()
	_, foreign := open()
	turns, accept := "/v1/sessions/"+session+"/turns", harness.Header("Accept", "text/event-stream")
	events := func(r harness.Response) string {
		return string(bytes.ReplaceAll(r.Must(t, 200).Body, []byte(": keep-alive\n\n"), nil))
	}
	whole := events(e.Do(t, "POST", turns, `{"text":"Hello?"}`, accept))
	first, rest, found := strings.Cut(whole, "\n\n")
	if !found || !strings.HasPrefix(first, "event: turn.started\nid: turn_") || !strings.Contains(rest, "event: turn.done\n") {
		t.Fatalf("streamed %s", whole)
	}
	id := strings.TrimPrefix(strings.Split(first, "\n")[1], "id: ")
	turn, _, _ := strings.Cut(id, ".")
	last := harness.Header("Last-Event-ID", id)
	for name, got := range map[string]harness.Response{
		"the same request, again":            e.Do(t, "POST", turns, `{"text":"Hello?"}`, accept, last),
		"the same request and key, again":    e.Do(t, "POST", turns, `{"text":"Hello?"}`, accept, last, withKey("k")),
		"the turn, as EventSource asks":      e.Do(t, "GET", turns+"/"+turn, nil, accept, last),
		"the turn, with the session's token": e.Do(t, "GET", turns+"/"+turn, nil, accept, last, harness.Key(token)),
		"the turn, by a query parameter":     e.Do(t, "GET", turns+"/"+turn+"?last_event_id="+id, nil, accept),
	} {
		if text := events(got); strings.Contains(text, "turn.started") || !strings.Contains(text, "event: turn.done\n") || !strings.Contains(text, "turn.delta") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if listed := e.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200).List("turns"); len(listed) != 1 {
		t.Errorf("coming back has taken turns: %d", len(listed))
	}
	one := e.Do(t, "GET", turns+"/"+turn, nil).Must(t, 200)
	if one.Text("id") != turn || one.Text("status") != "completed" || one.Text("user_text") != "Hello?" {
		t.Errorf("the turn: %s", one.Body)
	}
	if stopped := e.Do(t, "POST", turns+"/"+turn+"/cancel", nil, harness.Key(token)).Must(t, 200); stopped.Text("status") != "completed" {
		t.Errorf("cancelling a turn that is over: %s", stopped.Body)
	}
	for _, path := range []string{turns + "/" + turn, turns + "/" + turn + "/cancel"} {
		method := map[bool]string{true: "POST", false: "GET"}[strings.HasSuffix(path, "cancel")]
		checkProblem(t, e.Do(t, method, path, nil, harness.Key(foreign)), 401, "session-token-invalid")
		checkProblem(t, e.Do(t, method, strings.Replace(path, turn, "turn_nobody", 1), nil), 404, "not-found")
	}
	checkProblem(t, e.Do(t, "POST", turns, `{"text":"Hello?"}`, accept, harness.Header("Last-Event-ID", "7")), 400, "invalid-request")
	checkProblem(t, e.Do(t, "POST", turns, `{"text":"Hello?","tool_outputs":[{"call_id":"call_nobody","output":"x"}]}`), 400, "invalid-request")
	checkProblem(t, e.Do(t, "POST", turns, `{"text":""}`), 400, "invalid-request")
	checkProblem(t, e.Do(t, "GET", "/v1/sessions?modality=smell", nil), 400, "invalid-request")
	checkProblem(t, e.Do(t, "GET", "/v1/sessions?created_after=yesterday", nil), 400, "invalid-request")
	if list := e.Do(t, "GET", "/v1/sessions?modality=text&created_after=2020-01-01T00:00:00Z&end_reason=", nil).Must(t, 200).List("sessions"); len(list) != 2 {
		t.Errorf("listed %d", len(list))
	}
}
