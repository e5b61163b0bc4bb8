package parlance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	parlance "parlance.dev/parlance/sdk/go"
	"parlance.dev/parlance/server/problem"
)

// scripted is a server whose answers are a test's. agents[n] answers the n-th GetAgent, say[n] the
// n-th turn, follow[n] the n-th time that a turn is followed, watch[n] the n-th feed.
type scripted struct {
	parlancev1connect.UnimplementedAgentServiceHandler
	parlancev1connect.UnimplementedSessionServiceHandler
	parlancev1connect.UnimplementedWebhookServiceHandler
	*httptest.Server
	agents      []func() error
	say, follow []func(turnStream) error
	watch       []func(*connect.ServerStream[parlancev1.WatchEventsResponse]) error
	// there answers what is asked beside a silent stream.
	there func() error
	// status is that of the turn.
	status string
	// proxied are the first request that a proxy answers in place of the service, and the one behind
	// the last; empty: none.
	proxied []int

	mu       sync.Mutex
	headers  []http.Header
	said     int
	followed []string
	watched  []string
}

type turnStream = *connect.ServerStream[parlancev1.StreamTurnResponse]

func serve(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{}
	mux := http.NewServeMux()
	mux.Handle(parlancev1connect.NewAgentServiceHandler(s))
	mux.Handle(parlancev1connect.NewSessionServiceHandler(s))
	mux.Handle(parlancev1connect.NewWebhookServiceHandler(s))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.headers = append(s.headers, r.Header.Clone())
		n := len(s.headers) - 1
		s.mu.Unlock()
		if len(s.proxied) > 0 && n >= s.proxied[0] {
			if n >= s.proxied[1] {
				s.proxied = nil
			} else {
				http.Error(w, "<html>", http.StatusBadGateway)
				return
			}
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// cut loses every connection.
func (s *scripted) cut() error {
	s.CloseClientConnections()
	return nil
}

func (s *scripted) GetAgent(context.Context, *parlancev1.GetAgentRequest) (*parlancev1.Agent, error) {
	s.mu.Lock()
	n := len(s.headers)
	s.mu.Unlock()
	if err := s.agents[n-1](); err != nil {
		return nil, err
	}
	return &parlancev1.Agent{Id: "agt_1"}, nil
}

func (s *scripted) GetSession(context.Context, *parlancev1.GetSessionRequest) (*parlancev1.Session, error) {
	return &parlancev1.Session{}, s.there()
}

func (s *scripted) GetTurn(context.Context, *parlancev1.GetTurnRequest) (*parlancev1.Turn, error) {
	return &parlancev1.Turn{Status: s.status}, nil
}

func (s *scripted) ListEvents(context.Context, *parlancev1.ListEventsRequest) (*parlancev1.ListEventsResponse, error) {
	return &parlancev1.ListEventsResponse{}, s.there()
}

func (s *scripted) StreamTurn(_ context.Context, _ *parlancev1.StreamTurnRequest, stream turnStream) error {
	s.mu.Lock()
	s.said++
	n := s.said
	s.mu.Unlock()
	return s.say[n-1](stream)
}

func (s *scripted) FollowTurn(_ context.Context, req *parlancev1.FollowTurnRequest, stream turnStream) error {
	s.mu.Lock()
	s.followed = append(s.followed, req.GetTurnId()+" after "+req.GetLastEventId())
	n := len(s.followed)
	s.mu.Unlock()
	return s.follow[n-1](stream)
}

func (s *scripted) WatchEvents(
	_ context.Context, req *parlancev1.WatchEventsRequest, stream *connect.ServerStream[parlancev1.WatchEventsResponse],
) error {
	s.mu.Lock()
	s.watched = append(s.watched, req.GetAfter())
	n := len(s.watched)
	s.mu.Unlock()
	return s.watch[n-1](stream)
}

// refusal is an error of the service.
func refusal(reason fault.Reason, after time.Duration) error {
	return problem.ToConnect(&fault.Error{Reason: reason, Message: "No.", RetryAfter: after})
}

// TestRetries repeats calls that time may mend, under one key.
func TestRetries(t *testing.T) {
	t.Parallel()
	ok := func() error { return nil }
	refuse := func(reason fault.Reason, after time.Duration) func() error {
		return func() error { return refusal(reason, after) }
	}
	inFlight := refuse(fault.IdempotencyInFlight, 0)
	for name, row := range map[string]struct {
		answers []func() error
		calls   int
		want    parlance.Reason
	}{
		"OK":               {[]func() error{ok}, 1, ""},
		"UnavailableTwice": {[]func() error{refuse(fault.ServiceUnavailable, time.Nanosecond), refuse(fault.InternalError, 0), ok}, 3, ""},
		"Always": {
			[]func() error{refuse(fault.UpstreamFailed, 0), refuse(fault.UpstreamFailed, 0), refuse(fault.UpstreamFailed, 0)},
			3, parlance.ReasonUpstreamFailed,
		},
		"InFlight":     {[]func() error{inFlight, inFlight, inFlight, inFlight, ok}, 5, ""},
		"Final":        {[]func() error{refuse(fault.NameTaken, 0)}, 1, parlance.ReasonNameTaken},
		"AQuota":       {[]func() error{refuse(fault.RateLimitedReason, time.Hour)}, 1, parlance.ReasonRateLimited},
		"SomebodysEnd": {[]func() error{refuse(fault.CallerCanceled, 0)}, 1, parlance.ReasonCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.agents = row.answers
			_, err := open(t, s.URL, "prl_test").Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{AgentId: "agt_1"})
			if got := parlance.ReasonOf(err); got != row.want || len(s.headers) != row.calls {
				t.Fatalf("%d calls end with %q (%v), want %d and %q", len(s.headers), got, err, row.calls, row.want)
			}
			keys := map[string]bool{}
			for _, header := range s.headers {
				keys[header.Get("Idempotency-Key")] = true
				if header.Get("Authorization") != "Bearer prl_test" || header.Get("Parlance-Version") != parlance.APIVersion ||
					!strings.HasPrefix(header.Get("User-Agent"), "parlance-go/") {
					t.Errorf("the headers are %v", header)
				}
			}
			if len(keys) != 1 || keys[""] {
				t.Errorf("the keys are %v", keys)
			}
		})
	}
}

