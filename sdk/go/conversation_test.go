package parlance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	parlance "parlance.dev/parlance/sdk/go"
)

// socketServer is a service whose sockets are a test's: talk[n] has the n-th connection.
type socketServer struct {
	*httptest.Server
	talk []func(*socket)
	// urls are those of the connections, without the token.
	urls []string
	// refuse answers in place of a missing talk; nil: the session is over.
	refuse func(http.ResponseWriter)
}

// socket is one connection, as the service has it.
type socket struct {
	*websocket.Conn
	t   *testing.T
	ctx context.Context
}

func (s *socket) send(events ...string) {
	for _, event := range events {
		if err := s.Write(s.ctx, websocket.MessageText, []byte(event)); err != nil {
			s.t.Errorf("send %s: %v", event, err)
		}
	}
}

// sent is an event of the client.
type sent struct {
	Type    string
	EventID string `json:"event_id"`
	ItemID  string `json:"item_id"`
	Audio   []byte
	Item    struct {
		ID      string
		Content []struct{ Text string }
	}
	Response struct{ Metadata map[string]string }
}

// wants reads an event of the client.
func (s *socket) wants(kind string) sent {
	s.t.Helper()
	var event sent
	_, text, err := s.Read(s.ctx)
	if err == nil {
		err = json.Unmarshal(text, &event)
	}
	if err != nil || event.Type != kind {
		s.t.Errorf("got %s, %v, want %s", text, err, kind)
	}
	return event
}

func serveSockets(t *testing.T, talk ...func(*socket)) *socketServer {
	t.Helper()
	s := &socketServer{talk: talk}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.urls = append(s.urls, r.URL.Query().Get("last_event_id"))
		n := len(s.urls)
		if missing := n > len(s.talk) || s.talk[n-1] == nil; missing && s.refuse != nil {
			s.refuse(w)
			return
		} else if missing {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			_ = json.NewEncoder(w).Encode(map[string]string{"code": "session-closed", "detail": "It is over."})
			return
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.CloseNow() }()
		conn.SetReadLimit(1 << 20) // as the service has it
		s.talk[n-1](&socket{conn, t, r.Context()})
	}))
	t.Cleanup(s.Close)
	return s
}

// connect opens a conversation with the server.
func (s *socketServer) connect(t *testing.T) (*parlance.Conversation, error) {
	t.Helper()
	address := "ws" + strings.TrimPrefix(s.URL, "http") + "/v1/realtime/chat/ses_1?token=secretsecret"
	return open(t, s.URL, "k").ConnectURL(t.Context(), address)
}

// created is the first event of a connection.
const created = `{"type": "session.created", "event_id": "c"}`

func delta(id, text string) string {
	return fmt.Sprintf(`{"type": "response.output_text.delta", "event_id": %q, "delta": %q}`, id, text)
}

// collect reads a conversation to its end: the ids of its events, and its error.
func collect(conversation *parlance.Conversation) (ids []string, err error) {
	for event, err := range conversation.Events() {
		if err != nil {
			return ids, err
		}
		ids = append(ids, event.ID)
	}
	return ids, nil
}

