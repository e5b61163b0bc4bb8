package dev_test

import (
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/openaiembed"
	"parlance.dev/parlance/test/netns"
)

// TestDevWithOllama runs dev in a network of its own, where Ollama is at its usual address: once
// with its embedding model, and once without.
func TestDevWithOllama(t *testing.T) {
	t.Parallel()
	network := netns.New(t, "ollama")
	server := openaiembed.StartOn(t, network.Listen("127.0.0.1:11434"))
	server.Serve("nomic-embed-text:latest")
	server.Answer("GET /api/tags", `{"models":[{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}}]}`)
	embedded := func(prefix string) int {
		texts := slices.DeleteFunc(server.Texts(), func(text string) bool { return !strings.HasPrefix(text, prefix) })
		return len(texts)
	}
	dir := openDir(t)
	finds := func() {
		t.Helper()
		query := parlanceWithin(t, network.Command(), "kb", "query", "How are webhooks signed?", "--ranking", "hybrid", "--data-dir", dir)
		if out, err := query.CombinedOutput(); err != nil || !strings.Contains(string(out), "HMAC-SHA256") {
			t.Errorf("kb query: %v\n%s", err, out)
		}
	}

	auto := startDevWithin(t, network.Command(), dir, "--embedding", "auto")
	auto.await("nomic-embed-text:latest+") // with its prefix of passages, as it is stored
	auto.await("PARLANCE_EMBEDDING_BASE_URL=http://127.0.0.1:11434/v1 PARLANCE_EMBEDDING_NAME=nomic-embed-text:latest")
	auto.await("Ctrl-C stops everything")
	if embedded("search_document: ") == 0 {
		t.Error("it embedded none of the demo's sources")
	}
	finds()
	if embedded("search_query: How are webhooks signed?") != 1 {
		t.Error("it did not embed the question")
	}
	auto.interrupt()
	auto.wantsEnd()

	passages := embedded("search_document: ")
	tell := startDevWithin(t, network.Command(), dir)
	tell.await("built in")
	tell.await("Ollama on this machine serves nomic-embed-text:latest")
	tell.await("use it: --embedding auto")
	tell.await("Ctrl-C stops everything")
	finds()
	tell.interrupt()
	tell.wantsEnd()
	if got := embedded("search_document: "); got != passages {
		t.Errorf("without --embedding auto it embedded %d passages", got-passages)
	}
}
