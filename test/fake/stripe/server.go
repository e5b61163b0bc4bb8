package stripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// APIKey is the key that the server takes, a key for tests.
const APIKey = "sk_test_51FakeFakeFake0123"

// expiresAfter is how long a checkout can be used. Source: docs.stripe.com/api/checkout/sessions.
const expiresAfter = 24 * time.Hour

// Call is a request that the server has answered.
type Call struct {
	Path           string
	Form           url.Values
	Version        string
	IdempotencyKey string
	Status         int
}

// Server is a running fake. Safe for concurrent use.
type Server struct {
	// URL is its root, without /v1.
	URL string

	mu    sync.Mutex
	now   func() time.Time
	calls []Call
	kept  map[string]kept
	fail  []int
	lose  int
	// stuck gets a value for each call that gets no answer; nil: all get one. carriesOut says that
	// such calls are carried out.
	stuck      chan struct{}
	carriesOut bool
	gone       []string
	usage      []MeterEvent
}

// keyLife is how long the answer to an idempotency key is kept. Source: docs.stripe.com/api,
// Idempotent requests.
const keyLife = 24 * time.Hour

// kept is the answer to an idempotency key.
type kept struct {
	at     time.Time
	form   string
	status int
	body   []byte
}

// New runs a server for the length of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{kept: map[string]kept{}, now: time.Now}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/billing/meter_events", s.answer(s.meterEvent))
	mux.HandleFunc("POST /v1/checkout/sessions", s.answer(checkout))
	mux.HandleFunc("POST /v1/billing_portal/sessions", s.answer(portal))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Fail makes the next calls answer these statuses, as Stripe does when it is in trouble.
func (s *Server) Fail(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = statuses
}

// SetClock gives the server another clock than the machine's.
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Lose makes the next n calls answer 500 although they are carried out.
func (s *Server) Lose(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = n
}

// maxStuck bounds the calls that get no answer.
const maxStuck = 100

// Hang makes every later call wait until its caller has gone. stuck gets a value for each.
func (s *Server) Hang() (stuck <-chan struct{}) { return s.hang(false) }

// Hold is Hang, and the calls are carried out.
func (s *Server) Hold() (stuck <-chan struct{}) { return s.hang(true) }

func (s *Server) hang(carriesOut bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck, s.carriesOut = make(chan struct{}, maxStuck), carriesOut
	return s.stuck
}

// Release makes the server answer later calls again.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = nil
}

// Calls are the calls that were answered.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// refusal is an error of Stripe.
type refusal struct {
	status                     int
	kind, code, message, param string
}

func (r refusal) body() []byte {
	encoded, _ := json.Marshal(map[string]any{"error": map[string]any{ // only strings
		"type": r.kind, "code": r.code, "message": r.message, "param": r.param, "doc_url": "https://stripe.com/docs/error-codes",
	}})
	return encoded
}

// answer checks what Stripe checks of every request, and answers the same key in the same way.
func (s *Server) answer(make func(form url.Values) (map[string]any, *refusal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		stuck, carriesOut := s.stuck, s.carriesOut
		s.mu.Unlock()
		if stuck != nil {
			if carriesOut {
				s.decide(r, make)
			}
			stuck <- struct{}{}
			<-r.Context().Done()
			return
		}
		status, body := s.decide(r, make)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_Fake")
		w.WriteHeader(status)
		_, _ = w.Write(body) // the caller may be gone
	}
}

