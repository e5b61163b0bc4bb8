package rerank_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/rerank"
	fake "parlance.dev/parlance/test/fake/rerank"
)

func open(t *testing.T, url, key string) *rerank.Server {
	t.Helper()
	return openFor(t, url, key, time.Minute)
}

// openFor is a server that has so much time to answer.
func openFor(t *testing.T, url, key string, timeout time.Duration) *rerank.Server {
	t.Helper()
	server, err := rerank.New(rerank.Deps{BaseURL: url, APIKey: key, Model: fake.Model, Timeout: timeout, Client: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func TestRerank(t *testing.T) {
	t.Parallel()
	server := fake.Start(t)
	documents := []string{"wine and bread", "boat, boat", "a boat"}
	ranked, err := open(t, server.URL, fake.APIKey).Rerank(t.Context(), "hire a boat", documents)
	if diff := cmp.Diff(ranked, []rerank.Ranked{{1, 2}, {2, 1}, {0, 0}}); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	if ranked, err := open(t, server.URL, fake.APIKey).Rerank(t.Context(), "a", nil); err != nil || ranked != nil || len(server.Asked()) != 1 {
		t.Errorf("nothing to order: got %v, %v after %d calls", ranked, err, len(server.Asked()))
	}
}

// TestTextEmbeddingsInference: the first call finds out what the server takes, and the others know.
func TestTextEmbeddingsInference(t *testing.T) {
	t.Parallel()
	server := fake.StartTEI(t)
	client := open(t, server.URL, "")
	want := []rerank.Ranked{{1, 2. / 3}, {2, 0.5}, {0, 0}}
	for range 2 {
		ranked, err := client.Rerank(t.Context(), "hire a boat", []string{"wine and bread", "boat, boat", "a boat"})
		if diff := cmp.Diff(ranked, want, cmpopts.EquateApprox(0, 1e-9)); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	}
	bodies := server.Bodies()
	if len(bodies) != 3 || strings.Contains(bodies[0], `"texts"`) || !strings.Contains(bodies[1], `"texts"`) ||
		!strings.Contains(bodies[2], `"texts"`) || !strings.Contains(bodies[2], `"truncate":true`) {
		t.Errorf("it was asked with %q", bodies)
	}
	if _, err := client.Rerank(t.Context(), "a boat", make([]string, 33)); !fault.IsReason(err, fault.UpstreamFailed) {
		t.Errorf("more texts than it takes: got %v", err)
	}
}

// TestOddAnswers are answers with status 200: those of other servers' habits, and those without
// sense.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, answer, says string
		want               []rerank.Ranked
	}{
		{"under data", `{"data":[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":0.9}]}`, "", []rerank.Ranked{{0, 0.9}, {1, 0.5}}},
		{"as score", `{"results":[{"index":1,"score":-3},{"index":0,"score":-7}]}`, "", []rerank.Ranked{{1, -3}, {0, -7}}},
		{"a bare list", `[{"index":1,"score":0.9},{"index":0,"score":0.1}]`, "", []rerank.Ranked{{1, 0.9}, {0, 0.1}}},
		{"a list of something else", `["a"]`, "something other than results", nil},
		{"an empty list", `[]`, "no results", nil},
		{"one left out", `{"results":[{"index":1,"relevance_score":0.5}]}`, "", []rerank.Ranked{{1, 0.5}, {0, 0.5}}},
		{"no JSON", "<html>", "something other than results", nil},
		{"an error", `{"error":{"message":"private words"}}`, "no results", nil},
		{"twice", `{"results":[{"index":1,"relevance_score":1},{"index":1,"relevance_score":1}]}`, "wrongly", nil},
		{"out of range", `{"results":[{"index":2,"relevance_score":1}]}`, "wrongly", nil},
		{"negative", `{"results":[{"index":-1,"relevance_score":1}]}`, "wrongly", nil},
		{"without a score", `{"results":[{"index":0}]}`, "wrongly", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, row.answer) }))
			t.Cleanup(server.Close)
			got, err := open(t, server.URL, "").Rerank(t.Context(), "q", []string{"a", "b"})
			if row.says == "" {
				if diff := cmp.Diff(got, row.want); err != nil || diff != "" {
					t.Errorf("%v: %s", err, diff)
				}
				return
			}
			if !fault.IsReason(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "private") {
				t.Errorf("got %v, want upstream-failed saying %q", err, row.says)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	server := fake.Start(t)
	if _, err := open(t, server.URL, "wrong").Rerank(
		t.Context(), "secret words", []string{"a"},
	); !fault.IsReason(err, fault.UpstreamFailed) || strings.Contains(err.Error(), "secret") {
		t.Errorf("wrong key: got %v", err)
	}
	server.Hang()
	begun := time.Now()
	if _, err := openFor(
		t, server.URL, fake.APIKey, 300*time.Millisecond,
	).Rerank(t.Context(), "a", []string{"a"}); !fault.IsReason(err, fault.UpstreamFailed) || time.Since(begun) > 30*time.Second {
		t.Errorf("slow: got %v after %v", err, time.Since(begun))
	}
	for name, deps := range map[string]rerank.Deps{
		"no base": {Model: "m", Client: &http.Client{}}, "no model": {BaseURL: "http://localhost/v1", Client: &http.Client{}},
		"no client": {BaseURL: "http://localhost/v1", Model: "m"}, "no scheme": {BaseURL: "localhost:1/v1", Model: "m", Client: &http.Client{}},
	} {
		if _, err := rerank.New(deps); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
