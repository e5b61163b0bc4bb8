package discover

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Found is a running server with at least one chat model.
type Found struct {
	// Product is "Ollama", "LM Studio", "vLLM" or "llama.cpp".
	Product string
	// BaseURL is for the openai adapter; it ends in /v1.
	BaseURL string
	// Model is the chat model to use, Models all that are not for embedding.
	Model  string
	Models []string
}

// Place is where a product may be listening.
type Place struct {
	Product string
	// URL is scheme, host and port, without a path.
	URL string
	// Tags says that the product lists its models at /api/tags, which tells their kind and order
	// (the latest first), while its /v1/models tells names only.
	Tags bool
}

// Timeout is how long Local waits for one place.
const Timeout = 300 * time.Millisecond

// maxListBytes bounds a list of models.
const maxListBytes = 1 << 20

// places are the products' default addresses, in the order of preference.
var places = []Place{
	{Product: "Ollama", URL: "http://127.0.0.1:11434", Tags: true},
	{Product: "LM Studio", URL: "http://127.0.0.1:1234"},
	{Product: "vLLM", URL: "http://127.0.0.1:8000"},
	{Product: "llama.cpp", URL: "http://127.0.0.1:8080"},
}

// Local looks at the usual places on this machine; see Among.
func Local(ctx context.Context, client *http.Client) ([]Found, error) {
	return Among(ctx, client, Timeout, places)
}

// Among asks all places at once, waits so long for each, and returns those that serve a chat model,
// in the order of the places. That nobody answers is no error; only the end of ctx is.
func Among(ctx context.Context, client *http.Client, within time.Duration, places []Place) ([]Found, error) {
	answers := make([]*Found, len(places))
	var group sync.WaitGroup
	for i, place := range places {
		group.Go(func() { answers[i] = look(ctx, client, within, place) })
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("looking for model servers: %w", err)
	}
	var found []Found
	for _, f := range answers {
		if f != nil {
			found = append(found, *f)
		}
	}
	return found, nil
}

// look asks one place; nil when there is no server, or none of its models can chat.
func look(ctx context.Context, client *http.Client, within time.Duration, place Place) *Found {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	root := strings.TrimRight(place.URL, "/")
	var chat []string
	for _, m := range list(ctx, client, root, place.Tags) {
		if m.chats() {
			chat = append(chat, m.name)
		}
	}
	if len(chat) == 0 {
		return nil
	}
	return &Found{Product: place.Product, BaseURL: root + "/v1", Model: chat[0], Models: chat}
}

func list(ctx context.Context, client *http.Client, root string, tags bool) []served {
	path := "/v1/models"
	if tags {
		path = "/api/tags"
	}
	var answer modelList
	if get(ctx, client, root+path, &answer) != nil || !tags && answer.Object != "list" {
		return nil
	}
	var models []served
	for _, m := range answer.Data {
		models = append(models, served{name: m.ID, kind: m.Type})
	}
	for _, m := range answer.Models {
		models = append(models, served{name: m.Name, kind: m.Details.Family})
	}
	return models
}

func get(ctx context.Context, client *http.Client, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking for models: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // read as far as it is wanted
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("asking for models: status %d", res.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxListBytes)).Decode(into); err != nil {
		return fmt.Errorf("reading the models: %w", err)
	}
	return nil
}

// modelList is the answer of GET /v1/models or of Ollama's GET /api/tags.
type modelList struct {
	Object string `json:"object"`
	Data   []struct {
		ID string `json:"id"`
		// Type is sent by LM Studio and others.
		Type string `json:"type"`
	} `json:"data"`
	// Models are Ollama's.
	Models []struct {
		Name    string `json:"name"`
		Details struct {
			Family string `json:"family"`
		} `json:"details"`
	} `json:"models"`
}

// served is a model and what its server says about its kind or family.
type served struct{ name, kind string }

// notChat are parts of the names of models that do other work: embedding, ranking, speech, images.
var notChat = []string{
	"embed", "bge-", "e5-", "gte-", "minilm", "rerank", "bert", "sentence-", "colbert", "jina-clip",
	"whisper", "tts", "kokoro", "stable-diffusion", "flux", "clip-", "moderation", "guard",
}

func (m served) chats() bool {
	text := strings.ToLower(m.name + " " + m.kind)
	return m.name != "" && !slices.ContainsFunc(notChat, func(part string) bool { return strings.Contains(text, part) })
}