// TestRetryAfter waits as long as the service asks.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var asked, came time.Time
	s.agents = []func() error{
		func() error { asked = time.Now(); return refusal(fault.RateLimitedReason, time.Second) },
		func() error { came = time.Now(); return nil },
	}
	if _, err := open(t, s.URL, "k").Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{}); err != nil {
		t.Fatal(err)
	}
	if waited := came.Sub(asked); waited < time.Second {
		t.Errorf("it waited %s", waited)
	}
}

// TestLostCalls repeats a call whose connection broke, and gives up on a server that is not there.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.agents = []func() error{s.cut, func() error { return nil }}
	client := open(t, s.URL, "k")
	if _, err := client.Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{}); err != nil || len(s.headers) != 2 {
		t.Errorf("%d calls, %v", len(s.headers), err)
	}
	s.Close()
	_, err := client.Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{})
	failed, ok := errors.AsType[*parlance.Error](err)
	if !ok || failed.Reason != parlance.ReasonUnavailable || failed.Answered() {
		t.Errorf("got %#v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Agents.GetAgent(ctx, &parlancev1.GetAgentRequest{}); !parlance.IsReason(err, parlance.ReasonCanceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTimeout bounds each try, not all of them.
func TestTimeout(t *testing.T) {
	t.Parallel()
	s := serve(t)
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	s.agents = []func() error{func() error { <-stuck; return nil }, func() error { return nil }}
	client := open(t, s.URL, "k", func(o *parlance.Options) { o.Timeout = 2 * time.Second })
	if _, err := client.Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{}); err != nil || len(s.headers) != 2 {
		t.Errorf("%d calls, %v", len(s.headers), err)
	}
}

// send sends events, given as "delta" with a text or as a type; the first has the id first. "call"
// and "approval" are about one call, whose id is the same.
func send(t *testing.T, stream turnStream, first int, sent ...string) {
	t.Helper()
	for i, one := range sent {
		kind, delta, _ := strings.Cut(one, " ")
		event := &parlancev1.StreamTurnResponse{Type: "turn." + kind, TurnId: "turn_1", EventId: fmt.Sprint(first + i), Delta: delta}
		switch kind {
		case "call":
			call := &parlancev1.TurnClientToolCalled{Call: &parlancev1.ToolCall{Id: "call_1"}}
			event.Event = &parlancev1.StreamTurnResponse_ClientToolCalled{ClientToolCalled: call}
		case "approval":
			approval := &parlancev1.TurnApprovalRequested{Approval: &parlancev1.Approval{CallId: "call_1"}}
			event.Event = &parlancev1.StreamTurnResponse_ApprovalRequested{ApprovalRequested: approval}
		}
		if err := stream.Send(event); err != nil {
			t.Error(err)
		}
	}
}

// read runs a turn to its end and returns the ids of its events.
func read(ctx context.Context, client *parlance.Client, request *parlancev1.StreamTurnRequest) (ids string, err error) {
	for event, err := range client.StreamTurn(ctx, request) {
		if err != nil {
			return ids, err
		}
		ids += event.GetEventId()
	}
	return ids, nil
}

// TestTurns loses connections at each place of a turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	whole := func(t *testing.T, first int) func(turnStream) error {
		return func(stream turnStream) error {
			send(t, stream, first, []string{"started", "delta One", "delta two", "done"}[first-1:]...)
			return nil
		}
	}
	stopping := func(turnStream) error { return refusal(fault.ServiceUnavailable, time.Nanosecond) }
	for name, row := range map[string]struct {
		script   func(*testing.T, *scripted)
		request  *parlancev1.StreamTurnRequest
		ids      string
		said     int
		followed []string
		want     parlance.Reason
	}{
		"Whole": {script: func(t *testing.T, s *scripted) { s.say = append(s.say, whole(t, 1)) }, ids: "1234", said: 1},
		"InTheMiddle": {script: func(t *testing.T, s *scripted) {
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started", "delta One"); return s.cut() })
			s.follow = append(s.follow, stopping, whole(t, 3))
		}, ids: "1234", said: 1, followed: []string{"turn_1 after 2", "turn_1 after 2"}},
		"BeforeTheFirstEvent": {script: func(t *testing.T, s *scripted) {
			inFlight := func(turnStream) error { return refusal(fault.IdempotencyInFlight, 0) }
			s.say = append(s.say, func(turnStream) error { return s.cut() }, inFlight, inFlight, whole(t, 1))
		}, ids: "1234", said: 4},
		"FailedForGood": {script: func(t *testing.T, s *scripted) {
			s.status = "failed"
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started"); return stopping(stream) })
		}, ids: "1", said: 1, want: parlance.ReasonUnavailable},
		"WaitingCallsComeOnce": {script: func(t *testing.T, s *scripted) {
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started", "call", "approval"); return s.cut() })
			s.follow = append(s.follow,
				func(stream turnStream) error { send(t, stream, 4, "call", "approval"); return s.cut() },
				func(stream turnStream) error { send(t, stream, 6, "started", "call", "approval", "done"); return nil })
		}, ids: "1236789", said: 1, followed: []string{"turn_1 after 3", "turn_1 after 5"}},
		"AProxyInTheMiddle": {script: func(t *testing.T, s *scripted) {
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started"); return s.cut() })
			s.follow, s.proxied = append(s.follow, whole(t, 2)), []int{1, 5}
		}, ids: "1234", said: 1, followed: []string{"turn_1 after 1"}},
		"AProxyAtTheBeginning": {script: func(_ *testing.T, s *scripted) { s.proxied = []int{0, 3} }, want: parlance.ReasonUnavailable},
		"StoppingAtTheBeginning": {script: func(_ *testing.T, s *scripted) {
			s.say = slices.Repeat([]func(turnStream) error{stopping}, 3)
		}, said: 3, want: parlance.ReasonUnavailable},
		"AnotherServerBeginsAgain": {script: func(t *testing.T, s *scripted) {
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started", "started", "delta", "done"); return nil })
		}, ids: "1234", said: 1},
		"Refused": {script: func(_ *testing.T, s *scripted) {
			s.say = append(s.say, func(turnStream) error { return refusal(fault.SessionClosed, 0) })
		}, said: 1, want: parlance.ReasonSessionClosed},
		"FailedInTheMiddle": {script: func(t *testing.T, s *scripted) {
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started"); return refusal(fault.NotImplemented, 0) })
		}, ids: "1", said: 1, want: parlance.ReasonNotImplemented},
		"Resumed": {script: func(t *testing.T, s *scripted) {
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 3, "delta two"); return s.cut() })
			s.follow = append(s.follow, whole(t, 4))
		}, request: &parlancev1.StreamTurnRequest{LastEventId: "2"}, ids: "34", said: 1, followed: []string{"turn_1 after 3"}},
		"ResumedBehindItsEnd": {
			script:  func(_ *testing.T, s *scripted) { s.say = append(s.say, func(turnStream) error { return nil }) },
			request: &parlancev1.StreamTurnRequest{LastEventId: "4"}, said: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			row.script(t, s)
			ids, err := read(t.Context(), open(t, s.URL, "k"), row.request)
			if ids != row.ids || parlance.ReasonOf(err) != row.want || s.said != row.said || !slices.Equal(s.followed, row.followed) {
				t.Errorf("events %q, %v; said %d times, followed %q", ids, err, s.said, s.followed)
			}
			keys := map[string]bool{}
			for _, header := range s.headers[:s.said] {
				keys[header.Get("Idempotency-Key")] = true
			}
			if s.said > 0 && (len(keys) != 1 || keys[""] != (row.request.GetLastEventId() != "")) {
				t.Errorf("the keys of the words are %v", keys)
			}
		})
	}
}

