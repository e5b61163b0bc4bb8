package openaichat

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
)

// The script's types, so that users need to import this package only.
type (
	// Reply is one answer; see modeltest.Reply.
	Reply = modeltest.Reply
	// Call is a tool call in a Reply.
	Call = modeltest.Call
)

// Model is the one model the server lists. It answers to any name.
const Model = "fake-chat"

// maxBodyBytes bounds a request.
const maxBodyBytes = 8 << 20

// Server is a running fake. Requests() returns what it received, Add() appends replies.
type Server struct {
	*modeltest.Script
	// BaseURL ends in /v1.
	BaseURL string

	key string
	// azure, when set, makes it Azure's.
	azure *azure
}

// New starts a server that requires no key; it ends with the test.
func New(t testing.TB, script ...Reply) *Server {
	t.Helper()
	return NewWithKey(t, "", script...)
}

// NewWithKey is New for a server that answers 401 to every other key.
func NewWithKey(t testing.TB, key string, script ...Reply) *Server {
	t.Helper()
	s := &Server{Script: modeltest.NewScript(script...), key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.BaseURL = server.URL + "/v1"
	return s
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"`+Model+`","object":"model","created":1700000000,"owned_by":"fake"}]}`)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	if s.azure != nil && !s.azure.admits(w, r, s.key) {
		return
	}
	if s.azure == nil && s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+r.Header.Get("Authorization"))
		return
	}
	if s.key == "" && r.Header.Get("Authorization") == "Bearer " {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "An empty bearer was sent.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if s.azure != nil {
		body = s.azure.named(w, r, body)
		if body == nil {
			return
		}
	}
	received, problem := read(r.Header.Clone(), body)
	if problem != "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", problem)
		return
	}
	reply := s.Next(received)
	if reply.Status != 0 {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		if reply.Body != "" {
			w.WriteHeader(reply.Status)
			_, _ = io.WriteString(w, reply.Body)
			return
		}
		refuse(w, reply.Status, "scripted", "refused by the script")
		return
	}
	(&stream{w: w, ctx: r.Context(), model: received.Model, azure: s.azure != nil}).send(reply)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": message, "type": code, "code": code, "param": nil,
	}})
}
