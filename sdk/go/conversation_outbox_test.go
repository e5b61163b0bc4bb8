package parlance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	parlance "parlance.dev/parlance/sdk/go"
)

// Events about an answer: begun to a message, or to none that it names, and ended.
func begun(response, message string) string {
	metadata := "null"
	if message != "" {
		metadata = fmt.Sprintf(`{"parlance_request": %q}`, message)
	}
	return fmt.Sprintf(`{"type": "response.created", "event_id": "b", "response": {"id": %q, "metadata": %s}}`, response, metadata)
}

func ended(response, status, code string) string {
	return fmt.Sprintf(`{"type": "response.done", "event_id": "d", "response": {"id": %q, "status": %q,
		"status_details": {"error": {"code": %q}}}}`, response, status, code)
}

// shared is a text that the handlers of one connection after another know.
type shared struct{ text atomic.Value }

func (s *shared) set(text string) { s.text.Store(text) }

func (s *shared) get() string { text, _ := s.text.Load().(string); return text }

// hears reads a message and the request for its answer, and returns its id.
func (s *socket) hears(text string) string {
	s.t.Helper()
	item := s.wants("conversation.item.create").Item
	if len(item.Content) != 1 || item.Content[0].Text != text {
		s.t.Errorf("heard %.100v, want %.100q", item, text)
	}
	if asks := s.wants("response.create").Response.Metadata["parlance_request"]; asks != item.ID {
		s.t.Errorf("an answer to %q is asked for", asks)
	}
	return item.ID
}

// TestConversationOneByOne says two texts at once. The second is sent when the answer to the first
// has ended, or will not come.
func TestConversationOneByOne(t *testing.T) {
	t.Parallel()
	const soon, never = time.Millisecond, time.Hour
	var said shared
	in := func(phases ...func(*socket)) []func(*socket) { return phases }
	hears := func(then func(*socket)) func(*socket) {
		return func(s *socket) { s.send(created); said.set(s.hears("First.")); then(s) }
	}
	begins := hears(func(s *socket) { s.send(begun("r1", said.get())) })
	comesBack := func(then func(*socket)) func(*socket) {
		return func(s *socket) { s.send(created); then(s); s.hears("Second."); _ = s.Close(1000, "end_call") }
	}
	for name, row := range map[string]struct {
		talk           []func(*socket)
		settle, resume time.Duration
	}{
		"Ended": {in(hears(func(s *socket) {
			s.send(begun("r0", ""), ended("r0", "completed", "")) // of nobody's message
			s.send(begun("r2", said.get()))
			s.wants("marker")
			s.send(ended("r2", "cancelled", ""))
			s.hears("Second.")
			_ = s.Close(1000, "end_call")
		})), never, never},
		"Refused": {in(hears(func(s *socket) {
			s.send(fmt.Sprintf(`{"type": "error", "event_id": "e", "error": {"code": "session-taken-over", "event_id": %q}}`, said.get()+".answer"))
			s.hears("Second.")
			_ = s.Close(1000, "end_call")
		})), never, never},
		"FailedWithoutALoss": {in(hears(func(s *socket) {
			s.send(begun("r1", said.get()), ended("r1", "failed", "unavailable"))
			s.hears("Second.")
			_ = s.Close(1000, "end_call")
		})), never, never},
		"Resumed": {in(begins, comesBack(func(s *socket) {
			s.send(ended("r1", "failed", "unavailable"), begun("r2", ""))
			s.wants("marker")
			s.send(ended("r2", "completed", ""))
		})), never, never},
		"LostTwice": {in(begins, comesBack(func(s *socket) {
			s.send(ended("r1", "failed", "unavailable"), begun("r3", ""), ended("r3", "failed", "unavailable"))
		})), never, never},
		"NothingFollows": {in(begins, comesBack(func(s *socket) { s.send(ended("r1", "failed", "unavailable")) })), never, soon},
		"NothingIsKnown": {in(begins, comesBack(func(*socket) {})), never, soon},
		"ResumedBeforeItsBeginningCame": {in(hears(func(*socket) {}), comesBack(func(s *socket) {
			s.wants("conversation.item.create")
			s.wants("conversation.item.retrieve")
			s.send(fmt.Sprintf(`{"type": "error", "event_id": "e", "error": {"code": "item_create_duplicate_id", "event_id": %q}}`,
				said.get()+".item"),
				fmt.Sprintf(`{"type": "conversation.item.retrieved", "event_id": "i", "item": {"id": %q}}`, said.get()))
			s.send(ended("r1", "failed", "unavailable"), begun("r2", ""))
			s.wants("marker")
			s.send(ended("r2", "completed", ""))
		})), never, never},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveSockets(t, row.talk...)
			client := open(t, s.URL, "k").WithWaits(row.settle, row.resume)
			conversation, err := client.ConnectURL(t.Context(), s.URL+"/v1/realtime/chat/ses_1?token=x")
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"First.", "Second."} {
				if err := conversation.Say(text); err != nil {
					t.Fatal(err)
				}
			}
			for event, err := range conversation.Events() {
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
				if event.Type == "response.created" && event.Response.ID == "r2" { // the second text must not come before
					if err := conversation.Send(map[string]string{"type": "marker"}); err != nil {
						t.Error(err)
					}
				}
			}
			if conversation.EndReason() != "end_call" {
				t.Errorf("it ended by %q", conversation.EndReason())
			}
		})
	}
}

