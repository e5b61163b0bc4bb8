package openai_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/embeddingtest"
	"parlance.dev/parlance/provider/embedding/openai"
	"parlance.dev/parlance/test/fake/openaiembed"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	embeddingtest.Run(t, open(t, openaiembed.Start(t).URL, openaiembed.APIKey))
}

func TestBatchesAndDimension(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	e := open(t, server.URL+"/", openaiembed.APIKey)
	if got := e.Model().Dimension; got != 0 {
		t.Errorf("the dimension is %d before the first call", got)
	}
	texts := make([]string, 130)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	vectors, err := e.Embed(t.Context(), texts, embedding.Document)
	if err != nil || len(vectors) != 130 {
		t.Fatalf("got %d vectors, %v", len(vectors), err)
	}
	if got, want := server.Batches(), []int{64, 64, 2}; !slices.Equal(got, want) {
		t.Errorf("got batches %v, want %v", got, want)
	}
	if got := e.Model().Dimension; got != openaiembed.Dimension {
		t.Errorf("the dimension is %d", got)
	}
}

func TestRetriesAfterTheTimeAsked(t *testing.T) {
	t.Parallel()
	server := openaiembed.Start(t)
	server.Refuse(
		openaiembed.Refusal{Status: http.StatusTooManyRequests, RetryAfter: "1"}, openaiembed.Refusal{Status: http.StatusServiceUnavailable},
	)
	begun := time.Now()
	if _, err := open(t, server.URL, openaiembed.APIKey).Embed(t.Context(), []string{"a"}, embedding.Query); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < time.Second || len(server.Batches()) != 3 {
		t.Errorf("%d calls in %s, want 3 and at least 1 s", len(server.Batches()), took)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	refusing := openaiembed.Start(t)
	refusing.Refuse(openaiembed.Refusal{Status: http.StatusBadRequest})
	rows := []struct{ name, url, key, says string }{
		{"key", openaiembed.Start(t).URL, "sk-wrong-key", "refused our API key (401)"},
		{"no key", openaiembed.Start(t).URL, "", "refused our API key (401)"},
		{"path", openaiembed.Start(t).URL + "/elsewhere", openaiembed.APIKey, "404"},
		{"bad request", refusing.URL, openaiembed.APIKey, "answered 400"},
		{"nobody there", "http://127.0.0.1:1/v1", openaiembed.APIKey, "cannot be reached"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, row.url, row.key).Embed(t.Context(), []string{"private words"}, embedding.Query)
			if !fault.IsReason(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("got %v, want upstream-failed saying %q", err, row.says)
			}
			if strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "private words") {
				t.Errorf("the error leaks: %v", err)
			}
		})
	}
}

func open(t *testing.T, url, key string) *openai.Embedder {
	t.Helper()
	e, err := openai.New(openai.Deps{BaseURL: url, APIKey: key, Model: openaiembed.Model, Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
