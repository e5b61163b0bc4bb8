package openaiembed

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// APIKey is what the server accepts, Model the one model it has.
const (
	APIKey = "sk-fake-embeddings"
	Model  = "fake-embed-32"
	// Dimension of its vectors.
	Dimension = 32
	// MaxBatch is the largest input it takes.
	MaxBatch = 64
)

// Refusal is an answer given instead of vectors.
type Refusal struct {
	Status int
	// RetryAfter is the header's value; empty for none.
	RetryAfter string
}

// Server is a running fake. URL is its base URL, ending in /v1.
type Server struct {
	URL string

	mu       sync.Mutex
	refusals []Refusal
	batches  []int
}

// Start runs a server for the length of the test.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Refuse makes the next calls fail, one for each refusal.
func (s *Server) Refuse(refusals ...Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusals...)
}

// Batches are the sizes of the inputs of all calls so far, refused ones too.
func (s *Server) Batches() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.batches)
}

type embedding struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float64 `json:"embedding"`
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		fail(w, http.StatusBadRequest, "the body is no JSON")
		return
	}
	refusal, refused := s.next(len(request.Input))
	switch {
	case r.Header.Get("Authorization") != "Bearer "+APIKey:
		fail(w, http.StatusUnauthorized, "Incorrect API key provided")
	case refused:
		if refusal.RetryAfter != "" {
			w.Header().Set("Retry-After", refusal.RetryAfter)
		}
		fail(w, refusal.Status, "refused by the test")
	case request.Model != Model:
		fail(w, http.StatusNotFound, "The model does not exist")
	case len(request.Input) == 0 || len(request.Input) > MaxBatch:
		fail(w, http.StatusBadRequest, fmt.Sprintf("input has %d items, at most %d", len(request.Input), MaxBatch))
	default:
		answer(w, request.Input)
	}
}

// next records a call and takes the refusal meant for it.
func (s *Server) next(batch int) (Refusal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, batch)
	if len(s.refusals) == 0 {
		return Refusal{}, false
	}
	refusal := s.refusals[0]
	s.refusals = s.refusals[1:]
	return refusal, true
}

// answer sends the vectors last first, which the wire allows.
func answer(w http.ResponseWriter, input []string) {
	data := make([]embedding, 0, len(input))
	for i, text := range slices.Backward(input) {
		data = append(data, embedding{"embedding", i, Vector(text)})
	}
	send(w, http.StatusOK, map[string]any{
		"object": "list", "data": data, "model": Model, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1},
	})
}

// Vector is what the server answers for a text: random, and the same each time.
func Vector(text string) []float64 {
	seed := fnv.New64a()
	if _, err := seed.Write([]byte(text)); err != nil {
		panic(err) // hash.Hash never returns an error
	}
	chance := rand.New(rand.NewPCG(seed.Sum64(), 0))
	vector := make([]float64, Dimension)
	for i := range vector {
		vector[i] = chance.NormFloat64()
	}
	return vector
}

func fail(w http.ResponseWriter, status int, message string) {
	send(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": nil, "param": nil}})
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller is gone; the test sees it on its side
}
