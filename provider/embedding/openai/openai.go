package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/internal/apiclient"
)

const (
	defaultBatch   = 64
	defaultTimeout = 60 * time.Second
	maxRetries     = 3
	// maxRetryDelay is long: a server that limits our rate while documents are read knows best.
	// A caller who cannot wait has a deadline.
	maxRetryDelay = 2 * time.Minute
	// maxAnswerBytes is more than 2,048 vectors of 4,096 numbers need.
	maxAnswerBytes = 256 << 20
)

// Deps is what an Embedder is made of. BaseURL, Model and Client are required.
type Deps struct {
	// BaseURL is the API's root, usually ending in /v1.
	BaseURL string
	// APIKey may be empty: local servers ask for none.
	APIKey string
	// Model is the server's name for the model.
	Model string
	// Prefixes go before the texts; see KnownPrefixes.
	Prefixes Prefixes
	// Dimensions is the parameter of that name: shorter vectors of models that have them; 0: not sent.
	Dimensions int
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
	caller     apiclient.Caller
	model      embedding.Model
	name       string
	prefixes   Prefixes
	dimensions int
	dimension  atomic.Int64
	// batchSize is the model's MaxBatch until the server refuses so many.
	batchSize atomic.Int64
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
	base, err := apiclient.ParseBase(deps.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("an embedding server: %w", err)
	}
	e := &Embedder{
		caller: apiclient.Caller{
			Client: deps.Client, URL: base.JoinPath("embeddings").String(), Header: apiclient.Header("application/json", deps.APIKey),
			Timeout: deps.Timeout, MaxRetries: maxRetries, MaxRetryDelay: maxRetryDelay,
		},
		model: embedding.Model{
			Name:         storedName(deps.Model, deps.Dimensions, deps.Prefixes.Document),
			DefaultFloor: deps.DefaultFloor, HybridWeight: 1, MaxBatch: min(deps.MaxBatch, 2048),
		},
		name: deps.Model, prefixes: deps.Prefixes, dimensions: deps.Dimensions,
	}
	e.dimension.Store(int64(deps.Dimensions))
	e.batchSize.Store(int64(e.model.MaxBatch))
	return e, nil
}

// Expect says how long the vectors are that are stored under the model's name: an answer of another
// length is an error then. 0 says nothing.
func (e *Embedder) Expect(dimension int) { e.dimension.CompareAndSwap(0, int64(dimension)) }

// Model implements embedding.Embedder. Dimension is 0 until the server has answered once.
func (e *Embedder) Model() embedding.Model {
	model := e.model
	model.Dimension = int(e.dimension.Load())
	return model
}

// Embed implements embedding.Embedder; the wire has no kinds of text but what stands before it.
func (e *Embedder) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	prefix := e.prefixes.Document
	if kind == embedding.Query {
		prefix = e.prefixes.Query
	}
	if prefix != "" {
		prefixed := make([]string, len(texts))
		for i, text := range texts {
			prefixed[i] = prefix + text
		}
		texts = prefixed
	}
	vectors := make([][]float32, 0, len(texts))
	for len(vectors) < len(texts) {
		from := len(vectors)
		embedded, err := e.halving(ctx, texts[from:min(from+int(e.batchSize.Load()), len(texts))])
		if refused, ok := errors.AsType[*embedding.Refused](err); ok {
			return nil, e.blame(ctx, prefix, &embedding.Refused{Index: from + refused.Index, Err: refused.Err})
		}
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, embedded...)
	}
	return vectors, nil
}

// halving is batch, and when the server refuses the texts as such, one half after the other: it may
// take fewer at once, or all but one. Errors: *embedding.Refused for the first text refused alone.
func (e *Embedder) halving(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.batch(ctx, texts)
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	if !ok || !ofTexts(refusal.Status) || ctx.Err() != nil {
		return vectors, err
	}
	if len(texts) == 1 {
		return nil, &embedding.Refused{Err: err}
	}
	half := (len(texts) + 1) / 2
	vectors, err = e.halving(ctx, texts[:half])
	if err != nil {
		return nil, err
	}
	rest, err := e.halving(ctx, texts[half:])
	if refused, ok := errors.AsType[*embedding.Refused](err); ok {
		return nil, &embedding.Refused{Index: half + refused.Index, Err: refused.Err}
	}
	if err != nil {
		return nil, err
	}
	for size := e.batchSize.Load(); int64(half) < size; size = e.batchSize.Load() { // it took all of them, not at once
		e.batchSize.CompareAndSwap(size, int64(half))
	}
	return append(vectors, rest...), nil
}

