package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parlance.dev/parlance/examples/api"
)

// practice is the REST service: free slots and bookings of customers.
type practice struct {
	*http.ServeMux

	mu sync.Mutex
	// done are the bookings by Idempotency-Key: a repeated request books nothing.
	done map[string]string
	all  []string
}

func newPractice() *practice {
	p := &practice{ServeMux: http.NewServeMux(), done: map[string]string{}}
	p.HandleFunc("GET /customers/{customer}/slots", p.only(p.slots))
	p.HandleFunc("POST /customers/{customer}/bookings", p.only(p.book))
	return p
}

// only accepts requests with the key of the practice.
func (p *practice) only(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Practice-Key") != secretKey {
			http.Error(w, `{"error":"X-Practice-Key is missing or wrong"}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		handle(w, r)
	}
}

func (p *practice) slots(w http.ResponseWriter, r *http.Request) {
	_ = json.NewEncoder(w).Encode(api.Object{ // the caller may be gone
		"customer": r.PathValue("customer"), "day": r.URL.Query().Get("day"), "free": []string{"09:00", "10:30"},
	})
}

func (p *practice) book(w http.ResponseWriter, r *http.Request) {
	var wanted struct{ Day, Time string }
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		http.Error(w, `{"error":"the body is not JSON"}`, http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	id, known := p.done[key]
	if !known {
		p.all = append(p.all, r.PathValue("customer")+" "+wanted.Day+" "+wanted.Time)
		id = fmt.Sprintf("B-%d", len(p.all))
		p.done[key] = id
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(api.Object{"booking": api.Object{"id": id, "day": wanted.Day, "time": wanted.Time}}) // the caller may be gone
}

// booked are the bookings: customer, day and time.
func (p *practice) booked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.all...)
}

// newMCP is an MCP server over Streamable HTTP with one tool.
func newMCP() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "preparations", Version: "1.0.0"}, nil)
	type question struct {
		Treatment string `json:"treatment" jsonschema:"the treatment, e.g. blood test"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "preparation", Description: "Says what to prepare for a treatment."},
		func(_ context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, any, error) {
			words := "Nothing has to be prepared for a " + q.Treatment + "."
			if q.Treatment == "blood test" {
				words = "Come without breakfast; water is fine."
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}, nil, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}
