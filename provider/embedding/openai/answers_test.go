package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/openai"
)

// TestOddAnswers are answers with status 200 that hold no usable vectors.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, answer, says string }{
		{"no JSON", "<html>", "something other than vectors"},
		{"base64", `{"data":[{"index":0,"embedding":"AACAPw=="}]}`, "something other than vectors"},
		{"an error", `{"error":{"message":"private words"}}`, "0 vectors for 2 texts"},
		{"one short", `{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors for 2 texts"},
		{"same number twice", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "numbered its vectors wrongly"},
		{"number out of range", `{"data":[{"index":2,"embedding":[1]}]}`, "numbered its vectors wrongly"},
		{"two lengths", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,0]}]}`, "2 numbers, not 1"},
		{"no direction", `{"data":[{"index":0,"embedding":[0,0]}]}`, "without a direction"},
		{"NaN as null", `{"data":[{"index":0,"embedding":[1,null]},{"index":1,"embedding":[1,0]}]}`, "null for a number"},
		{"no vector", `{"data":[{"index":0},{"index":1,"embedding":[1,0]}]}`, "something other than vectors"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, row.answer) }))
			t.Cleanup(server.Close)
			_, err := open(t, server.URL, "").Embed(t.Context(), []string{"a", "b"}, embedding.Document)
			if !fault.IsReason(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "private") {
				t.Errorf("got %v, want upstream-failed saying %q", err, row.says)
			}
		})
	}
}

// TestTimeout: the time of an attempt counts the body's reading too; no key, no header.
func TestTimeout(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Authorization"]; sent {
			t.Error("an Authorization header was sent without a key")
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	e, err := openai.New(openai.Deps{BaseURL: server.URL, Model: "m", Timeout: 50 * time.Millisecond, Client: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Embed(t.Context(), []string{"a"}, embedding.Query)
	if !fault.IsReason(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("got %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, deps := range map[string]openai.Deps{
		"no base":   {Model: "m", Client: &http.Client{}},
		"no model":  {BaseURL: "http://localhost/v1", Client: &http.Client{}},
		"no client": {BaseURL: "http://localhost/v1", Model: "m"},
		"no scheme": {BaseURL: "localhost:11434/v1", Model: "m", Client: &http.Client{}},
	} {
		if _, err := openai.New(deps); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