// TestConversationRefusesAtOnce refuses what the service would close the socket for.
func TestConversationRefusesAtOnce(t *testing.T) {
	t.Parallel()
	s := serveSockets(t, func(s *socket) {
		s.send(created)
		if id := s.hears(strings.Repeat("é", 32_000)); id == "" {
			t.Error("no message")
		}
		_ = s.Close(websocket.StatusNormalClosure, "end_call")
	})
	conversation, err := s.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", strings.Repeat("é", 32_001)} {
		if err := conversation.Say(text); !parlance.IsReason(err, parlance.ReasonInvalidRequest) {
			t.Errorf("%d bytes were said: %v", len(text), err)
		}
	}
	large := map[string]string{"type": "session.update", "instructions": strings.Repeat("x", 1<<20)}
	if err := conversation.Send(large); !parlance.IsReason(err, parlance.ReasonInvalidRequest) {
		t.Errorf("a large event was sent: %v", err)
	}
	if err := conversation.Say(strings.Repeat("é", 32_000)); err != nil {
		t.Error(err)
	}
	if _, err := collect(conversation); err != nil {
		t.Error(err)
	}
}

// TestSilentSocket takes a socket for lost on which nothing comes, and none that is pinged.
func TestSilentSocket(t *testing.T) {
	t.Parallel()
	const limit = time.Second
	s := serveSockets(t,
		func(s *socket) {
			s.send(created)
			for until := time.Now().Add(2 * limit); time.Now().Before(until); {
				if err := s.Ping(s.CloseRead(s.ctx)); err != nil {
					t.Errorf("a socket that is pinged: %v", err)
				}
			}
			s.send(delta("1", "One"))
			<-s.ctx.Done()
		},
		func(s *socket) { <-s.ctx.Done() }, // does not even greet
		func(s *socket) { s.send(created); _ = s.Close(1000, "end_call") },
	)
	lost := 0
	client := open(t, s.URL, "k", func(o *parlance.Options) { o.OnReconnect = func(error) { lost++ } }).WithSilence(limit)
	conversation, err := client.ConnectURL(t.Context(), s.URL+"/v1/realtime/chat/ses_1?token=x")
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := collect(conversation); err != nil || strings.Join(ids, "") != "c1" || lost != 1 {
		t.Errorf("events %q, %v, lost %d times", ids, err, lost)
	}
}

// TestSocketRefusedForAWhile comes back when a proxy lets it again.
func TestSocketRefusedForAWhile(t *testing.T) {
	t.Parallel()
	tries := 0
	s := serveSockets(t, func(s *socket) { s.send(created) }, nil, func(s *socket) { s.send(created); _ = s.Close(1000, "end_call") })
	s.refuse = func(w http.ResponseWriter) {
		tries++
		w.Header().Set("Retry-After", "0.01")
		http.Error(w, "<html>", http.StatusTooManyRequests)
	}
	conversation, err := s.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(conversation); err != nil || tries != 1 {
		t.Errorf("after %d refusals: %v", tries, err)
	}
}
