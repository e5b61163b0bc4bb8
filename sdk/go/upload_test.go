package parlance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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

// TestUploads refuses and loses uploads.
func TestUploads(t *testing.T) {
	t.Parallel()
	refuse := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "detail": "No.", "request_id": "req"})
		}
	}
	take := func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := io.ReadAll(file)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"id": "src_1", "name": %q, "later": 1}`, fmt.Sprint(len(text), err, text[0], text[len(text)-1]))
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	half := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
		cut(w, r)
	}
	proxy := func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>", http.StatusRequestEntityTooLarge)
	}
	for name, row := range map[string]struct {
		answers []http.HandlerFunc
		pipe    bool
		want    parlance.Reason
		status  int
	}{
		"OK":         {answers: []http.HandlerFunc{take}},
		"Cut":        {answers: []http.HandlerFunc{half, cut, take}},
		"Busy":       {answers: []http.HandlerFunc{refuse(503, "unavailable"), refuse(409, "idempotency-key-in-flight"), take}},
		"APipeIsCut": {answers: []http.HandlerFunc{half}, pipe: true, want: parlance.ReasonUnavailable},
		"TooLarge": {
			answers: []http.HandlerFunc{refuse(402, "quota-exceeded-kb-upload-size")},
			want:    parlance.ReasonQuotaExceededKBUploadSize, status: 402,
		},
		"AProxysLimit": {answers: []http.HandlerFunc{proxy}, want: parlance.ReasonBodyTooLarge, status: 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				row.answers[len(keys)-1](w, r)
			}))
			defer srv.Close()
			content := "<" + strings.Repeat("a", 3<<20) + ">"
			var file io.Reader = strings.NewReader("skipped" + content)
			_, _ = io.CopyN(io.Discard, file, 7)
			if row.pipe {
				file = io.MultiReader(file)
			}
			client := open(t, srv.URL, "k")
			source, err := client.Upload(t.Context(), file, parlance.UploadParams{WorkspaceID: "ws_1", Filename: `C:\a\b.md`})
			if len(keys) != len(row.answers) || len(slices.Compact(keys)) != 1 || keys[0] == "" {
				t.Errorf("the keys are %q", keys)
			}
			if row.want == "" && (err != nil || source.GetName() != fmt.Sprint(len(content), nil, '<', '>')) {
				t.Errorf("stored %v, %v", source, err)
			}
			if row.want == "" {
				return
			}
			refused, ok := errors.AsType[*parlance.Error](err)
			if !ok || refused.Reason != row.want || refused.HTTPStatus != row.status {
				t.Errorf("got %#v", err)
			}
		})
	}
}
