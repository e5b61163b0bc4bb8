package dev

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/model/discover"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/fake/openaiembed"
)

const found = "nomic-embed-text:latest"

// ollama starts a server that answers as Ollama does, with a model that chats and one that embeds.
func ollama(t *testing.T) *openaiembed.Server {
	t.Helper()
	server := openaiembed.Start(t)
	server.Serve(found)
	server.Answer("GET /api/tags", tags)
	return server
}

// tags is Ollama's list of models.
const tags = `{"models":[
	{"name":"llama3.2:latest","model":"llama3.2:latest","details":{"format":"gguf","family":"llama"},"capabilities":["completion","tools"]},
	{"name":"nomic-embed-text:latest","model":"nomic-embed-text:latest","details":{"format":"gguf","family":"nomic-bert"},
	 "capabilities":["embedding"]}]}`

// lookAt looks for Ollama at the server.
func lookAt(server *openaiembed.Server) lookFunc {
	return func(ctx context.Context, client *http.Client) ([]discover.Found, error) {
		return discover.Among(ctx, client, 10*discover.Timeout, []discover.Place{
			{Product: "Ollama", URL: strings.TrimSuffix(server.URL, "/v1"), Listing: discover.OllamaTags},
		})
	}
}

// chosen is a dev after its choice of models.
func chosen(t *testing.T, config app.Config, options options, look lookFunc) *dev {
	t.Helper()
	d := &dev{config: config, options: options}
	if err := d.chooseModels(t.Context(), look); err != nil {
		t.Fatal(err)
	}
	d.probeEmbedder(t.Context())
	d.chooseEmbedder()
	return d
}

func wantsWords(t *testing.T, d *dev, texts ...string) {
	t.Helper()
	words := strings.Join(d.embedderWords("DESCRIBED"), "\n")
	for _, text := range append(texts, "DESCRIBED") {
		if !strings.Contains(words, text) {
			t.Errorf("it does not say %q:\n%s", text, words)
		}
	}
}

func TestEmbedderFound(t *testing.T) {
	t.Parallel()
	settings := func(s *openaiembed.Server) string {
		return "PARLANCE_EMBEDDING_BASE_URL=" + s.URL + " PARLANCE_EMBEDDING_NAME=" + found
	}
	t.Run("Tell", func(t *testing.T) {
		t.Parallel()
		server := ollama(t)
		d := chosen(t, app.Config{}, options{model: auto, embedding: tell}, lookAt(server))
		if d.config.Embedding.BaseURL != "" || d.config.Model.Name != "llama3.2:latest" {
			t.Errorf("it uses %+v to embed and %+v to chat", d.config.Embedding, d.config.Model)
		}
		if want := (app.Provider{BaseURL: server.URL, Name: found}); d.config.EmbeddingPrevious.Provider != want {
			t.Errorf("what it embedded in an earlier run is answered by %+v, want %+v", d.config.EmbeddingPrevious.Provider, want)
		}
		wantsWords(t, d, "Ollama on this machine serves "+found, fmt.Sprintf("%d numbers", openaiembed.Dimension),
			"--embedding auto", settings(server), "embedded again")
		if texts := server.Texts(); len(texts) == 0 || !strings.HasPrefix(texts[0], "search_query: ") {
			t.Errorf("it was probed with %q, want the model's prefix of questions", texts)
		}
	})
	t.Run("Auto", func(t *testing.T) {
		t.Parallel()
		server := ollama(t)
		d := chosen(t, app.Config{}, options{model: none, embedding: auto}, lookAt(server))
		if want := (app.Provider{BaseURL: server.URL, Name: found}); d.config.Embedding.Provider != want || d.config.Model.Name != "" {
			t.Errorf("it uses %+v to embed and %+v to chat", d.config.Embedding, d.config.Model)
		}
		wantsWords(t, d, "Ollama on this machine", fmt.Sprintf("%d numbers", openaiembed.Dimension), "--embedding none refuses it",
			settings(server))
	})
	t.Run("ServerOfItsOwn", func(t *testing.T) {
		t.Parallel()
		server := openaiembed.Start(t)
		server.Serve("BAAI/bge-m3")
		server.Answer("GET /info", `{"model_id":"BAAI/bge-m3","model_type":{"embedding":{"pooling":"cls"}},"version":"1.9.3"}`)
		look := func(ctx context.Context, client *http.Client) ([]discover.Found, error) {
			return discover.Among(ctx, client, 10*discover.Timeout, []discover.Place{
				{Product: "TEI", URL: strings.TrimSuffix(server.URL, "/v1"), Listing: discover.TEIInfo},
				{Product: "LM Studio", URL: strings.TrimSuffix(openaichat.New(t).BaseURL, "/v1")},
			})
		}
		d := chosen(t, app.Config{}, options{model: auto, embedding: auto}, look)
		if d.config.Embedding.Name != "BAAI/bge-m3" || d.config.Model.Name != openaichat.Model {
			t.Errorf("it uses %+v to embed and %+v to chat", d.config.Embedding, d.config.Model)
		}
	})
	t.Run("GivesNoVector", func(t *testing.T) {
		t.Parallel()
		server := ollama(t)
		server.Serve("another") // as when the model was removed after it was listed
		d := chosen(t, app.Config{}, options{model: none, embedding: auto}, lookAt(server))
		if d.config.Embedding.BaseURL != "" {
			t.Errorf("it uses %+v", d.config.Embedding)
		}
		wantsWords(t, d, found+", which gave no vector", settings(server))
	})
}

func TestEmbedderNotLookedFor(t *testing.T) {
	t.Parallel()
	configured := app.Config{Embedding: app.Embedding{Provider: app.Provider{BaseURL: "http://127.0.0.1:1/v1", Name: "mine"}, Floor: 0.5}}
	unasked := func(context.Context, *http.Client) ([]discover.Found, error) {
		t.Error("it looks for servers")
		return nil, nil
	}
	if d := chosen(t, configured, options{model: none, embedding: auto, speech: none}, unasked); d.config.Embedding != configured.Embedding {
		t.Errorf("the configured embedder became %+v", d.config.Embedding)
	}
	d := chosen(t, configured, options{model: none, embedding: none, speech: none}, unasked)
	if d.config.Embedding != (app.Embedding{}) {
		t.Errorf("--embedding none keeps %+v", d.config.Embedding)
	}
	wantsWords(t, d, "--embedding-base-url")
}
