package scenario

import (
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/redistest"
)

// talking is a client in a conversation with an agent of the installation's model.
func talking(t *testing.T, env *harness.Env) *caller {
	t.Helper()
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	made := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	c := &caller{t: t, made: made}
	c.dial(strings.TrimPrefix(env.URL, "http://"))
	return c
}

// TestModelFaults has a model that breaks off in the middle of an answer in every way: the client
// is told, what was said is in the transcript, and the next answer is as if nothing had been.
func TestModelFaults(t *testing.T) {
	t.Parallel()
	never := make(chan struct{}, 1)
	never <- struct{}{} // one piece, and then nothing
	rows := []struct {
		name  string
		reply openaichat.Reply
		// said is what is kept of the answer.
		said string
	}{
		{"stalls", openaichat.Reply{Text: []string{"Half ", "an answer."}, Gate: never}, "Half "},
		{"cuts the connection", openaichat.Reply{Text: []string{"Half "}, End: modeltest.EndCut}, "Half "},
		{"sends an error", openaichat.Reply{Text: []string{"Half "}, End: modeltest.EndError}, "Half "},
		{"sends garbage", openaichat.Reply{Status: 200, Body: "data: <html>not what you asked for</html>\n\ndata: \x00\xff\n\n"}, ""},
	}
	llm := openaichat.New(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model, "PARLANCE_MODEL_STALL_TIMEOUT": "2s",
	}})
	c := talking(t, env)
	var want [][2]string
	for _, row := range rows {
		llm.Add(row.reply)
		c.say("It " + row.name + ".")
		done := c.until("response.done")
		c.want("failed", row.said)
		if code := harness.Path(done, "response", "status_details", "error", "code"); code != "upstream-failed" {
			t.Errorf("a model that %s: %v", row.name, done)
		}
		llm.Add(openaichat.Reply{Text: []string{"Well ", "again."}})
		c.say("And now?")
		c.until("response.done")
		c.want("completed", "Well again.")
		want = append(want, [2]string{"failed", strings.TrimSpace(row.said)}, [2]string{"completed", "Well again."})
	}
	for i, turn := range env.Do(t, "GET", "/v1/sessions/"+c.made.Text("id")+"/transcript", nil).Must(t, 200).List("turns") {
		status, text := harness.Path(turn, "status"), harness.Path(turn, "agent_text")
		if said, _ := text.(string); status != want[i][0] || strings.TrimSpace(said) != want[i][1] {
			t.Errorf("turn %d is %v %q, want %v", i, status, text, want[i])
		}
	}
	if got := env.Do(t, "GET", "/v1/sessions/"+c.made.Text("id"), nil).Must(t, 200); got.Text("status") != "in_progress" {
		t.Errorf("the session is %s", got.Text("status"))
	}
}

// TestRedisKilled kills Redis in the middle of an answer: it goes on, also for a client that comes
// back, and so do the next turn, one over HTTP, and the session's end.
func TestRedisKilled(t *testing.T) {
	t.Parallel()
	redis := redistest.NewServer(t)
	gate := make(chan struct{}, 4) // more than there are pieces
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"One ", "two ", "three."}, Gate: gate},
		openaichat.Reply{Text: []string{"Second."}}, openaichat.Reply{Text: []string{"Third."}}, openaichat.Reply{Text: []string{"Fourth."}})
	env := harness.Start(t, harness.Options{RedisURL: redis.URL, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	c := talking(t, env)
	c.say("Count.")
	gate <- struct{}{}
	c.until("response.output_text.delta")
	redis.Kill()
	gate <- struct{}{}
	c.until("response.output_text.delta")
	_ = c.socket.CloseNow() // lost
	c.dial(strings.TrimPrefix(env.URL, "http://"))
	gate <- struct{}{}
	c.until("response.done")
	c.want("completed", "One two three.")
	c.say("Second?")
	c.until("response.done")
	c.want("completed", "Second.")
	session := "/v1/sessions/" + c.made.Text("id")
	if got := env.Do(t, "POST", session+"/turns", `{"text":"Third?"}`).Must(t, 200); got.Text("text") != "Third." {
		t.Errorf("a turn over HTTP: %s", got.Body)
	}
	redis.Start()
	c.say("Fourth?")
	c.until("response.done")
	c.want("completed", "Fourth.")
	wantTranscript(t, env, c.made.Text("id"), [2]string{"completed", "One two three."}, [2]string{"completed", "Second."},
		[2]string{"completed", "Third."}, [2]string{"completed", "Fourth."})
	redis.Kill()
	env.Do(t, "POST", session+"/end", `{"status":"completed","reason":"done"}`).Must(t, 200)
	if code, reason := c.lost(); code != 1000 || reason != "done" {
		t.Errorf("closed with %d %q", code, reason)
	}
	redis.Start()
}

// TestCutAnswerOverHTTP: a caller of turns over HTTP gets the error that the model stopped before
// the end of its answer, and why, as clients on sockets are.
func TestCutAnswerOverHTTP(t *testing.T) {
	t.Parallel()
	llm := openaichat.New(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := "/v1/sessions/" + env.Do(t, "POST", "/v1/sessions",
		`{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	for _, row := range []struct {
		finish, reason string // OpenAI's word and ours
	}{{"length", "max_output_tokens"}, {"content_filter", "content_filter"}, {"stop", ""}} {
		llm.Add(openaichat.Reply{Text: []string{"As far as"}, Finish: row.finish})
		turn := env.Do(t, "POST", session+"/turns", `{"text":"Go on."}`).Must(t, 200)
		if turn.Text("status") != "completed" || turn.Text("incomplete_reason") != row.reason {
			t.Errorf("%s: %s", row.finish, turn.Body)
		}
		llm.Add(openaichat.Reply{Text: []string{"As far as"}, Finish: row.finish})
		streamed := env.Do(t, "POST", session+"/turns", `{"text":"Go on."}`, harness.Header("Accept", "text/event-stream")).Must(t, 200)
		if !strings.Contains(string(streamed.Body), `"incomplete_reason":"`+row.reason+`"`) {
			t.Errorf("%s, streamed: %s", row.finish, streamed.Body)
		}
		turns := env.Do(t, "GET", session+"/transcript", nil).Must(t, 200).List("turns")
		if got := harness.Path(turns[len(turns)-1], "incomplete_reason"); got != row.reason {
			t.Errorf("%s, in the transcript: %v", row.finish, got)
		}
	}
}
