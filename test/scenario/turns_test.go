package scenario

import (
	"bytes"
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestTurnOverREST: a turn without a socket is read, followed from an event's id in both ways that
// clients of event streams come back, and cancelled; nobody else's token does any of it.
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
		if text := events(got); strings.Contains(text, "turn.started") ||
			!strings.Contains(text, "event: turn.done\n") || !strings.Contains(text, "turn.delta") {
			t.Errorf("%s: %s", name, text)
		}
	}
	// Behind turn.done there is nothing, and an EventSource is asked not to connect again.
	last = harness.Header("Last-Event-ID",
		strings.TrimPrefix(strings.Split(rest[strings.LastIndex(rest, "event: turn.done"):], "\n")[1], "id: "))
	for name, got := range map[string]harness.Response{
		"the turn": e.Do(t, "GET", turns+"/"+turn, nil, accept, last), "the request": e.Do(t, "POST", turns, `{"text":"Hello?"}`, accept, last),
	} {
		if got.Status != 204 || len(got.Body) != 0 {
			t.Errorf("%s, behind its end: %d %s", name, got.Status, got.Body)
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
	checkProblem(t, e.Do(t, "POST", turns,
		`{"text":"Hello?","tool_outputs":[{"call_id":"call_nobody","output":"x"}]}`), 400, "invalid-request")
	checkProblem(t, e.Do(t, "POST", turns, `{"text":""}`), 400, "invalid-request")
	checkProblem(t, e.Do(t, "GET", "/v1/sessions?modality=smell", nil), 400, "invalid-request")
	checkProblem(t, e.Do(t, "GET", "/v1/sessions?created_after=yesterday", nil), 400, "invalid-request")
	if list := e.Do(t, "GET", "/v1/sessions?modality=text&created_after=2020-01-01T00:00:00Z&end_reason=",
		nil).Must(t, 200).List("sessions"); len(list) != 2 {
		t.Errorf("listed %d", len(list))
	}
}

// TestTurnThatEndsItsSession: who has the session's token gets the answer that ended it as one
// with a key does: followed, and replayed to the same request; a new turn is refused.
func TestTurnThatEndsItsSession(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	made := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	turns, token := "/v1/sessions/"+made.Text("id")+"/turns", harness.Key(made.Text("token"))
	accept, body := harness.Header("Accept", "text/event-stream"), `{"text":"/tool end_call {}"}`
	first := e.Do(t, "POST", turns, body, token, withKey("the-last")).Must(t, 200)
	if session := e.Do(t, "GET", "/v1/sessions/"+made.Text("id"), nil).Must(t, 200); session.Text("end_reason") != "end_call" {
		t.Fatalf("the session goes on: %s", session.Body)
	}
	again := e.Do(t, "POST", turns, body, token, withKey("the-last")).Must(t, 200)
	if !bytes.Equal(again.Body, first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same request and key answered %s, first %s", again.Body, first.Body)
	}
	turn := turns + "/" + first.Text("turn_id")
	if followed := e.Do(t, "GET", turn, nil, accept, token).Must(t, 200); !bytes.Contains(followed.Body, []byte("event: turn.done\n")) {
		t.Errorf("followed %s", followed.Body)
	}
	if read := e.Do(t, "GET", turn, nil, token).Must(t, 200); read.Text("agent_text") != first.Text("text") {
		t.Errorf("read %s", read.Body)
	}
	checkProblem(t, e.Do(t, "POST", turns, `{"text":"Hello?"}`, token), 409, "session-closed")
	checkProblem(t, e.Do(t, "POST", turns, `{"text":"Hello?"}`, token, accept), 409, "session-closed")
	checkProblem(t, e.Do(t, "GET", "/v1/sessions/"+made.Text("id"), nil, token), 401, "auth-invalid-key")
}
