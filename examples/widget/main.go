// Command widget is a customer's site with the chat of Parlance in its corner: a page with a strict
// Content-Security-Policy, and a back end that creates the sessions. The API key stays here.
//
//	PARLANCE_BASE_URL=… PARLANCE_API_KEY=… PARLANCE_AGENT_ID=… go run ./examples/widget
//
// The variables are those that `parlance dev` writes to dev.env. PORT is 8090 by default.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"
)

//go:embed index.html page.css
var files embed.FS

const (
	// maxSessions is how many sessions an address may create within window.
	maxSessions = 20
	window      = time.Minute
	// maxAddresses bounds the memory of the rate limit.
	maxAddresses = 10_000

	cookieName   = "visitor"
	cookieDays   = 365
	callDeadline = 10 * time.Second
	maxBodyBytes = 16 << 10
)

// site is the customer's back end.
type site struct {
	apiURL, key, agent string
	page               []byte
	policy             string
	limit              limiter
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "widget:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	s, err := newSite(os.Getenv("PARLANCE_BASE_URL"), os.Getenv("PARLANCE_API_KEY"), os.Getenv("PARLANCE_AGENT_ID"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8090"))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: callDeadline}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // ends Serve
	fmt.Printf("http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// newSite makes the back end of an agent. apiURL is the URL of the API, which ends in /v1.
func newSite(apiURL, key, agent string) (*site, error) {
	if apiURL == "" || key == "" || agent == "" {
		return nil, errors.New("PARLANCE_BASE_URL, PARLANCE_API_KEY and PARLANCE_AGENT_ID are needed")
	}
	parlance, err := url.Parse(strings.TrimSuffix(apiURL, "/v1"))
	if err != nil {
		return nil, fmt.Errorf("read PARLANCE_BASE_URL: %w", err)
	}
	parsed, err := template.ParseFS(files, "index.html")
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	var page bytes.Buffer
	if err := parsed.Execute(&page, map[string]any{"Parlance": parlance}); err != nil {
		return nil, fmt.Errorf("make the page: %w", err)
	}
	sockets := *parlance
	sockets.Scheme = strings.Replace(parlance.Scheme, "http", "ws", 1)
	return &site{
		apiURL: apiURL, key: key, agent: agent, page: page.Bytes(), limit: limiter{counts: map[string]int{}},
		// The widget needs its host for scripts and worklets, and for sockets.
		policy: fmt.Sprintf("default-src 'none'; style-src 'self'; script-src %s; connect-src 'self' %s; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "+
			"require-trusted-types-for 'script'; trusted-types 'none'", parlance, &sockets),
	}, nil
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", s.policy)
		_, _ = w.Write(s.page) // the reader has gone
	})
	mux.Handle("GET /page.css", http.FileServerFS(files))
	mux.HandleFunc("POST /api/parlance-session", s.createSession)
	return mux
}

// createSession creates a session for the visitor, and answers its URLs only. Other sites cannot
// call it: browsers send them no cookie (SameSite), and JSON from other origins needs CORS.
func (s *site) createSession(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "JSON is expected.", http.StatusUnsupportedMediaType)
		return
	}
	address, _, _ := net.SplitHostPort(r.RemoteAddr) // behind a proxy: the address that the proxy tells
	if !s.limit.allow(address, time.Now()) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many conversations. Wait a minute.", http.StatusTooManyRequests)
		return
	}
	urls, err := s.newSession(r.Context(), visitor(w, r))
	if err != nil {
		fmt.Fprintln(os.Stderr, "create a session:", err)
		http.Error(w, "The chat is not available.", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(urls) // the reader has gone
}

// socketURLs are what the widget needs of a session. They contain its token, and no key.
type socketURLs struct {
	ChatURL string `json:"chat_url"`
	WSURL   string `json:"ws_url"`
}

func (s *site) newSession(ctx context.Context, user string) (socketURLs, error) {
	ctx, cancel := context.WithTimeout(ctx, callDeadline)
	defer cancel()
	body, err := json.Marshal(map[string]string{"agent_id": s.agent, "user_id": user, "modality": "voice+text"})
	if err != nil {
		return socketURLs{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.apiURL+"/sessions", bytes.NewReader(body))
	if err != nil {
		return socketURLs{}, err
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return socketURLs{}, err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxBodyBytes))
	if err != nil {
		return socketURLs{}, err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return socketURLs{}, fmt.Errorf("parlance answers %d: %s", response.StatusCode, answer)
	}
	var urls socketURLs
	return urls, json.Unmarshal(answer, &urls)
}

// visitor is the id of the visitor, which a cookie keeps. A site with accounts uses those.
func visitor(w http.ResponseWriter, r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil && len(cookie.Value) == len(rand.Text()) {
		return "visitor-" + cookie.Value
	}
	id := rand.Text()
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: id, Path: "/", MaxAge: cookieDays * 24 * 60 * 60,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	return "visitor-" + id
}

// limiter counts the sessions of each address in windows of time.
type limiter struct {
	mu     sync.Mutex
	since  time.Time
	counts map[string]int
}

// allow reports whether an address may create another session now.
func (l *limiter) allow(address string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) > window || len(l.counts) > maxAddresses {
		l.since, l.counts = now, map[string]int{}
	}
	l.counts[address]++
	return l.counts[address] <= maxSessions
}