// TestTurnsThatAreLeft ends the stream when the loop is left, and the loop when the context ends.
func TestTurnsThatAreLeft(t *testing.T) {
	t.Parallel()
	s := serve(t)
	gone := make(chan struct{}, 2)
	s.say = slices.Repeat([]func(turnStream) error{func(stream turnStream) error {
		send(t, stream, 1, "started")
		for stream.Send(&parlancev1.StreamTurnResponse{Type: "turn.delta", TurnId: "turn_1", EventId: "2"}) == nil {
		}
		gone <- struct{}{}
		return nil
	}}, 2)
	client := open(t, s.URL, "k")
	for range client.StreamTurn(t.Context(), nil) {
		break
	}
	<-gone
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range client.StreamTurn(ctx, nil) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the loop ended with %v", last)
	}
	<-gone
}

// TestTurnGivesUp tries for ReconnectFor, and not at all when that is negative.
func TestTurnGivesUp(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"AfterAWhile": 300 * time.Millisecond, "AtOnce": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			lost := 0
			s.say = append(s.say, func(stream turnStream) error {
				send(t, stream, 1, "started")
				_ = s.Listener.Close() // refuses new connections
				return s.cut()
			})
			client := open(t, s.URL, "k", func(o *parlance.Options) { o.ReconnectFor = limit; o.OnReconnect = func(error) { lost++ } })
			ids, err := read(t.Context(), client, nil)
			if ids != "1" || !parlance.IsReason(err, parlance.ReasonUnavailable) || lost != map[bool]int{true: 1}[limit > 0] {
				t.Errorf("events %q, %v, lost %d times", ids, err, lost)
			}
		})
	}
}

