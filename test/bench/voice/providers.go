package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/audio"
)

// delays are how long the providers take: the transcriber from the end of an utterance, and behind
// the sound of each word, if it streams; the model to its first token, and the rest follows at
// once; the synthesizer to its first sound, and the rest follows at once.
type delays struct{ transcript, token, sound time.Duration }

// providers are servers on the wires of Deepgram and OpenAI, at one address.
type providers struct {
	server *httptest.Server
	// url is where their APIs begin.
	url    string
	delays atomic.Pointer[delays]
	// answer is what the model says, heard what the transcribers understand.
	answer, heard atomic.Pointer[string]
	// tape, when set, records what the providers do.
	tape atomic.Pointer[tape]
	// voice is sound that the synthesizer repeats, at 24 kHz.
	voice []byte
}

// shortAnswer is an answer of one sentence.
const shortAnswer = "We open at nine."

// perCharacter is the sound that the synthesizer makes of a character.
const perCharacter = 60 * time.Millisecond

func newProviders(voice []int16) *providers {
	p := &providers{voice: audio.Default.AppendEncode(nil, voice)}
	p.set(delays{}, shortAnswer)
	p.hear(heardText)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", p.complete)
	mux.HandleFunc("POST /v1/audio/speech", p.speak)
	mux.HandleFunc("POST /v1/audio/transcriptions", p.transcribe)
	mux.HandleFunc("GET /v1/listen", p.listen)
	p.server = httptest.NewServer(mux)
	p.url = p.server.URL + "/v1"
	return p
}

// set changes what the providers do from now on.
func (p *providers) set(d delays, answer string) {
	p.delays.Store(&d)
	p.answer.Store(&answer)
}

// hear changes what the transcribers understand from now on.
func (p *providers) hear(text string) { p.heard.Store(&text) }

func (p *providers) close() { p.server.Close() }

// after waits until a provider that was asked at began answers, and reports whether the caller is
// still there.
func after(r *http.Request, began time.Time, delay time.Duration) bool {
	timer := time.NewTimer(delay - time.Since(began))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// complete is the model.
func (p *providers) complete(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	if _, err := io.Copy(io.Discard, r.Body); err != nil || !after(r, began, p.delays.Load().token) {
		return
	}
	p.tape.Load().noteWork("model", began)
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	words := strings.SplitAfter(*p.answer.Load(), " ")
	for _, word := range words {
		choice := map[string]any{"index": 0, "delta": map[string]string{"content": word}}
		fmt.Fprintf(w, "data: %s\n\n", encode(map[string]any{"choices": []any{choice}}))
		if flusher.Flush() != nil {
			return // the caller has gone
		}
	}
	stop := map[string]any{"index": 0, "delta": map[string]string{}, "finish_reason": "stop"}
	usage := map[string]int{"prompt_tokens": 300, "completion_tokens": len(words)}
	fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n",
		encode(map[string]any{"choices": []any{stop}}), encode(map[string]any{"choices": []any{}, "usage": usage}))
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	return text
}

// speak is the synthesizer: each text takes as long as its characters.
func (p *providers) speak(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	var in struct {
		Input string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !after(r, began, p.delays.Load().sound) {
		return
	}
	p.tape.Load().noteWork("synthesizer", began)
	left := audio.Default.Bytes(time.Duration(len(in.Input)) * perCharacter)
	w.Header().Set("Content-Type", "audio/pcm")
	w.Header().Set("Content-Length", strconv.Itoa(left))
	for left > 0 {
		n, err := w.Write(p.voice[:min(left, len(p.voice))])
		if left -= n; err != nil {
			return // the caller has gone
		}
	}
}

// transcribe is the transcriber of whole utterances.
func (p *providers) transcribe(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) == 0 || !after(r, time.Now(), p.delays.Load().transcript) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(map[string]any{"text": *p.heard.Load(), "language": "english"})) // or the caller has gone
}
