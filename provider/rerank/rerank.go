package rerank

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/internal/apiclient"
)

const (
	// defaultTimeout is short: somebody waits for an answer, and there is one without it.
	defaultTimeout = 5 * time.Second
	maxAnswerBytes = 4 << 20
)

// Ranked is a document's place.
type Ranked struct {
	// Index is the document's in the list that was sent.
	Index int
	// Score is the server's; higher is better, the scale is the model's own.
	Score float64
}

// Reranker orders documents. It is safe for concurrent use.
type Reranker interface {
	// Rerank returns every document once, best first. No documents call nobody.
	// Errors: Upstream upstream-failed when an outside party failed, or ctx's error.
	Rerank(ctx context.Context, question string, documents []string) ([]Ranked, error)
}

// Deps is what a Server is made of. BaseURL, Model and Client are required.
type Deps struct {
	// BaseURL is the API's root, usually ending in /v1.
	BaseURL string
	// APIKey may be empty: local servers ask for none.
	APIKey string
	// Model is the server's name for the model.
	Model string
	// Timeout of the call, repetitions included: default 5 s.
	Timeout time.Duration
	Client  *http.Client
}

// Server calls one model of one server. Use New.
type Server struct {
	caller  apiclient.Caller
	model   string
	timeout time.Duration
	// tei is set when the server has turned out to be text-embeddings-inference.
	tei atomic.Bool
}

// New makes a reranker; it calls nobody. Errors: what is missing or malformed in deps.
func New(deps Deps) (*Server, error) {
	if deps.BaseURL == "" || deps.Model == "" || deps.Client == nil {
		return nil, errors.New("a reranking server needs a base URL, a model name and a client")
	}
	if deps.Timeout <= 0 {
		deps.Timeout = defaultTimeout
	}
	base, err := apiclient.ParseBase(deps.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("a reranking server: %w", err)
	}
	return &Server{
		caller: apiclient.Caller{
			Client: deps.Client, URL: base.JoinPath("rerank").String(), Header: apiclient.Header("application/json", deps.APIKey),
			Timeout: deps.Timeout,
		},
		model: deps.Model, timeout: deps.Timeout,
	}, nil
}

// request is what most servers take.
type request struct {
	Model           string   `json:"model"`
	Query           string   `json:"query"`
	Documents       []string `json:"documents"`
	TopN            int      `json:"top_n"`
	ReturnDocuments bool     `json:"return_documents"`
}

// teiRequest is what text-embeddings-inference takes; it serves one model. Truncate has it cut
// texts that are too long for the model, which versions before 1.9 refuse otherwise.
// Source: docs/openapi.json at github.com/huggingface/text-embeddings-inference.
type teiRequest struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

type result struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
	// OtherScore is what some servers call it.
	OtherScore *float64 `json:"score"`
}

// Rerank implements Reranker. A document that the server leaves out comes last, in the order sent.
func (s *Server) Rerank(ctx context.Context, question string, documents []string) ([]Ranked, error) {
	if len(documents) == 0 {
		return nil, nil
	}
	within, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	text, err := s.ask(within, question, documents)
	if !s.tei.Load() && wantsTexts(err) {
		s.tei.Store(true)
		text, err = s.ask(within, question, documents)
	}
	if err != nil {
		return nil, apiclient.Fault(ctx, "The reranking server", err)
	}
	results, err := parse(text)
	if err != nil {
		return nil, fault.Wrap(err, fault.UpstreamFailed, "The reranking server answered something other than results.")
	}
	return order(results, len(documents))
}

// ask is one request, in the form that the server takes as far as we know.
func (s *Server) ask(ctx context.Context, question string, documents []string) ([]byte, error) {
	var form any = request{Model: s.model, Query: question, Documents: documents, TopN: len(documents)}
	if s.tei.Load() {
		form = teiRequest{Query: question, Texts: documents, Truncate: true}
	}
	body, err := json.Marshal(form)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	return s.caller.PostWhole(ctx, body, maxAnswerBytes)
}

// wantsTexts says whether a server refused request because it takes teiRequest: it misses the field
// texts then.
func wantsTexts(err error) bool {
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	return ok && refusal.Status == http.StatusUnprocessableEntity && strings.Contains(refusal.Detail, "`texts`")
}

// parse reads the results, which text-embeddings-inference sends as a bare list.
func parse(text []byte) ([]result, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		var list []result
		err := json.Unmarshal(text, &list)
		return list, err
	}
	var answer struct {
		Results []result `json:"results"`
		Data    []result `json:"data"`
	}
	err := json.Unmarshal(text, &answer)
	return slices.Concat(answer.Results, answer.Data), err
}

// order checks the results and puts them in order.
func order(results []result, documents int) ([]Ranked, error) {
	if len(results) == 0 {
		return nil, fault.New(fault.UpstreamFailed, "The reranking server answered no results.")
	}
	ranked := make([]Ranked, 0, documents)
	seen := make([]bool, documents)
	for _, one := range results {
		score := cmp.Or(one.Score, one.OtherScore)
		if one.Index == nil || score == nil || *one.Index < 0 || *one.Index >= documents || seen[*one.Index] || math.IsNaN(*score) {
			return nil, fault.New(fault.UpstreamFailed, "The reranking server numbered or scored its results wrongly.")
		}
		seen[*one.Index] = true
		ranked = append(ranked, Ranked{*one.Index, *score})
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index)) })
	last := ranked[len(ranked)-1].Score
	for i, there := range seen {
		if !there {
			ranked = append(ranked, Ranked{i, last})
		}
	}
	return ranked, nil
}