// TestWatchEvents comes back behind the last event, and stops at an end for good.
func TestWatchEvents(t *testing.T) {
	t.Parallel()
	s := serve(t)
	type feed = *connect.ServerStream[parlancev1.WatchEventsResponse]
	event := func(stream feed, cursor string) {
		answer := &parlancev1.WatchEventsResponse{Cursor: cursor}
		if !strings.HasSuffix(cursor, "0") {
			answer.Event = &parlancev1.Event{EventId: cursor}
		}
		if err := stream.Send(answer); err != nil {
			t.Error(err)
		}
	}
	s.watch = append(s.watch,
		func(stream feed) error { event(stream, "10"); return s.cut() }, // lost before anything happened
		func(stream feed) error {
			event(stream, "10")
			event(stream, "11")
			return refusal(fault.ServiceUnavailable, time.Nanosecond)
		},
		func(stream feed) error { event(stream, "11"+"0"); event(stream, "12"); return nil },
		func(feed) error { return refusal(fault.EventsCursorExpired, 0) },
	)
	var got []string
	var last error
	for answer, err := range open(t, s.URL, "k").WatchEvents(t.Context(), &parlancev1.WatchEventsRequest{After: "9"}) {
		if last = err; err == nil {
			got = append(got, answer.GetEvent().GetEventId())
		}
	}
	if !slices.Equal(got, []string{"11", "12"}) || !slices.Equal(s.watched, []string{"9", "10", "11", "12"}) ||
		!parlance.IsReason(last, parlance.ReasonEventsCursorExpired) {
		t.Errorf("got %q from behind %q, then %v", got, s.watched, last)
	}
}
