package parlance_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	parlance "parlance.dev/parlance/sdk/go"
)

// blocked is a file that gives some bytes, tells that it is read on, and then blocks.
type blocked struct {
	first   int
	reached chan<- struct{}
	release <-chan struct{}
}

func (b *blocked) Read(p []byte) (int, error) {
	if b.first > 0 {
		n := min(len(p), b.first)
		b.first -= n
		return n, nil
	}
	close(b.reached)
	<-b.release
	return 0, io.EOF
}

// TestUploadOfABlockedFile ends at once, whatever ends it.
func TestUploadOfABlockedFile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		refuse  bool
		timeout time.Duration
		want    parlance.Reason
	}{
		"Canceled": {timeout: -1, want: parlance.ReasonCanceled},
		"Stalled":  {timeout: silent, want: parlance.ReasonDeadlineExceeded},
		"Refused":  {refuse: true, timeout: -1, want: parlance.ReasonBodyTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, release := make(chan struct{}), make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !row.refuse {
					_, _ = io.Copy(io.Discard, r.Body)
					return
				}
				_, _ = io.CopyN(io.Discard, r.Body, 1<<20) // else the client is still sending when it is cut off
				<-reached
				w.Header().Set("Connection", "close")
				http.Error(w, "<html>", http.StatusRequestEntityTooLarge)
			}))
			defer s.Close()
			defer close(release)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "Canceled" {
				go func() { <-reached; cancel() }()
			}
			client := open(t, s.URL, "k", func(o *parlance.Options) { o.Timeout = row.timeout })
			_, err := client.Upload(ctx, &blocked{first: 1 << 20, reached: reached, release: release}, parlance.UploadParams{
				WorkspaceID: "ws_1", Filename: "a.md",
			})
			if !parlance.IsReason(err, row.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestUploadOfABrokenFile fails with what the file says, once.
func TestUploadOfABrokenFile(t *testing.T) {
	t.Parallel()
	came := 0
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came++
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer s.Close()
	oops := errors.New("oops")
	in, out := io.Pipe()
	go func() {
		_, _ = out.Write(make([]byte, 1<<20)) // else the read fails, too
		_ = out.CloseWithError(oops)
	}()
	_, err := open(t, s.URL, "k").Upload(t.Context(), in, parlance.UploadParams{WorkspaceID: "ws_1", Filename: "a.md"})
	if !errors.Is(err, oops) || came != 1 {
		t.Errorf("got %v, %d requests", err, came)
	}
}
