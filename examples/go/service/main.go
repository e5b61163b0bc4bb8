// Command service is a customer's service in Go: a page on which visitors talk with an agent that
// the service makes for itself, and a receiver of webhooks. The API key stays here.
//
//	. ~/.local/share/parlance/dev.env   # of a running `parlance dev`
//	export PARLANCE_BASE_URL PARLANCE_API_KEY PARLANCE_WORKSPACE_ID
//	go run ./examples/go/service        # PORT is 8091 by default
//
// For the webhooks, run `parlance listen --forward-to http://localhost:8091/hook` beside it, and
// set WEBHOOK_SECRET to the secret that it prints; in production, to that of a webhook endpoint.
// While the secret is rotated it holds both, with a space between.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
)

//go:embed page.html
var page []byte

const (
	cookieName     = "session"
	maxSayBytes    = 16 << 10
	maxHookBytes   = 1 << 20
	answerDeadline = 5 * time.Minute
	stopDeadline   = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal("service: ", err)
	}
}

func run(ctx context.Context) (err error) {
	client, err := parlance.New(parlance.Options{})
	if err != nil {
		return err
	}
	workspace := os.Getenv("PARLANCE_WORKSPACE_ID")
	agent, err := client.Agents.CreateAgent(ctx, &parlancev1.CreateAgentRequest{
		WorkspaceId: workspace, Name: "Reception", Instructions: "You answer visitors of our page.",
	})
	if err != nil {
		return fmt.Errorf("make the agent: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopDeadline)
		defer cancel()
		_, deleted := client.Agents.DeleteAgent(ctx, &parlancev1.DeleteAgentRequest{WorkspaceId: workspace, AgentId: agent.GetId()})
		err = errors.Join(err, deleted)
	}()
	s := &service{
		client: client, agent: agent.GetId(), secrets: strings.Fields(os.Getenv("WEBHOOK_SECRET")), seen: map[string]bool{},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8091"))
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type service struct {
	client  *parlance.Client
	agent   string
	secrets []string

	mu sync.Mutex
	// seen are the ids of the events that came: an event may come twice.
	seen map[string]bool
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page) // the visitor may have gone
	})
	mux.HandleFunc("POST /say", s.say)
	mux.HandleFunc("POST /hook", s.hook)
	return mux
}

// again is sent when an answer begins again, because its server was lost: the text before is void.
const again = "\f"

// say streams the agent's answer to a text as plain text, with again in it. The visitor's session
// is in a cookie.
func (s *service) say(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSayBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerDeadline)
	defer cancel()
	session, err := s.session(ctx, w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	started := false
	for event, err := range s.client.StreamTurn(ctx, &parlancev1.StreamTurnRequest{SessionId: session, Text: string(text)}) {
		if err != nil && !started {
			refuse(w, err)
			return
		}
		if err != nil {
			log.Printf("the answer broke off: %v", err)
			panic(http.ErrAbortHandler) // so that the page does not take half an answer for a whole one
		}
		if started && event.GetType() == "turn.started" {
			_, _ = io.WriteString(w, again)
		}
		started = true
		_, _ = io.WriteString(w, event.GetDelta()) // a visitor who has gone cancels ctx
		_ = http.NewResponseController(w).Flush()
	}
}

// session returns the visitor's session, and begins one for a visitor without one or whose own has
// ended.
func (s *service) session(ctx context.Context, w http.ResponseWriter, r *http.Request) (string, error) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		known, err := s.client.Sessions.GetSession(ctx, &parlancev1.GetSessionRequest{SessionId: cookie.Value})
		switch {
		case err == nil && known.GetEndedAt() == nil && known.GetAgentId() == s.agent:
			return known.GetId(), nil
		case err != nil && !parlance.IsReason(err, parlance.ReasonNotFound):
			return "", err
		}
	}
	made, err := s.client.Sessions.CreateSession(ctx, &parlancev1.CreateSessionRequest{
		AgentId: s.agent, UserId: "visitor", Modality: "text",
	})
	if err != nil {
		return "", err
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: made.GetId(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return made.GetId(), nil
}

// refuse tells the visitor as much as concerns them, and the log the rest.
func refuse(w http.ResponseWriter, err error) {
	log.Printf("no answer: %v", err)
	if parlance.IsReason(err, parlance.ReasonInvalidRequest, parlance.ReasonRateLimited) {
		http.Error(w, "Try again with less, or in a moment.", http.StatusBadRequest)
		return
	}
	http.Error(w, "The agent cannot be reached.", http.StatusBadGateway)
}

// hook receives a webhook. 204 says that it is stored; a real service stores it on disk first.
func (s *service) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHookBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	event, err := parlance.VerifyWebhook(r.Header, body, s.secrets...)
	if errors.Is(err, parlance.ErrWebhookSecret) { // ours to set right: 4xx is final, and the event is to come again
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s.isNew(event.GetEventId()) {
		line := map[string]any{"event": event.GetType(), "test": event.IsTest}
		if call := event.GetPostCallTranscription(); call != nil {
			line["session"], line["entries"] = call.GetSessionId(), len(call.GetTranscript())
		}
		_ = json.NewEncoder(os.Stdout).Encode(line)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) isNew(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[id]
	s.seen[id] = true
	return !known
}
