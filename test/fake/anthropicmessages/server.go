package anthropicmessages

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

// maxBodyBytes bounds a request.
const maxBodyBytes = 8 << 20

// Server is a running fake. Requests() returns what it received, Add() appends replies.
type Server struct {
	*modeltest.Script
	// BaseURL is what goes before /v1/messages.
	BaseURL string

	key string
}

// New starts a server that requires this key; it ends with the test.
func New(t testing.TB, key string, script ...Reply) *Server {
	t.Helper()
	s := &Server{Script: modeltest.NewScript(script...), key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answer)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.BaseURL = server.URL
	return s
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Api-Key") != s.key {
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key: "+r.Header.Get("X-Api-Key"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
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
		refuse(w, reply.Status, "api_error", "refused by the script")
		return
	}
	(&stream{w: w, ctx: r.Context(), model: received.Model}).send(reply)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": kind, "message": message}})
}
