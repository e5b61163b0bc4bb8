package parlance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
)

// silent is short, and the streams of these tests are silent until their client has gone.
const silent = time.Second

// TestSilentTurn goes on with a turn whose stream is silent. It is lost only when the service does
// not answer anything else either.
func TestSilentTurn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		there func(stuck <-chan struct{}) error
		lost  int32
	}{
		"There":   {func(<-chan struct{}) error { return nil }, 0},
		"Refuses": {func(<-chan struct{}) error { return refusal(fault.AuthScope, 0) }, 0},
		"Gone":    {func(stuck <-chan struct{}) error { <-stuck; return nil }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			stuck := make(chan struct{})
			t.Cleanup(func() { close(stuck) })
			s.there = func() error { return row.there(stuck) }
			s.say = append(s.say, func(stream turnStream) error { send(t, stream, 1, "started", "delta One"); <-stuck; return nil })
			s.follow = append(s.follow, func(stream turnStream) error { send(t, stream, 3, "delta two", "done"); return nil })
			var lost atomic.Int32
			client := open(t, s.URL, "k", func(o *parlance.Options) { o.OnReconnect = func(error) { lost.Add(1) } }).WithSilence(silent)
			ids, err := read(t.Context(), client, nil)
			if ids != "1234" || err != nil || lost.Load() != row.lost || !slices.Equal(s.followed, []string{"turn_1 after 2"}) {
				t.Errorf("events %q, %v, lost %d times, followed %q", ids, err, lost.Load(), s.followed)
			}
		})
	}
}

// counted counts the requests of a client by the last part of their paths.
type counted struct{ came chan string }

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case c.came <- path.Base(r.URL.Path):
	default: // nobody counts any more
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestSlowTurn follows a turn of a real service again and again while its model is slow, before its
// first word and behind it.
func TestSlowTurn(t *testing.T) {
	t.Parallel()
	g := startGated(t, "One ", "two.")
	requests := counted{make(chan string, 1000)}
	client := open(t, g.URL, g.Tenant.Admin, func(o *parlance.Options) {
		o.HTTPClient = &http.Client{Transport: requests}
		o.OnReconnect = func(lost error) { t.Errorf("lost: %v", lost) }
	}).WithSilence(silent)
	session, err := client.Sessions.CreateSession(t.Context(), g.request())
	if err != nil {
		t.Fatal(err)
	}
	var speaking sync.WaitGroup
	speaking.Go(func() {
		for range 2 { // each word comes when the turn was followed twice more
			for followed := 0; followed < 2; {
				if <-requests.came == "FollowTurn" {
					followed++
				}
			}
			g.gate <- struct{}{}
		}
	})
	var text strings.Builder
	for event, err := range client.StreamTurn(t.Context(), &parlancev1.StreamTurnRequest{SessionId: session.GetId(), Text: "Count."}) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(event.GetDelta())
	}
	speaking.Wait()
	if text.String() != "One two." {
		t.Errorf("got %q", text.String())
	}
}

// TestSilentServiceIsGivenUp gives up on a proxy that takes everything and answers nothing.
func TestSilentServiceIsGivenUp(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	client := open(t, s.URL, "k", func(o *parlance.Options) { o.ReconnectFor = silent }).WithSilence(silent)
	if ids, err := read(t.Context(), client, nil); ids != "" || !parlance.IsReason(err, parlance.ReasonUnavailable) {
		t.Errorf("a turn: %q, %v", ids, err)
	}
	for _, err := range client.WatchEvents(t.Context(), &parlancev1.WatchEventsRequest{}) {
		if !parlance.IsReason(err, parlance.ReasonUnavailable) {
			t.Errorf("a feed: %v", err)
		}
	}
}

// TestSilentFeed opens a feed again that was silent, behind its last event.
func TestSilentFeed(t *testing.T) {
	t.Parallel()
	type feed = *connect.ServerStream[parlancev1.WatchEventsResponse]
	s := serve(t)
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	s.there = func() error { return nil }
	s.watch = append(s.watch,
		func(stream feed) error {
			err := stream.Send(&parlancev1.WatchEventsResponse{Cursor: "10"})
			<-stuck
			return err
		},
		func(feed) error { return refusal(fault.EventsCursorExpired, 0) },
	)
	var last error
	never := func(o *parlance.Options) { o.OnReconnect = func(lost error) { t.Errorf("lost: %v", lost) } }
	client := open(t, s.URL, "k", never).WithSilence(silent)
	for _, err := range client.WatchEvents(t.Context(), &parlancev1.WatchEventsRequest{After: "9"}) {
		last = err
	}
	if !parlance.IsReason(last, parlance.ReasonEventsCursorExpired) || !slices.Equal(s.watched, []string{"9", "10"}) {
		t.Errorf("watched from %q, %v", s.watched, last)
	}
}

// TestSilentUpload repeats an upload in which nothing moves.
func TestSilentUpload(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	var came atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if came.Add(1) == 1 {
			<-stuck
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id": "src_1"}`)
	}))
	defer s.Close()
	defer close(stuck)
	client := open(t, s.URL, "k", func(o *parlance.Options) { o.Timeout = silent; o.MaxRetries = 1 })
	file := strings.NewReader(strings.Repeat("x", 1<<20))
	source, err := client.Upload(t.Context(), file, parlance.UploadParams{WorkspaceID: "ws_1", Filename: "a.md"})
	if err != nil || source.GetId() != "src_1" || came.Load() != 2 {
		t.Errorf("stored %v, %v, at the %d. time", source, err, came.Load())
	}
}