// TestConversationResumes loses connections in each way that is followed by another one.
func TestConversationResumes(t *testing.T) {
	t.Parallel()
	s := serveSockets(t,
		func(s *socket) {
			s.send(created, delta("1", "One "), `{"type": "response.output_audio.delta", "event_id": "s", "delta": "AAEC"}`)
			s.wants("session.update")
		}, // the network
		func(s *socket) {
			s.send(`{"type": "session.created", "event_id": "c2"}`)
			s.wants("session.update")
			s.send(delta("2", "two "))
			_ = s.Close(1012, "reconnect")
		},
		func(s *socket) { _ = s.Close(1011, "internal_error") },
		func(s *socket) { s.send(created, delta("3", "three.")); _ = s.Close(4429, "flood") },
		func(s *socket) { s.send(created); _ = s.Close(1000, "end_call") },
	)
	conversation, err := s.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	if err := conversation.Send(map[string]any{"type": "session.update", "session": map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	ids, err := collect(conversation)
	if err != nil || !slices.Equal(ids, []string{"c", "1", "s", "2", "3"}) || conversation.EndReason() != "end_call" {
		t.Errorf("events %q, %v, ended by %q", ids, err, conversation.EndReason())
	}
	if !slices.Equal(s.urls, []string{"", "1", "2", "2", "3"}) {
		t.Errorf("it came back behind %q", s.urls)
	}
	if err := conversation.Say("x"); !errors.Is(err, parlance.ErrConversationOver) {
		t.Errorf("said after the end: %v", err)
	}
	conversation.Close()
}

// TestConversationThatBeginsLate passes the beginning on when the first connections bring nothing.
func TestConversationThatBeginsLate(t *testing.T) {
	t.Parallel()
	cut := func(s *socket) { _ = s.CloseNow() }
	s := serveSockets(t, cut, nil, nil, nil, nil, cut,
		func(s *socket) { s.send(created, delta("1", "One")) },
		func(s *socket) { s.send(created, delta("2", "two.")); _ = s.Close(1000, "end_call") })
	s.refuse = func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusBadGateway) }
	conversation, err := s.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := collect(conversation); err != nil || !slices.Equal(ids, []string{"c", "1", "2"}) {
		t.Errorf("events %q, %v", ids, err)
	}
}

