package discover

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxListBytes bounds an answer.
const maxListBytes = 1 << 20

// list asks a server for its models; none when it does not answer as the product does.
func list(ctx context.Context, client *http.Client, root string, listing Listing) []served {
	switch listing {
	case OllamaTags:
		return listTags(ctx, client, root)
	case TEIInfo:
		return listInfo(ctx, client, root)
	case WhisperPage:
		return listWhisper(ctx, client, root)
	case OpenAIModels:
	}
	// Source: platform.openai.com/docs/api-reference/models. Type is LM Studio's and others', task
	// Speaches' (src/speaches/api_types.py at github.com/speaches-ai/speaches).
	var answer struct {
		Object string `json:"object"`
		Data   []struct {
			ID   string `json:"id"`
			Type string `json:"type"`
			Task string `json:"task"`
		} `json:"data"`
	}
	if get(ctx, client, root+"/v1/models", &answer) != nil || answer.Object != "list" {
		return nil
	}
	models := make([]served, 0, len(answer.Data))
	for _, m := range answer.Data {
		models = append(models, served{name: m.ID, kind: cmp.Or(m.Type, m.Task)})
	}
	return models
}

// listTags reads Ollama's list. Source: docs/api.md and api/types.go at github.com/ollama/ollama.
func listTags(ctx context.Context, client *http.Client, root string) []served {
	var answer struct {
		Models []struct {
			Name    string `json:"name"`
			Details struct {
				Family string `json:"family"`
			} `json:"details"`
			// Capabilities are told by newer versions, RemoteHost of models that another machine runs.
			Capabilities []string `json:"capabilities"`
			RemoteHost   string   `json:"remote_host"`
		} `json:"models"`
	}
	if get(ctx, client, root+"/api/tags", &answer) != nil {
		return nil
	}
	models := make([]served, 0, len(answer.Models))
	for _, m := range answer.Models {
		if m.RemoteHost == "" {
			models = append(models, served{name: m.Name, kind: m.Details.Family, capabilities: m.Capabilities})
		}
	}
	return models
}

// listInfo reads what text-embeddings-inference says of its one model. Model_type is an object with
// one member, named embedding, reranker or classifier; splade gives sparse vectors.
// Source: docs/openapi.json at github.com/huggingface/text-embeddings-inference.
func listInfo(ctx context.Context, client *http.Client, root string) []served {
	var answer struct {
		ModelID         string `json:"model_id"`
		ServedModelName string `json:"served_model_name"`
		ModelType       struct {
			Embedding *struct {
				Pooling string `json:"pooling"`
			} `json:"embedding"`
		} `json:"model_type"`
	}
	if get(ctx, client, root+"/info", &answer) != nil || answer.ModelType.Embedding == nil ||
		answer.ModelType.Embedding.Pooling == "splade" {
		return nil
	}
	return []served{{name: cmp.Or(answer.ServedModelName, answer.ModelID), capabilities: []string{"embedding"}}}
}

// whisperModel stands for the model of whisper.cpp's server, which ignores the name.
const whisperModel = "whisper-1"

// listWhisper recognises whisper.cpp's server by its page, and tries whether it has OpenAI's path:
// by default it has /inference instead. A request without a file transcribes nothing.
// Source: examples/server at github.com/ggml-org/whisper.cpp.
func listWhisper(ctx context.Context, client *http.Client, root string) []served {
	page, status, err := read(ctx, client, http.MethodGet, root+"/")
	if err != nil || status != http.StatusOK || !bytes.Contains(page, []byte("Whisper.cpp Server")) {
		return nil
	}
	if _, status, err = read(ctx, client, http.MethodPost, root+"/v1/audio/transcriptions"); err != nil || status == http.StatusNotFound {
		return nil
	}
	return []served{{name: whisperModel}}
}

func get(ctx context.Context, client *http.Client, url string, into any) error {
	body, status, err := read(ctx, client, http.MethodGet, url)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("asking for models: status %d", status)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("reading the models: %w", err)
	}
	return nil
}

// read makes a request without a body, and returns the beginning of the answer.
func read(ctx context.Context, client *http.Client, method, url string) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("making the request: %w", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("asking for models: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // read as far as it is wanted
	if body, err = io.ReadAll(io.LimitReader(res.Body, maxListBytes)); err != nil {
		return nil, 0, fmt.Errorf("reading the answer: %w", err)
	}
	return body, res.StatusCode, nil
}
