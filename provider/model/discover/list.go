package discover

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxListBytes bounds a list of models.
const maxListBytes = 1 << 20

// list asks a server for its models; none when it does not answer as the product does.
func list(ctx context.Context, client *http.Client, root string, listing Listing) []served {
	switch listing {
	case OllamaTags:
		return listTags(ctx, client, root)
	case TEIInfo:
		return listInfo(ctx, client, root)
	case OpenAIModels:
	}
	// Source: platform.openai.com/docs/api-reference/models. Type is LM Studio's and others'.
	var answer struct {
		Object string `json:"object"`
		Data   []struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		} `json:"data"`
	}
	if get(ctx, client, root+"/v1/models", &answer) != nil || answer.Object != "list" {
		return nil
	}
	models := make([]served, 0, len(answer.Data))
	for _, m := range answer.Data {
		models = append(models, served{name: m.ID, kind: m.Type})
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