// TestConversationEnds ends for good.
func TestConversationEnds(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		code   websocket.StatusCode
		reason string
		want   string
	}{
		"Failed":          {1011, "max_tokens", "1011 max_tokens"},
		"Replaced":        {4409, "replaced", "4409 replaced"},
		"Closed":          {1008, "session-closed", "1008 session-closed"},
		"TooLarge":        {1009, "frame_too_large", "1009 frame_too_large"},
		"ClosedMeanwhile": {1012, "reconnect", "session-closed: It is over."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSockets(t, func(s *socket) { s.send(created); _ = s.Close(row.code, row.reason) })
			conversation, err := s.connect(t)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := collect(conversation); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// TestConversationRefused explains a handshake that was refused, without the token.
func TestConversationRefused(t *testing.T) {
	t.Parallel()
	s := serveSockets(t, nil)
	_, err := s.connect(t)
	if refused, ok := errors.AsType[*parlance.Error](err); !ok || refused.Reason != parlance.ReasonSessionClosed || refused.HTTPStatus != 409 {
		t.Errorf("got %#v", err)
	}
	s.Close()
	_, err = s.connect(t)
	shown := fmt.Sprintf("%v %+v", err, errors.Unwrap(err))
	if !parlance.IsReason(err, parlance.ReasonUnavailable) || strings.Contains(shown, "secretsecret") {
		t.Errorf("nobody there: %v", err)
	}
	client := open(t, s.URL, "k")
	if _, err := client.ConnectURL(t.Context(), "ws://\x7f?token=secretsecret"); err == nil || strings.Contains(err.Error(), "secretsecret") {
		t.Errorf("no URL: %v", err)
	}
}

// TestConversationSaysOnce loses the connection behind a message: it is sent again under its id,
// and the answer is asked for again only when none comes.
func TestConversationSaysOnce(t *testing.T) {
	t.Parallel()
	answer := func(id string) string {
		return fmt.Sprintf(`{"type": "response.created", "event_id": "r", "response": {"id": "resp_1",
			"metadata": {"parlance_request": %q}}}`, id)
	}
	added := func(id string) string {
		return fmt.Sprintf(`{"type": "conversation.item.added", "event_id": "a", "item": {"id": %q}}`, id)
	}
	failed := func(id, code string) string {
		return fmt.Sprintf(`{"type": "error", "event_id": "e", "error": {"code": %q, "event_id": %q}}`, code, id)
	}
	retrieved := func(id string) string {
		return fmt.Sprintf(`{"type": "conversation.item.retrieved", "event_id": "i", "item": {"id": %q}}`, id)
	}
	ends := func(s *socket) { _ = s.Close(1000, "end_call") }
	var said shared
	first := func(s *socket) { // loses the connection behind the message
		s.send(created)
		said.set(s.wants("conversation.item.create").Item.ID)
		s.wants("response.create")
	}
	for name, second := range map[string]func(*socket){
		"Nothing arrived": func(s *socket) {
			s.send(created)
			if again := s.wants("conversation.item.create"); again.Item.ID != said.get() || again.Item.Content[0].Text != "Hello." {
				t.Errorf("sent %v", again)
			}
			s.wants("conversation.item.retrieve")
			s.send(added(said.get()), retrieved(said.get()))
			s.wants("response.create")
			s.send(answer(said.get()))
			ends(s)
		},
		"The message arrived": func(s *socket) {
			s.send(created, added(said.get()))
			s.wants("conversation.item.create")
			s.wants("conversation.item.retrieve")
			s.send(failed(said.get()+".item", "item_create_duplicate_id"), retrieved(said.get()))
			s.wants("response.create") // after a while without an answer
			s.send(answer(said.get()))
			ends(s)
		},
		"The answer has begun": func(s *socket) {
			s.send(created)
			s.wants("conversation.item.create")
			s.wants("conversation.item.retrieve")
			s.send(added(said.get()), answer(said.get()), failed(said.get()+".item", "item_create_duplicate_id"), retrieved(said.get()))
			ends(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveSockets(t, first, second)
			client := open(t, s.URL, "k").WithWaits(50*time.Millisecond, time.Hour)
			conversation, err := client.ConnectURL(t.Context(), s.URL+"/v1/realtime/chat/ses_1?token=x")
			if err != nil {
				t.Fatal(err)
			}
			if err := conversation.Say("Hello."); err != nil {
				t.Fatal(err)
			}
			ids, err := collect(conversation)
			if slices.Contains(ids, "i") || slices.Contains(ids, "e") || !slices.Contains(ids, "r") || err != nil {
				t.Errorf("events %q, %v", ids, err)
			}
		})
	}
}

// TestConversationSaysLater says something while there is no connection: it is said on the next
// one.
func TestConversationSaysLater(t *testing.T) {
	t.Parallel()
	said := make(chan struct{})
	s := serveSockets(t, func(s *socket) { s.send(created) }, func(s *socket) {
		<-said
		s.send(created)
		id := s.wants("conversation.item.create").Item.ID
		if s.wants("response.create").Response.Metadata["parlance_request"] != id {
			t.Error("the answer is asked for without the message")
		}
		_ = s.Close(1000, "end_call")
	})
	address := "ws" + strings.TrimPrefix(s.URL, "http") + "/v1/realtime/chat/ses_1?token=x"
	lost := make(chan struct{})
	client := open(t, s.URL, "k", func(o *parlance.Options) { o.OnReconnect = func(error) { close(lost); <-said } })
	conversation, err := client.ConnectURL(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-lost
		if err := conversation.Say("Hello."); err != nil {
			t.Error(err)
		}
		close(said)
	}()
	if ids, err := collect(conversation); err != nil || !slices.Equal(ids, []string{"c"}) {
		t.Errorf("events %q, %v", ids, err)
	}
}

// TestConversationCloses hangs up with 1000, and leaves with another code, also when nobody reads.
func TestConversationCloses(t *testing.T) {
	t.Parallel()
	for code, leave := range map[websocket.StatusCode]func(*parlance.Conversation){
		1000: (*parlance.Conversation).Close, 4001: (*parlance.Conversation).Leave,
	} {
		closed := make(chan websocket.StatusCode, 1)
		s := serveSockets(t, func(s *socket) {
			s.send(created, delta("1", "One"))
			for {
				if _, _, err := s.Read(s.ctx); err != nil {
					closed <- websocket.CloseStatus(err)
					return
				}
			}
		})
		conversation, err := s.connect(t)
		if err != nil {
			t.Fatal(err)
		}
		leave(conversation)
		leave(conversation)
		if got := <-closed; got != code {
			t.Errorf("closed with %d, want %d", got, code)
		}
		if ids, err := collect(conversation); err != nil || len(ids) > 2 {
			t.Errorf("then %q, %v", ids, err)
		}
		if err := conversation.SendAudio([]byte{1, 2}); !errors.Is(err, parlance.ErrConversationOver) {
			t.Errorf("sound after the end: %v", err)
		}
	}
}
