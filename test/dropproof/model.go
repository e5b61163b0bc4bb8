package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/examples/api"
)

const (
	// answerWords is how far the model counts, and wordEvery the pause between two words.
	answerWords = 40
	wordEvery   = 40 * time.Millisecond
)

// wholeAnswer is what the model says, each time.
func wholeAnswer() string {
	words := make([]string, answerWords)
	for i := range words {
		words[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(words, " ") + " "
}

// serveModel runs the model on a free port of this machine and returns its URL.
func serveModel() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", count)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with the program
	return "http://" + listener.Addr().String(), nil
}

// count answers as a model does that streams: a word, a pause, a word.
func count(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // whatever was said, it counts
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta api.Object, finish any) {
		piece, err := json.Marshal(api.Object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "script",
			"choices": []api.Object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		if err != nil {
			panic(err) // it is made above
		}
		fmt.Fprintf(w, "data: %s\n\n", piece)
		_ = http.NewResponseController(w).Flush() // a caller who is gone is seen below
	}
	ticker := time.NewTicker(wordEvery)
	defer ticker.Stop()
	for i := range answerWords {
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
		send(api.Object{"content": strconv.Itoa(i+1) + " "}, nil)
	}
	send(api.Object{}, "stop")
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
