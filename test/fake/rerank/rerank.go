package rerank

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// APIKey is what the server accepts, Model the one model it has.
const (
	APIKey = "sk-fake-rerank"
	Model  = "fake-rerank"
)

// Server is a running fake. URL is its base URL, ending in /v1.
type Server struct {
	URL string

	mu     sync.Mutex
	status int
	hang   bool
	asked  [][]string
}

// Start runs a server for the length of the test. A document scores by how often it says the
// question's last word.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/rerank", s.rerank)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Fail makes every later call answer the status; 0 makes it answer again.
func (s *Server) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Hang makes every later call wait until its caller has gone.
func (s *Server) Hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hang = true
}

// Asked are the documents of each call.
func (s *Server) Asked() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) rerank(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	status, hang := s.status, s.hang
	s.asked = append(s.asked, req.Documents)
	s.mu.Unlock()
	switch {
	case hang:
		<-r.Context().Done()
		return
	case r.Header.Get("Authorization") != "Bearer "+APIKey:
		status = http.StatusUnauthorized
	case req.Model != Model:
		status = http.StatusNotFound
	}
	if status != 0 {
		http.Error(w, req.Query, status) // servers repeat what they were sent
		return
	}
	words := strings.Fields(strings.ToLower(req.Query))
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	results := []result{}
	for i, document := range req.Documents {
		results = append(results, result{i, float64(strings.Count(strings.ToLower(document), words[len(words)-1]))})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "fake", "model": req.Model, "results": results[:min(req.TopN, len(results))]})
}
