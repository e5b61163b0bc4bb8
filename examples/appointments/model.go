package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"parlance.dev/parlance/examples/api"
)

// conversation is what the user says.
var conversation = []string{
	"I need a blood test on the first of December.",
	"Half past ten, please.",
	"What was the number of my booking?",
	"Thank you.",
}

// model is a scripted chat model on OpenAI's protocol.
type model struct {
	mu     sync.Mutex
	bodies []string
}

func newModel() *model { return &model{} }

// asked is the part of a request that the script reads.
type asked struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// call is a tool call of the script.
type call struct{ name, arguments string }

// heard are the bodies of all requests so far.
func (m *model) heard() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.bodies...)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var body json.RawMessage
	var request asked
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || json.Unmarshal(body, &request) != nil {
		http.Error(w, `{"error":{"message":"not a request"}}`, http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	m.mu.Unlock()
	words, calls := reply(request)
	stream(w, words, calls)
}

var bookingNumber = regexp.MustCompile(`last booking is (B-[0-9]+)`)

// reply is the script: it depends on the last user message and the results after it.
func reply(request asked) (string, []call) {
	said, results := "", []string(nil)
	for _, message := range request.Messages {
		switch message.Role {
		case "user":
			said, results = message.Content, nil
		case "tool":
			results = append(results, message.Content)
		}
	}
	switch said {
	case conversation[0]:
		if results == nil {
			return "Let me look.", []call{{"free_slots", `{"day":"2026-12-01"}`}, {"preparation", `{"treatment":"blood test"}`}}
		}
		return "Free are: " + free(results[0]) + ". " + results[len(results)-1] + " Which one do you want?", nil
	case conversation[1]:
		if results == nil {
			return "", []call{{"book", `{"day":"2026-12-01","time":"10:30"}`}}
		}
		return "It is booked: " + results[0], nil
	case conversation[2]:
		if found := bookingNumber.FindStringSubmatch(request.Messages[0].Content); found != nil {
			return "Your booking is " + found[1] + ".", nil
		}
		return "I know of no booking.", nil
	}
	return "You are welcome.", nil
}

// free returns the times in the answer of free_slots.
func free(result string) string {
	var answer struct{ Free []string }
	if json.Unmarshal([]byte(result), &answer) != nil {
		return "unknown (" + result + ")"
	}
	return strings.Join(answer.Free, " and ")
}

// stream writes an answer in pieces, as OpenAI's API does.
func stream(w http.ResponseWriter, words string, calls []call) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta api.Object, finish any) {
		encoded, _ := json.Marshal(api.Object{ // strings and numbers always encode
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "script",
			"choices": []api.Object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", encoded)
	}
	for _, word := range strings.SplitAfter(words, " ") {
		if word != "" {
			chunk(api.Object{"role": "assistant", "content": word}, nil)
		}
	}
	finish := "stop"
	for i, c := range calls {
		finish = "tool_calls"
		chunk(api.Object{"tool_calls": []api.Object{{
			"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": api.Object{"name": c.name, "arguments": c.arguments},
		}}}, nil)
	}
	chunk(api.Object{}, finish)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
