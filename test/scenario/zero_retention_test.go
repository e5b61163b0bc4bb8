package scenario

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/test/dump"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// secretive is an agent that keeps nothing, with two endpoints: one takes its events, the other
// fails until its attempts are used up.
type secretive struct {
	*harness.Env
	t           *testing.T
	agent       string
	takes, late *receiver.Receiver
	lateID      string
}

func newSecretive(t *testing.T) *secretive {
	t.Helper()
	s := &secretive{t: t, takes: receiver.New(t), late: receiver.New(t)}
	shop := httptool.New(t)
	s.Env = harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_EGRESS_CA_FILE": s.takes.CAFile(t), "PARLANCE_WEBHOOK_SCHEDULE": "0s,1h",
	}})
	s.takes.Always(receiver.Answer{Body: "I got " + markedWords, Header: map[string]string{"X-Echo": markedWords}})
	s.late.Always(receiver.Answer{Status: 503, Body: markedWords})
	for _, hook := range []*receiver.Receiver{s.takes, s.late} {
		made := s.Do(t, "POST", s.Tenant.In("/webhooks"), map[string]any{
			"url": hook.URL, "events": []string{"post_call_transcription"},
		}).Must(t, 201)
		hook.Expect(made.Text("secret"))
		s.lateID = made.Text("id")
	}
	s.agent = s.Do(t, "POST", s.Tenant.In("/agents"), `{"name":"Ada","first_message":"Hello {{note}}.",
		"privacy":{"zero_retention":true}}`).Must(t, 201).Text("id")
	tool := s.Do(t, "POST", s.Tenant.In("/tools"), map[string]any{
		"slug": "echo", "description": "d", "kind": "http", "webhook_url": shop.URL + "/echo",
		"assignments":  []any{map[string]any{"dynamic_variable": "heard", "value_path": "body"}},
		"input_schema": map[string]any{"type": "object", "properties": map[string]any{"word": map[string]any{"type": "string"}}},
	}).Must(t, 201).Text("id")
	s.Do(t, "POST", s.Tenant.In("/agents/"+s.agent+"/tools/attach"), map[string]any{"tool_id": tool, "enabled": true}).Must(t, 200)
	return s
}

// begin makes a session whose variables have the words.
func (s *secretive) begin() harness.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/v1/sessions", map[string]any{
		"agent_id": s.agent, "user_id": "u", "modality": "text",
		"dynamic_variables": map[string]string{"note": markedWords, "secret__pin": "4711-secret"},
	}, withKey("session")).Must(s.t, 201)
}

// absent fails when the words are anywhere in what is stored.
func (s *secretive) absent(when string) {
	s.t.Helper()
	places, err := dump.Files(filepath.Dir(s.BlobDir))
	if err != nil {
		s.t.Fatal(err)
	}
	places["Postgres"], places["Redis"] = dumpDatabase(s.t, s.Env), dumpRedis(s.t, s.Env)
	search(s.t, []canary{{name: "what was said, " + when + ",", secret: markedWords}}, places)
}

// sealed counts the rows that hold sealed content.
func (s *secretive) sealed() int {
	s.t.Helper()
	return harness.Rows[int](s.t, s.Env, `SELECT (SELECT count(*) FROM turns WHERE messages::text LIKE '%"sealed"%')::int
		+ (SELECT count(*) FROM events WHERE sealed IS NOT NULL)::int
		+ (SELECT count(*) FROM sessions WHERE sealed OR dynamic_variables::text LIKE '%sealed:%' OR secret_variables IS NOT NULL)::int
		+ (SELECT count(*) FROM idempotency_keys WHERE session_id <> '')::int`)[0]
}

