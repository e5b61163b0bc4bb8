package discover_test

import (
	"context"
	"errors"
	"fmt"
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

// among looks at the places.
func among(t *testing.T, places ...discover.Place) []discover.Found {
	t.Helper()
	found, err := discover.Among(t.Context(), &http.Client{}, 5*time.Second, places)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAmong(t *testing.T) {
	t.Parallel()
	ollama := serving(t, "GET /api/tags", `{"models":[
		{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
		{"name":"odd:latest","details":{"family":"bert"}},
		{"name":"llama3.2:3b","details":{"family":"llama"}},
		{"name":"qwen3:8b","details":{"family":"qwen3"}}]}`)
	studio := serving(t, "GET /v1/models",
		`{"object":"list","data":[{"id":"text-embedding-nomic-embed-text-v1.5","object":"model"},{"id":"gemma-3","type":"llm"}]}`)
	embedder := serving(t, "GET /v1/models", `{"object":"list","data":[{"id":"BAAI/bge-m3"}]}`)
	speech := serving(t, "GET /v1/models", `{"object":"list","data":[{"id":"whisper-1"},{"id":"text-embedding-bge-reranker-v2-m3"}]}`)
	speaches := serving(t, "GET /v1/models", `{"object":"list","data":[
		{"id":"speaches-ai/Kokoro-82M-v1.0-ONNX","object":"model","owned_by":"speaches-ai","task":"text-to-speech"},
		{"id":"ours/listener","object":"model","owned_by":"ours","task":"automatic-speech-recognition"},
		{"id":"Systran/faster-whisper-small","object":"model","owned_by":"Systran","task":"automatic-speech-recognition"}]}`)
	stranger := serving(t, "GET /v1/models", `<html>Jenkins</html>`)
	other := serving(t, "GET /v1/models", `{"data":[{"id":"something"}]}`)
	fake := openaichat.New(t).BaseURL
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	got := among(t, []discover.Place{
		{Product: "Ollama", URL: ollama, Listing: discover.OllamaTags},
		{Product: "silent", URL: silent.URL},
		{Product: "LM Studio", URL: studio + "/"},
		{Product: "embedder", URL: embedder},
		{Product: "speech", URL: speech, SpeechProduct: "LocalAI"},
		{Product: "Speaches", URL: speaches},
		{Product: "stranger", URL: stranger},
		{Product: "other", URL: other},
		{Product: "nobody", URL: "http://127.0.0.1:1"},
		{Product: "vLLM", URL: fake[:len(fake)-len("/v1")]},
	}...)
	want := []discover.Found{
		{
			Product: "Ollama", BaseURL: ollama + "/v1", Chat: []string{"llama3.2:3b", "qwen3:8b"},
			Embedding: []string{"nomic-embed-text:latest", "odd:latest"},
		},
		{
			Product: "LM Studio", BaseURL: studio + "/v1", Chat: []string{"gemma-3"},
			Embedding: []string{"text-embedding-nomic-embed-text-v1.5"},
		},
		{Product: "embedder", BaseURL: embedder + "/v1", Embedding: []string{"BAAI/bge-m3"}},
		{Product: "LocalAI", BaseURL: speech + "/v1", Hearing: []string{"whisper-1"}},
		{
			Product: "Speaches", BaseURL: speaches + "/v1", Hearing: []string{"ours/listener", "Systran/faster-whisper-small"},
			Speaking: []string{"speaches-ai/Kokoro-82M-v1.0-ONNX"},
		},
		{Product: "vLLM", BaseURL: fake, Chat: []string{openaichat.Model}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestTextEmbeddingsInference has the three kinds of model that GET /info describes, each with the
// members that its documentation shows, and other programs that answer there.
func TestTextEmbeddingsInference(t *testing.T) {
	t.Parallel()
	info := func(member string) string {
		return serving(t, "GET /info", fmt.Sprintf(`{"model_id":"/data/e5","served_model_name":"intfloat/multilingual-e5-small",
			"model_sha":null,"model_dtype":"float32","model_type":{%s},"max_concurrent_requests":512,"max_input_length":512,
			"max_client_batch_size":32,"auto_truncate":true,"tokenization_workers":2,"version":"1.9.3"}`, member))
	}
	place := func(product, url string) discover.Place {
		return discover.Place{Product: product, URL: url, Listing: discover.TEIInfo}
	}
	embedder := info(`"embedding":{"pooling":"mean"}`)
	older := serving(t, "GET /info", `{"model_id":"thenlper/gte-base","model_type":{"embedding":{"pooling":"cls"}},"version":"0.5.0"}`)
	got := among(t,
		place("embedder", embedder),
		place("older", older),
		place("reranker", info(`"reranker":{"id2label":{"0":"LABEL_0"},"label2id":{"LABEL_0":0}}`)),
		place("classifier", info(`"classifier":{"id2label":{"0":"joy"},"label2id":{"joy":0}}`)),
		place("sparse", info(`"embedding":{"pooling":"splade"}`)),
		place("stranger", serving(t, "GET /info", `{"version":"2"}`)),
	)
	want := []discover.Found{
		{Product: "embedder", BaseURL: embedder + "/v1", Embedding: []string{"intfloat/multilingual-e5-small"}},
		{Product: "older", BaseURL: older + "/v1", Embedding: []string{"thenlper/gte-base"}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestWhisper: whisper.cpp's server is found when it has OpenAI's path.
func TestWhisper(t *testing.T) {
	t.Parallel()
	server := func(page, path string) string {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"error":"no 'file' field in the request"}`)
		})
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server.URL
	}
	const page = "<html><head><title>Whisper.cpp Server</title>"
	whisper, other := server(page, "/v1/audio/transcriptions"), server(page, "/inference")
	stranger := server("<html>Jenkins", "/v1/audio/transcriptions")
	got := among(t,
		discover.Place{Product: "whisper.cpp", URL: whisper, Listing: discover.WhisperPage},
		discover.Place{Product: "other path", URL: other, Listing: discover.WhisperPage},
		discover.Place{Product: "stranger", URL: stranger, Listing: discover.WhisperPage},
	)
	want := []discover.Found{{Product: "whisper.cpp", BaseURL: whisper + "/v1", Hearing: []string{"whisper-1"}}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestKinds: a model that chats is never one that embeds, nor the other way round, whether the
// server tells (capabilities of newer versions of Ollama, the type of LM Studio's list) or not.
func TestKinds(t *testing.T) {
	t.Parallel()
	const (
		nothing = "nothing"
		chat    = "chat"
		embed   = "embed"
	)
	for _, row := range []struct{ model, does string }{
		{`"name":"mxbai-embed-large:latest","details":{"family":"bert"}`, embed},
		{`"name":"bge-m3:latest","details":{"family":"bert"}`, embed},
		{`"name":"all-minilm:latest","details":{"family":"bert"}`, embed},
		{`"name":"snowflake-arctic-embed2:latest","details":{"family":"bert"}`, embed},
		{`"name":"paraphrase-multilingual:latest","details":{"family":"bert"}`, embed},
		{`"name":"embeddinggemma:latest","details":{"family":"gemma3"}`, embed},
		{`"name":"qwen3-embedding:0.6b","details":{"family":"qwen3"}`, embed},
		{`"name":"ours:latest","details":{"family":"qwen3"},"capabilities":["embedding"]`, embed},
		{`"name":"bge-reranker-v2-m3:latest","details":{"family":"bert"}`, nothing},
		{`"name":"reranker","details":{"family":"qwen3"},"capabilities":["embedding"]`, nothing},
		{`"name":"modernbert","details":{"family":"modernbert"}`, nothing},
		{`"name":"flux.1","details":{"family":""},"capabilities":["image"]`, nothing},
		{`"name":"nomic-embed-converted","details":{"family":"llama"},"capabilities":["completion"]`, nothing},
		{`"name":"llama3.2:latest","details":{"family":"llama"}`, chat},
		{`"name":"eclipse-7b","details":{"family":"llama"}`, chat},
		{`"name":"deepseek-r1:latest","details":{"family":"qwen2"},"capabilities":["completion","thinking"]`, chat},
		{`"name":"gpt-oss:120b-cloud","remote_host":"https://ollama.com:443","details":{"family":""},"capabilities":["completion"]`, nothing},
	} {
		url := serving(t, "GET /api/tags", `{"models":[{`+row.model+`}]}`)
		does := nothing
		for _, f := range among(t, discover.Place{URL: url, Listing: discover.OllamaTags}) {
			if len(f.Chat) > 0 {
				does = chat
			}
			if len(f.Embedding) > 0 {
				does = embed
			}
			if len(f.Chat)+len(f.Embedding) != 1 {
				t.Errorf("%s is in both lists: %+v", row.model, f)
			}
		}
		if does != row.does {
			t.Errorf("%s: %s, want %s", row.model, does, row.does)
		}
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
