package openaiembed

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
	texts    []string
	poison   string
	limit    int
	hold     func()
	vector   func(text string) []float64
	models   []string
	mux      *http.ServeMux
}

// Serve has the server offer these models in place of Model, and ask for no key, as local servers
// do.
func (s *Server) Serve(models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = models
}

// Answer has the server answer a request, like GET /api/tags, with this JSON, as products do that
// list their models. It is called once for each request.
func (s *Server) Answer(pattern, body string) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body) // the caller is gone; the test sees it on its side
	})
}

// Script makes the server answer with these vectors, of Dimension numbers, in place of Vector.
func (s *Server) Script(vector func(text string) []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vector = vector
}

// Start runs a server for the length of the test.
func Start(t *testing.T) *Server {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return StartOn(t, listener)
}

// StartOn is Start at an address that the test chose.
func StartOn(t *testing.T, listener net.Listener) *Server {
	t.Helper()
	s := &Server{mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s.mux}}
	server.Start()
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

// Poison has every call refused that holds a text with these words.
func (s *Server) Poison(words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poison = words
}

// Limit has the server take fewer texts a call than MaxBatch.
func (s *Server) Limit(texts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = texts
}

// Hold calls fn in each call before it is answered.
func (s *Server) Hold(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = fn
}

// Texts are the texts that were answered with vectors so far, which is what one pays for.
func (s *Server) Texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
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
		// Dimensions is of models with vectors of several lengths.
		Dimensions int `json:"dimensions"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		fail(w, http.StatusBadRequest, "the body is no JSON")
		return
	}
	refusal, refused := s.next(len(request.Input))
	models, open := s.served()
	switch {
	case !open && r.Header.Get("Authorization") != "Bearer "+APIKey:
		fail(w, http.StatusUnauthorized, "Incorrect API key provided")
	case refused:
		if refusal.RetryAfter != "" {
			w.Header().Set("Retry-After", refusal.RetryAfter)
		}
		fail(w, refusal.Status, "refused by the test")
	case !slices.Contains(models, request.Model):
		fail(w, http.StatusNotFound, "The model does not exist")
	case len(request.Input) == 0 || len(request.Input) > s.most():
		fail(w, http.StatusBadRequest, fmt.Sprintf("input has %d items, at most %d", len(request.Input), s.most()))
	case s.poisoned(request.Input):
		fail(w, http.StatusBadRequest, "the input is too long for the model")
	default:
		s.paid(request.Input)
		s.answer(w, request.Model, request.Input, request.Dimensions)
	}
}

// served returns the models, and whether they need no key.
func (s *Server) served() (models []string, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		return []string{Model}, false
	}
	return s.models, true
}

// most is how many texts a call may have.
func (s *Server) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit > 0 {
		return s.limit
	}
	return MaxBatch
}

func (s *Server) poisoned(input []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.poison != "" && slices.ContainsFunc(input, func(text string) bool { return strings.Contains(text, s.poison) })
}

// paid notes texts that are about to be answered, and holds the call back.
func (s *Server) paid(input []string) {
	s.mu.Lock()
	hold := s.hold
	s.texts = append(s.texts, input...)
	s.mu.Unlock()
	if hold != nil {
		hold()
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
func (s *Server) answer(w http.ResponseWriter, model string, input []string, dimensions int) {
	s.mu.Lock()
	of := s.vector
	s.mu.Unlock()
	if of == nil {
		of = Vector
	}
	data := make([]embedding, 0, len(input))
	for i, text := range slices.Backward(input) {
		vector := of(text)
		if dimensions > 0 && dimensions < len(vector) {
			vector = vector[:dimensions]
		}
		data = append(data, embedding{"embedding", i, vector})
	}
	send(w, http.StatusOK, map[string]any{
		"object": "list", "data": data, "model": model, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1},
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
