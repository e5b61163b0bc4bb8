package discover_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model/discover"
	"parlance.dev/parlance/test/fake/openaichat"
)

// serving starts a server that answers one path.
func serving(t *testing.T, path, body string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestAmong(t *testing.T) {
	t.Parallel()
	ollama := serving(t, "GET /api/tags", `{"models":[
		{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
		{"name":"odd:latest","details":{"family":"bert"}},
		{"name":"llama3.2:3b","details":{"family":"llama"}},
		{"name":"qwen3:8b","details":{"family":"qwen3"}}]}`)
	studio := serving(t, "GET /v1/models", `{"object":"list","data":[{"id":"text-embedding-nomic"},{"id":"gemma-3","type":"llm"}]}`)
	embedder := serving(t, "GET /v1/models", `{"object":"list","data":[{"id":"BAAI/bge-m3"}]}`)
	stranger := serving(t, "GET /v1/models", `<html>Jenkins</html>`)
	other := serving(t, "GET /v1/models", `{"data":[{"id":"something"}]}`)
	fake := openaichat.New(t).BaseURL
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	got, err := discover.Among(t.Context(), &http.Client{}, 5*time.Second, []discover.Place{
		{Product: "Ollama", URL: ollama, Tags: true},
		{Product: "silent", URL: silent.URL},
		{Product: "LM Studio", URL: studio + "/"},
		{Product: "embedder", URL: embedder},
		{Product: "stranger", URL: stranger},
		{Product: "other", URL: other},
		{Product: "nobody", URL: "http://127.0.0.1:1"},
		{Product: "vLLM", URL: fake[:len(fake)-len("/v1")]},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []discover.Found{
		{Product: "Ollama", BaseURL: ollama + "/v1", Model: "llama3.2:3b", Models: []string{"llama3.2:3b", "qwen3:8b"}},
		{Product: "LM Studio", BaseURL: studio + "/v1", Model: "gemma-3", Models: []string{"gemma-3"}},
		{Product: "vLLM", BaseURL: fake, Model: openaichat.Model, Models: []string{openaichat.Model}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestAmongEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := discover.Among(ctx, &http.Client{}, discover.Timeout, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