func (s *Server) decide(r *http.Request, make func(form url.Values) (map[string]any, *refusal)) (status int, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	defer func() {
		s.calls = append(s.calls, Call{
			Path: r.URL.Path, Form: r.PostForm, Version: r.Header.Get("Stripe-Version"), IdempotencyKey: key, Status: status,
		})
	}()
	if len(s.fail) > 0 {
		status, s.fail = s.fail[0], s.fail[1:]
		return status, refusal{kind: "api_error", message: "Something went wrong on Stripe's end."}.body()
	}
	if got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); got != APIKey {
		return http.StatusUnauthorized, refusal{
			kind: "invalid_request_error", message: "Invalid API Key provided: " + got[:min(len(got), 8)] + "****" + got[max(0, len(got)-4):],
		}.body()
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return http.StatusBadRequest, refusal{kind: "invalid_request_error", message: "Send a form."}.body()
	}
	form := r.PostForm.Encode()
	if before, known := s.kept[key]; known && key != "" && s.now().Before(before.at.Add(keyLife)) {
		if before.form != form {
			return http.StatusBadRequest, refusal{
				kind: "idempotency_error", message: "Keys for idempotent requests can only be used with the same parameters.",
			}.body()
		}
		return before.status, before.body
	}
	made, refused := make(r.PostForm)
	if refused != nil {
		return refused.status, refused.body()
	}
	status, body = http.StatusOK, encode(made)
	if s.lose > 0 {
		s.lose--
		status, body = http.StatusInternalServerError, refusal{kind: "api_error", message: "An unknown error occurred."}.body()
	}
	s.kept[key] = kept{at: s.now(), form: form, status: status, body: body}
	return status, body
}

// encode encodes what is made of strings and numbers.
func encode(made map[string]any) []byte {
	encoded, _ := json.Marshal(made) // it cannot fail
	return encoded
}

func checkout(form url.Values) (map[string]any, *refusal) {
	if form.Get("mode") != "subscription" || form.Get("line_items[0][quantity]") != "1" {
		return nil, &refusal{http.StatusBadRequest, "invalid_request_error", "parameter_missing", "Missing required param.", "mode"}
	}
	if price := form.Get("line_items[0][price]"); !strings.HasPrefix(price, "price_") {
		return nil, &refusal{
			http.StatusBadRequest, "invalid_request_error", "resource_missing", "No such price: '" + price + "'", "line_items[0][price]",
		}
	}
	for _, name := range []string{"success_url", "cancel_url"} {
		if refused := checkURL(form, name); refused != nil {
			return nil, refused
		}
	}
	if refused := checkCustomer(form); refused != nil {
		return nil, refused
	}
	id := fmt.Sprintf("cs_test_%d", time.Now().UnixNano())
	return map[string]any{
		"id": id, "object": "checkout.session", "mode": "subscription", "customer": nullable(form.Get("customer")),
		"client_reference_id": form.Get("client_reference_id"), "url": "https://checkout.stripe.com/c/pay/" + id,
		"expires_at": time.Now().Add(expiresAfter).Unix(), "livemode": false, "status": "open",
	}, nil
}

func portal(form url.Values) (map[string]any, *refusal) {
	if form.Get("customer") == "" {
		return nil, &refusal{http.StatusBadRequest, "invalid_request_error", "parameter_missing", "Missing required param: customer.", "customer"}
	}
	if refused := checkCustomer(form); refused != nil {
		return nil, refused
	}
	if refused := checkURL(form, "return_url"); refused != nil {
		return nil, refused
	}
	id := fmt.Sprintf("bps_%d", time.Now().UnixNano())
	return map[string]any{
		"id": id, "object": "billing_portal.session", "customer": form.Get("customer"), "return_url": form.Get("return_url"),
		"url": "https://billing.stripe.com/p/session/" + id, "livemode": false,
	}, nil
}

// checkCustomer knows every customer but those with "gone" in their ids.
func checkCustomer(form url.Values) *refusal {
	if id := form.Get("customer"); strings.Contains(id, "gone") {
		return &refusal{http.StatusBadRequest, "invalid_request_error", "resource_missing", "No such customer: '" + id + "'", "customer"}
	}
	return nil
}

// checkURL refuses hosts without a dot, which Stripe does for some URLs that browsers take.
func checkURL(form url.Values, name string) *refusal {
	u, err := url.Parse(strings.ReplaceAll(form.Get(name), "{CHECKOUT_SESSION_ID}", "x"))
	if err != nil || !strings.Contains(u.Host, ".") {
		return &refusal{http.StatusBadRequest, "invalid_request_error", "url_invalid", "Not a valid URL", name}
	}
	return nil
}

// nullable returns nil for an empty text.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
