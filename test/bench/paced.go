package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// deltas are the pieces of an answer of pacedModel.
const deltas = 40

// pace is when a pacedModel says something.
type pace struct{ first, between time.Duration }

// modelTimes are the times that the model itself needed for an answer: to its first piece, and to
// its end.
type modelTimes struct{ first, whole time.Duration }

// pacedModel speaks OpenAI's chat-completions stream at a known pace, and remembers by the mark in
// what the user said last how long each answer took it: its own lateness is not the runtime's.
type pacedModel struct {
	server *httptest.Server
	url    string
	pieces [deltas][]byte
	tail   []byte
	// nothing is what it learns from a conversation that is over.
	nothing []byte
	pace    atomic.Pointer[pace]

	mu    sync.Mutex
	spent map[int]modelTimes
}

// marker begins a mark, which ends in a dot: "turn-17.".
const marker = "turn-"

func newPacedModel() *pacedModel {
	m := &pacedModel{spent: map[int]modelTimes{}}
	m.set(pace{})
	for i := range m.pieces {
		m.pieces[i] = event(map[string]any{"choices": []any{map[string]any{
			"index": 0,
			"delta": map[string]string{"content": "piece " + strconv.Itoa(i) + " "},
		}}})
	}
	m.tail = append(event(map[string]any{"choices": []any{map[string]any{
		"index": 0, "delta": map[string]string{},
		"finish_reason": "stop",
	}}}),
		event(map[string]any{"choices": []any{}, "usage": map[string]int{"prompt_tokens": 300, "completion_tokens": deltas}})...)
	m.tail = append(m.tail, "data: [DONE]\n\n"...)
	nothing := map[string]string{"content": `{"facts": []}`}
	m.nothing = append(event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": nothing}}}), m.tail...)
	m.server = httptest.NewServer(http.HandlerFunc(m.answer))
	m.url = m.server.URL + "/v1"
	return m
}

func event(chunk any) []byte {
	encoded, err := json.Marshal(chunk)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	return []byte("data: " + string(encoded) + "\n\n")
}

func (m *pacedModel) set(p pace) { m.pace.Store(&p) }

func (m *pacedModel) close() { m.server.Close() }

func (m *pacedModel) answer(w http.ResponseWriter, r *http.Request) {
	began, p := time.Now(), *m.pace.Load()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	mark := markIn(body)
	w.Header().Set("Content-Type", "text/event-stream")
	if bytes.Contains(body, []byte("one JSON object")) {
		_, _ = w.Write(m.nothing) // as below
		return
	}
	flusher := http.NewResponseController(w)
	time.Sleep(p.first - time.Since(began))
	said := modelTimes{first: time.Since(began)}
	for i, piece := range m.pieces {
		if i > 0 {
			time.Sleep(p.between)
		}
		_, _ = w.Write(piece)
		if flusher.Flush() != nil {
			return // the caller has gone
		}
	}
	said.whole = time.Since(began)
	m.mu.Lock()
	m.spent[mark] = said
	m.mu.Unlock()
	_, _ = w.Write(m.tail) // the caller has hung up
}

// markIn is the last mark of a request; 0: there is none.
func markIn(body []byte) int {
	at := bytes.LastIndex(body, []byte(marker))
	if at < 0 {
		return 0
	}
	digits, _, _ := bytes.Cut(body[at+len(marker):], []byte("."))
	mark, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0
	}
	return mark
}

// timesOf returns the times of the model for the answer to a mark.
func (m *pacedModel) timesOf(mark int) modelTimes {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[mark]
}