// ofTexts says whether a status may be about the texts of the request.
func ofTexts(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

// blame is refused when the server takes another text, else it is no fault of the text.
func (e *Embedder) blame(ctx context.Context, prefix string, refused *embedding.Refused) error {
	_, err := e.batch(ctx, []string{prefix + "text"})
	if err == nil {
		return refused
	}
	if other, ok := errors.AsType[*apiclient.Refusal](err); ok && ofTexts(other.Status) {
		return fault.Wrap(
			other, fault.UpstreamFailed,
			"The embedding server refuses every text (%d). See whether it has the model %q, and takes the dimensions asked for.", other.Status,
			e.name,
		)
	}
	return err
}

// batch is one request.
func (e *Embedder) batch(ctx context.Context, texts []string) ([][]float32, error) {
	items, err := e.ask(ctx, texts)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for _, item := range items {
		if item.Index < 0 || item.Index >= len(texts) || vectors[item.Index] != nil {
			return nil, fault.New(fault.UpstreamFailed, "The embedding server numbered its vectors wrongly.")
		}
		numbers, err := item.numbers()
		if err != nil {
			return nil, err
		}
		vector, err := e.vector(numbers)
		if err != nil {
			return nil, err
		}
		vectors[item.Index] = vector
	}
	if len(items) != len(texts) {
		return nil, fault.New(fault.UpstreamFailed, "The embedding server answered %d vectors for %d texts.", len(items), len(texts))
	}
	return vectors, nil
}

// The wire of POST /v1/embeddings. Source: platform.openai.com/docs/api-reference/embeddings.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// item is one vector of an answer's data, in any order.
type item struct {
	Index     int             `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

// numbers reads the vector. A NaN comes as null, which the decoder would take for 0: a vector that
// looks right and finds the wrong things.
func (i item) numbers() ([]float64, error) {
	var numbers []float64
	if err := json.Unmarshal(i.Embedding, &numbers); err != nil {
		return nil, fault.Wrap(err, fault.UpstreamFailed, "The embedding server answered something other than vectors.")
	}
	if bytes.Contains(i.Embedding, []byte("null")) {
		return nil, fault.New(
			fault.UpstreamFailed,
			"The embedding server answered a vector with null for a number, which is how many write NaN: its model failed on the text. Look "+
				"into its log; a lower precision (fp16) is the usual cause.",
		)
	}
	return numbers, nil
}

func (e *Embedder) ask(ctx context.Context, texts []string) ([]item, error) {
	body, err := json.Marshal(request{Model: e.name, Input: texts, Dimensions: e.dimensions})
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	text, err := e.caller.PostWhole(ctx, body, maxAnswerBytes)
	if err != nil {
		return nil, apiclient.Fault(ctx, "The embedding server", err)
	}
	var answer struct {
		Data []item `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fault.Wrap(err, fault.UpstreamFailed, "The embedding server answered something other than vectors.")
	}
	return answer.Data, nil
}

// vector checks one vector and scales it to length 1, so that float32 loses nothing that counts.
func (e *Embedder) vector(numbers []float64) ([]float32, error) {
	e.dimension.CompareAndSwap(0, int64(len(numbers)))
	var square float64
	for _, x := range numbers {
		square += x * x
	}
	if want := e.dimension.Load(); int64(len(numbers)) != want || want == 0 {
		return nil, fault.New(
			fault.UpstreamFailed,
			"The embedding server answered a vector of %d numbers, not %d. If it serves another model by now, set EMBEDDING_NAME to a name of "+
				"its own, so that the sources are embedded anew.",
			len(numbers), want,
		)
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
