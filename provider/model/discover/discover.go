package discover

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Found is a running server with at least one model that chats, embeds, transcribes or speaks.
type Found struct {
	// Product is "Ollama", "LM Studio", "vLLM", "llama.cpp", "text-embeddings-inference", "Speaches",
	// "LocalAI" or "whisper.cpp".
	Product string
	// BaseURL is for the openai adapters; it ends in /v1.
	BaseURL string
	// Chat are the names of the models that chat, Embedding of those that make vectors of texts, in
	// the server's order, Hearing of those that transcribe speech, Speaking of those that make it. No
	// model is in two lists; some of them may be empty.
	Chat, Embedding, Hearing, Speaking []string
}

// Listing is how a product lists its models.
type Listing uint8

// The listings.
const (
	// OpenAIModels is GET /v1/models, which tells names, and of some products kinds.
	OpenAIModels Listing = iota
	// OllamaTags is Ollama's GET /api/tags, the latest model first, with kinds.
	OllamaTags
	// TEIInfo is GET /info of text-embeddings-inference, which serves one model.
	TEIInfo
	// WhisperPage is whisper.cpp's server, which has a page and one model without a name. It is found
	// when it was started with the path of OpenAI's API.
	WhisperPage
)

// Place is where a product may be listening.
type Place struct {
	Product string
	// URL is scheme, host and port, without a path.
	URL     string
	Listing Listing
	// SpeechProduct is what is listening there when it has models that transcribe or speak; empty:
	// Product.
	SpeechProduct string
}

// Timeout is how long Local waits for one place.
const Timeout = 300 * time.Millisecond

const tei = "text-embeddings-inference"

// places are the products' default addresses, in the order of preference. The documentation of
// text-embeddings-inference publishes its container on 8080; 3000 is the port of the program. Its
// second instance, usually on 8081, serves the other of embedder and reranker.
var places = []Place{
	{Product: "Ollama", URL: "http://127.0.0.1:11434", Listing: OllamaTags},
	{Product: "LM Studio", URL: "http://127.0.0.1:1234"},
	{Product: "vLLM", URL: "http://127.0.0.1:8000", SpeechProduct: "Speaches"},
	{Product: "llama.cpp", URL: "http://127.0.0.1:8080", SpeechProduct: "LocalAI"},
	{Product: tei, URL: "http://127.0.0.1:8080", Listing: TEIInfo},
	{Product: tei, URL: "http://127.0.0.1:8081", Listing: TEIInfo},
	{Product: tei, URL: "http://127.0.0.1:3000", Listing: TEIInfo},
	{Product: "whisper.cpp", URL: "http://127.0.0.1:8080", Listing: WhisperPage},
	{Product: "whisper.cpp", URL: "http://127.0.0.1:8081", Listing: WhisperPage},
}

// Local looks at the usual places on this machine; see Among.
func Local(ctx context.Context, client *http.Client) ([]Found, error) {
	return Among(ctx, client, Timeout, places)
}

// Among asks all places at once, waits so long for each, and returns those that serve a model of
// one of the lists of Found, in the order of the places. That nobody answers is no error; only the
// end of ctx is.
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

// look asks one place; nil when there is no server, or all its models do other work.
func look(ctx context.Context, client *http.Client, within time.Duration, place Place) *Found {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	root := strings.TrimRight(place.URL, "/")
	found := Found{Product: place.Product, BaseURL: root + "/v1"}
	for _, m := range list(ctx, client, root, place.Listing) {
		switch m.work() {
		case chats:
			found.Chat = append(found.Chat, m.name)
		case embeds:
			found.Embedding = append(found.Embedding, m.name)
		case transcribes:
			found.Hearing = append(found.Hearing, m.name)
		case speaks:
			found.Speaking = append(found.Speaking, m.name)
		case other:
		}
	}
	if len(found.Hearing)+len(found.Speaking) > 0 {
		found.Product = cmp.Or(place.SpeechProduct, place.Product)
	}
	if len(found.Chat)+len(found.Embedding)+len(found.Hearing)+len(found.Speaking) == 0 {
		return nil
	}
	return &found
}
