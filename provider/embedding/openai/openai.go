package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/embedding"
)

const (
	defaultBatch   = 64
	defaultTimeout = 60 * time.Second
	maxRetries     = 3
)

// Deps is what an Embedder is made of. BaseURL, Model and Client are required.
type Deps struct {
	// BaseURL is the API's root, usually ending in /v1.
	BaseURL string
	// APIKey may be empty: local servers ask for none.
	APIKey string
	// Model is the server's name for the model.
	Model string
	// MaxBatch is how many texts go into one request: default 64, at most 2,048.
	MaxBatch int
	// Timeout of one attempt: default 60 s.
	Timeout time.Duration
	// DefaultFloor is the model's similarity floor; 0 for unknown.
	DefaultFloor float64
	Client       *http.Client
}

// Embedder calls one model of one server. Use New.
type Embedder struct {
	service   sdk.EmbeddingService
	model     embedding.Model
	dimension atomic.Int64
}

// New makes an embedder; it calls nobody. Errors: what is missing or malformed in deps.
func New(deps Deps) (*Embedder, error) {
	if deps.BaseURL == "" || deps.Model == "" || deps.Client == nil {
		return nil, errors.New("an embedding server needs a base URL, a model name and a client")
	}
	if deps.MaxBatch <= 0 {
		deps.MaxBatch = defaultBatch
	}
	if deps.Timeout <= 0 {
		deps.Timeout = defaultTimeout
	}
	options := []option.RequestOption{
		// Without the slash the SDK drops the last segment of the path.
		option.WithBaseURL(strings.TrimRight(deps.BaseURL, "/") + "/"),
		option.WithHTTPClient(deps.Client),
		option.WithMaxRetries(maxRetries), // 408, 409, 429, 5xx and lost connections; honours Retry-After
		option.WithRequestTimeout(deps.Timeout),
		option.WithAPIKey(deps.APIKey),
	}
	if deps.APIKey == "" {
		options = append(options, option.WithHeaderDel("Authorization"))
	}
	return &Embedder{
		service: sdk.NewEmbeddingService(options...),
		model:   embedding.Model{Name: deps.Model, DefaultFloor: deps.DefaultFloor, MaxBatch: min(deps.MaxBatch, 2048)},
	}, nil
}

// Model implements embedding.Embedder. Dimension is 0 until the server has answered once.
func (e *Embedder) Model() embedding.Model {
	model := e.model
	model.Dimension = int(e.dimension.Load())
	return model
}

// Embed implements embedding.Embedder; the wire has no kinds of text.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, e.model.MaxBatch) {
		embedded, err := e.batch(ctx, batch)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, embedded...)
	}
	return vectors, nil
}

// batch is one request.
func (e *Embedder) batch(ctx context.Context, texts []string) ([][]float32, error) {
	answer, err := e.service.New(ctx, sdk.EmbeddingNewParams{
		Model: e.model.Name,
		Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
	})
	if err != nil {
		return nil, failed(ctx, err)
	}
	vectors := make([][]float32, len(texts))
	for _, item := range answer.Data {
		if item.Index < 0 || item.Index >= int64(len(texts)) || vectors[item.Index] != nil {
			return nil, fault.New(fault.UpstreamFailed, "The embedding server numbered its vectors wrongly.")
		}
		vector, err := e.vector(item.Embedding)
		if err != nil {
			return nil, err
		}
		vectors[item.Index] = vector
	}
	if len(answer.Data) != len(texts) {
		return nil, fault.New(fault.UpstreamFailed, "The embedding server answered %d vectors for %d texts.", len(answer.Data), len(texts))
	}
	return vectors, nil
}

// vector checks one vector and scales it to length 1, so that float32 loses nothing that counts.
func (e *Embedder) vector(numbers []float64) ([]float32, error) {
	e.dimension.CompareAndSwap(0, int64(len(numbers)))
	var square float64
	for _, x := range numbers {
		square += x * x
	}
	if want := e.dimension.Load(); int64(len(numbers)) != want || want == 0 {
		return nil, fault.New(fault.UpstreamFailed, "The embedding server answered a vector of %d numbers, not %d.", len(numbers), want)
	}
	if square == 0 || math.IsNaN(square) || math.IsInf(square, 0) {
		return nil, fault.New(fault.UpstreamFailed, "The embedding server answered a vector without a direction.")
	}
	scale := 1 / math.Sqrt(square)
	vector := make([]float32, len(numbers))
	for i, x := range numbers {
		vector[i] = float32(x * scale)
	}
	return vector, nil
}

// failed says what went wrong without the server's own words, which may repeat the text.
func failed(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("embedding: %w", cause)
	}
	answer, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return fault.Wrap(err, fault.UpstreamFailed, "The embedding server cannot be reached or did not answer in time.")
	}
	cause := fmt.Errorf("the server answered %d", answer.StatusCode)
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Wrap(cause, fault.UpstreamFailed, "The embedding server refused our API key (%d).", answer.StatusCode)
	case http.StatusNotFound:
		return fault.Wrap(cause, fault.UpstreamFailed, "The embedding server does not know the model or the path (404).")
	}
	return fault.Wrap(cause, fault.UpstreamFailed, "The embedding server answered %d.", answer.StatusCode)
}
