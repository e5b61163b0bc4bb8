package scenario

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/port"
)

// stopping is an installation with a node that the test stops, and one that goes on.
type stopping struct {
	*idem
	llm  *openaichat.Server
	gate chan struct{}
	// node is the one that is stopped; its URL is there.
	node  *harness.Process
	there *harness.Env
}

func newStopping(t *testing.T, timeout string) *stopping {
	t.Helper()
	s := &stopping{gate: make(chan struct{}), llm: openaichat.New(t)}
	s.llm.Else = func(modeltest.Received) modeltest.Reply {
		return modeltest.Reply{Text: []string{"One ", "two."}, Gate: s.gate}
	}
	s.idem = newIdem(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": s.llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	listen := port.Reserve(t)
	s.node = s.With(map[string]string{"PARLANCE_LISTEN": listen, "PARLANCE_SHUTDOWN_TIMEOUT": timeout}).StartProcess(t, "server")
	there := *s.Env
	s.there = &there
	s.there.URL = "http://" + listen
	harness.Await(t, harness.Patience, "a second node", func() bool {
		got, err := s.there.Send(t, "GET", "/readyz", nil)
		return err == nil && got.Status == 200
	})
	return s
}

// session returns the path of the turns of a new session.
func (s *stopping) session(t *testing.T) string {
	t.Helper()
	made := s.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+s.agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	return "/v1/sessions/" + made.Text("id") + "/turns"
}

// ask asks the node that will be stopped, and waits until its model was asked.
func (s *stopping) ask(t *testing.T, running *sync.WaitGroup, path string, with ...harness.With) *harness.Response {
	t.Helper()
	got, before := &harness.Response{}, len(s.llm.Requests())
	running.Go(func() {
		var err error
		if *got, err = s.there.Send(t, "POST", path, `{"text":"Count."}`, with...); err != nil {
			t.Errorf("no answer: %v", err)
		}
	})
	harness.Await(t, harness.Patience, "the model is asked", func() bool { return len(s.llm.Requests()) > before })
	return got
}

// TestStoppedNodeAnswers: a server that is told to stop finishes its answers, whole and streamed.
func TestStoppedNodeAnswers(t *testing.T) {
	t.Parallel()
	s := newStopping(t, "10m")
	var answers, ended sync.WaitGroup
	whole := s.ask(t, &answers, s.session(t))
	streamed := s.ask(t, &answers, s.session(t), harness.Header("Accept", "text/event-stream"))
	ended.Go(s.node.Terminate)
	harness.Await(t, harness.Patience, "no new requests are taken", func() bool {
		_, err := s.there.Send(t, "GET", "/readyz", nil)
		return err != nil
	})
	close(s.gate)
	answers.Wait()
	ended.Wait()
	if whole.Must(t, http.StatusOK).Text("text") != "One two." {
		t.Errorf("got %s", whole.Body)
	}
	body := string(streamed.Must(t, http.StatusOK).Body)
	if !strings.Contains(body, "event: turn.done") || !strings.Contains(body, "One two.") {
		t.Errorf("got %s", body)
	}
}

// TestStoppedNodeGivesUp: when the time to stop is over, callers are told so, and the answers can
// be had from another node.
func TestStoppedNodeGivesUp(t *testing.T) {
	t.Parallel()
	s := newStopping(t, "1ms")
	var answers sync.WaitGroup
	path, stream := s.session(t), harness.Header("Accept", "text/event-stream")
	whole, streamed := s.ask(t, &answers, path, withKey("k")), s.ask(t, &answers, s.session(t), stream)
	s.node.Terminate()
	answers.Wait()
	checkProblem(t, *whole, http.StatusServiceUnavailable, "unavailable")
	if body := string(streamed.Body); !strings.Contains(body, `"code":"unavailable"`) {
		t.Errorf("got %s", body)
	}
	close(s.gate)
	again := s.Do(t, "POST", path, `{"text":"Count."}`, withKey("k")).Must(t, http.StatusOK)
	turns := s.Do(t, "GET", strings.TrimSuffix(path, "turns")+"transcript", nil).Must(t, http.StatusOK)
	if again.Text("text") != "One two." || len(turns.List("turns")) != 1 || turns.Text("turns", 0, "status") != "completed" {
		t.Errorf("got %s, of %s", again.Body, turns.Body)
	}
}
