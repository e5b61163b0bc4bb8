package rerank

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// maxTexts is the default of --max-client-batch-size.
const maxTexts = 32

// TEI is a running fake of text-embeddings-inference with a reranking model. URL is its base URL.
// Source: docs/openapi.json and router/src/http at
// github.com/huggingface/text-embeddings-inference.
type TEI struct {
	URL string

	mu     sync.Mutex
	bodies []string
}

// StartTEI runs one for the length of the test. A text scores as with Start, between 0 and 1.
func StartTEI(t *testing.T) *TEI {
	t.Helper()
	s := &TEI{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /rerank", s.rerank)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Bodies are those of the requests so far.
func (s *TEI) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

func (s *TEI) rerank(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	var req struct {
		Query *string   `json:"query"`
		Texts *[]string `json:"texts"`
	}
	err := json.NewDecoder(r.Body).Decode(&raw)
	if err == nil {
		err = json.Unmarshal(raw, &req)
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(raw))
	s.mu.Unlock()
	const wrong = "Failed to deserialize the JSON body into the target type: "
	switch {
	case err != nil:
		http.Error(w, "Failed to parse the request body as JSON", http.StatusBadRequest)
	case req.Query == nil:
		http.Error(w, wrong+"missing field `query` at line 1 column 9", http.StatusUnprocessableEntity)
	case req.Texts == nil:
		http.Error(w, wrong+"missing field `texts` at line 1 column 9", http.StatusUnprocessableEntity)
	case len(*req.Texts) > maxTexts:
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = fmt.Fprintf(w, `{"error":"batch size %d > maximum allowed batch size %d","error_type":"Validation"}`, len(*req.Texts), maxTexts)
	default:
		rank(w, *req.Query, *req.Texts)
	}
}

// rank answers a list, best first, which is not under a name.
func rank(w http.ResponseWriter, query string, texts []string) {
	type ranked struct {
		Index int     `json:"index"`
		Score float64 `json:"score"`
	}
	words := strings.Fields(strings.ToLower(query))
	ranks := make([]ranked, len(texts))
	for i, text := range texts {
		ranks[i] = ranked{i, 1 - 1/float64(1+strings.Count(strings.ToLower(text), words[len(words)-1]))}
	}
	slices.SortStableFunc(ranks, func(a, b ranked) int { return cmp.Compare(b.Score, a.Score) })
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(ranks) // the caller is gone; the test sees it on its side
}
