package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"parlance.dev/parlance/test/figures"
)

// thinking is how long the model of the benchmark takes to its first token.
const thinking = 20 * time.Millisecond

// pieces are the tokens it answers with.
var pieces = []string{"It ", "is ", "open ", "from ", "nine ", "to ", "five."}

// instantModel speaks OpenAI's chat-completions stream and remembers how long it took.
type instantModel struct {
	server *httptest.Server
	url    string

	mu   sync.Mutex
	took []time.Duration
}

func newInstantModel() *instantModel {
	m := &instantModel{}
	m.server = httptest.NewServer(http.HandlerFunc(m.answer))
	m.url = m.server.URL + "/v1"
	return m
}

func (m *instantModel) close() { m.server.Close() }

func (m *instantModel) answer(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	select {
	case <-time.After(thinking):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	for _, piece := range pieces {
		chunk := map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": piece}}}}
		m.send(w, chunk)
		_ = flusher.Flush() // the caller has hung up when this fails
	}
	m.send(w, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]string{}, "finish_reason": "stop"}}})
	m.send(w, map[string]any{"choices": []any{}, "usage": map[string]int{"prompt_tokens": 300, "completion_tokens": len(pieces)}})
	fmt.Fprint(w, "data: [DONE]\n\n")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = append(m.took, time.Since(began))
}

func (m *instantModel) send(w http.ResponseWriter, chunk any) {
	encoded, err := json.Marshal(chunk)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	fmt.Fprintf(w, "data: %s\n\n", encoded)
}

// last is how long the latest answer took.
func (m *instantModel) last() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.took) == 0 {
		return 0
	}
	return m.took[len(m.took)-1]
}

// turns measures a turn over HTTP, one after the other, less what the model took, beside a bare
// client that asks the model the same way.
func turns(ctx context.Context, w *world) ([]figures.Row, error) {
	var session struct {
		ID string `json:"id"`
	}
	if err := w.Post(ctx, "/sessions", map[string]string{"agent_id": w.Agent, "user_id": "bench", "modality": "text"},
		&session); err != nil {
		return nil, err
	}
	body := []byte(`{"text":"When is the shop open?"}`)
	turn := call{
		method: http.MethodPost, url: w.URL + "/v1/sessions/" + session.ID + "/turns", header: w.Header(),
		body: body, status: http.StatusOK,
	}
	bare := call{method: http.MethodPost, url: w.model.url + "/chat/completions", header: w.Header(), body: body, status: http.StatusOK}
	var own, floor []float64
	const count = 100
	before, err := ownCPU(w.server)
	if err != nil {
		return nil, err
	}
	for range count {
		for _, c := range []call{turn, bare} {
			began := time.Now()
			if err := c.send(ctx, w.HTTP); err != nil {
				return nil, err
			}
			took := millis(time.Since(began) - w.model.last())
			if c.url == bare.url {
				floor = append(floor, took)
			} else {
				own = append(own, took)
			}
		}
	}
	after, err := ownCPU(w.server)
	if err != nil {
		return nil, err
	}
	return []figures.Row{
		{
			Name: "Chat turn: time beside the model's", Value: figures.Round(figures.Median(own)), Unit: "ms", Better: "lower",
			Note: fmt.Sprintf("POST …/turns in a conversation that grows to %d turns, less the time the model took; a bare client "+
				"of the model spends %.1f ms", count, figures.Median(floor)),
		},
		{
			Name: "Chat turn: CPU of the server", Value: figures.Round(millis(after-before) / count), Unit: "ms", Better: "lower",
			Note: "user and system time a turn",
		},
	}, nil
}