// TestZeroRetention: a conversation is held and delivered as it is, and nothing of it is readable
// in Postgres, Redis and on disk, at any time. When it is delivered or given up, what is sealed is
// deleted.
func TestZeroRetention(t *testing.T) {
	t.Parallel()
	s := newSecretive(t)
	made := s.begin()
	id := made.Text("id")
	if strings.Contains(string(made.Body), markedWords) {
		t.Errorf("the session shows its variables: %s", made.Body)
	}
	asked := map[string]any{"text": `/tool echo {"word":"` + markedWords + `"}`}
	turn := s.Do(t, "POST", "/v1/sessions/"+id+"/turns", asked, withKey("turn")).Must(t, 200)
	if !strings.Contains(turn.Text("text"), markedWords) {
		t.Errorf("the turn is answered %s", turn.Body)
	}
	s.chat(made.Text("chat_url"))
	again := s.Do(t, "GET", "/v1/sessions/"+id+"/turns/"+turn.Text("turn_id"), nil).Must(t, 200)
	if again.Text("agent_text") != turn.Text("text") || !strings.Contains(again.Text("user_text"), markedWords) {
		t.Errorf("the turn is read as %s, and was answered %s", again.Body, turn.Body)
	}
	s.absent("while it is open")
	transcript := s.Do(t, "GET", "/v1/sessions/"+id+"/transcript", nil).Must(t, 200)
	if transcript.Text("turns", 0, "agent_text") != "[withheld]" || transcript.Text("turns", 1, "user_text") != "[withheld]" ||
		transcript.Text("turns", 1, "tool_calls", 0, "output") != "[withheld]" || transcript.Text("turns", 1, "tool_calls", 0, "slug") != "echo" {
		t.Errorf("the transcript is %s", transcript.Body)
	}

	s.Do(t, "POST", "/v1/sessions/"+id+"/end", `{"status":"completed"}`).Must(t, 200)
	got := s.takes.Await(t.Context(), t, 1)[0]
	s.late.Await(t.Context(), t, 1)
	for _, part := range []string{`"message":"Hello ` + markedWords, `"result_value":"`, `"note":"` + markedWords} {
		if !strings.Contains(string(got.Body), part) {
			t.Errorf("the endpoint got no %s: %s", part, got.Body)
		}
	}
	if strings.Contains(string(got.Body), "withheld") {
		t.Errorf("the endpoint got %s", got.Body)
	}
	s.absent("while a delivery is pending")
	if s.sealed() == 0 {
		t.Error("the content is gone before it is delivered")
	}
	s.withheld()

	harness.Await(t, harness.Patience, "the last attempt is due", func() bool { return s.makeDue() })
	if last := s.late.Await(t.Context(), t, 2)[1]; !bytes.Equal(last.Body, got.Body) {
		t.Errorf("the second endpoint got %s, the first %s", last.Body, got.Body)
	}
	harness.Await(t, harness.Patience, "what is sealed is deleted", func() bool { return s.sealed() == 0 })
	s.absent("when it is given up")
	after := s.Do(t, "GET", "/v1/sessions/"+id, nil).Must(t, 200)
	if after.At("content_deleted_at") == nil || after.At("turn_count") != 3.0 {
		t.Errorf("the session is %s", after.Body)
	}
	harness.Await(t, harness.Patience, "another attempt", func() bool { return s.redeliver() })
	if last := s.late.Await(t.Context(), t, 3)[2]; !strings.Contains(string(last.Body), `"withheld":"zero_retention"`) ||
		strings.Contains(string(last.Body), markedWords) {
		t.Errorf("what is sent again is %s", last.Body)
	}
	s.Do(t, "GET", "/v1/sessions/"+id+"/turns/"+turn.Text("turn_id")+"/receipt", nil).Must(t, 200)
}

// chat says something on a socket, which answers with what was said before.
func (s *secretive) chat(url string) {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &person{t: s.t, socket: conn}
	conn.SetReadLimit(1 << 20)
	for _, event := range []string{
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"I am ` +
			markedWords + `."}]}}`, `{"type":"response.create"}`,
	} {
		if err := conn.Write(s.t.Context(), websocket.MessageText, []byte(event)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := p.read("response.done"); err != nil {
		s.t.Fatal(err)
	}
	_ = conn.CloseNow()
}

// withheld fails unless the feed and the attempts are without content.
func (s *secretive) withheld() {
	s.t.Helper()
	feed := s.Do(s.t, "GET", s.Tenant.In("/events"), nil).Must(s.t, 200)
	if feed.Text("events", 0, "data", "withheld") != "zero_retention" || len(feed.List("events", 0, "data", "transcript")) != 0 ||
		feed.At("events", 0, "data", "metadata", "turn_count") != 3.0 {
		s.t.Errorf("the feed has %s", feed.Body)
	}
	attempts := s.Do(s.t, "GET", s.Tenant.In("/webhooks/"+s.lateID+"/deliveries"), nil).Must(s.t, 200)
	if strings.Contains(fmt.Sprint(string(feed.Body), string(attempts.Body)), markedWords) {
		s.t.Errorf("the feed or an attempt has what was said: %s %s", feed.Body, attempts.Body)
	}
}

// makeDue has the hour until the last attempt at the late endpoint pass; false while an attempt is
// running.
func (s *secretive) makeDue() bool {
	s.t.Helper()
	return len(harness.Rows[int64](s.t, s.Env, "UPDATE webhook_deliveries SET next_at = now() WHERE endpoint_id = '"+s.lateID+
		"' AND status = 'pending' AND lease_until IS NULL RETURNING id")) == 1
}

// redeliver asks for the next attempt at the late endpoint; false while one is running.
func (s *secretive) redeliver() bool {
	s.t.Helper()
	attempts := s.Do(s.t, "GET", s.Tenant.In("/webhooks/"+s.lateID+"/deliveries"), nil).Must(s.t, 200)
	return len(attempts.List("deliveries")) > 0 &&
		s.Do(s.t, "POST", s.Tenant.In("/webhooks/"+s.lateID+"/deliveries/"+attempts.Text("deliveries", 0, "id")+"/redeliver"), nil).Status == 200
}

// TestZeroRetentionRefuses: what needs content that is not kept is refused.
func TestZeroRetentionRefuses(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	for _, other := range []string{`"memory":{"enabled":true}`, `"memory":{"enabled":false},"analysis":{"enabled":true}`} {
		got := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","privacy":{"zero_retention":true},`+other+`}`).Must(t, 400)
		if got.Code() != "invalid-request" || len(got.Problem.Fields()) != 1 {
			t.Errorf("%s: %s", other, got.Body)
		}
		agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada",`+other+`}`).Must(t, 201).Text("id")
		env.Do(t, "PATCH", env.Tenant.In("/agents/"+agent), `{"privacy":{"zero_retention":true}}`).Must(t, 400)
	}
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","privacy":{"zero_retention":true}}`).Must(t, 201)
	if agent.At("privacy", "zero_retention") != true {
		t.Errorf("the agent is %s", agent.Body)
	}
}
