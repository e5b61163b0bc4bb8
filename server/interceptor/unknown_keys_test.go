package interceptor_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/workspaces"
)

// counting looks keys up as the database does, and counts the queries.
type counting struct {
	known   map[string]bool
	queries int
}

func (c *counting) Authenticate(_ context.Context, token string) (workspaces.Principal, error) {
	if !idgen.CheckKey(token) {
		return workspaces.Principal{}, fault.New(fault.AuthInvalidKey, "no key")
	}
	c.queries++
	if !c.known[token] {
		return workspaces.Principal{}, fault.Wrap(workspaces.ErrUnknownKey, fault.AuthInvalidKey, "unknown")
	}
	return workspaces.Principal{KeyID: "key_a"}, nil
}

type strangers struct {
	*interceptor.UnknownKeys
	keys counting
	now  time.Time
}

func newStrangers(perMinute int) *strangers {
	s := &strangers{keys: counting{known: map[string]bool{}}, now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	s.UnknownKeys = interceptor.NewUnknownKeys(interceptor.UnknownKeysDeps{
		Keys: &s.keys, PerMinute: perMinute, Now: func() time.Time { return s.now }, Registry: prometheus.NewRegistry(),
	})
	return s
}

// from sends a key from an address.
func (s *strangers) from(address, key string) (err error) {
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.RemoteAddr = address
	interceptor.WithCaller(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err = s.Authenticate(r.Context(), key)
	}), interceptor.CallerConfig{}).ServeHTTP(httptest.NewRecorder(), request)
	return err
}

// tries sends n unknown keys from an address and says how many were looked up.
func (s *strangers) tries(t *testing.T, address string, n int) (lookedUp int) {
	t.Helper()
	for range n {
		if fault.ReasonOf(s.from(address, idgen.NewKey(rand.Reader))) == fault.AuthInvalidKey {
			lookedUp++
		}
	}
	return lookedUp
}

func TestUnknownKeyIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	s, key := newStrangers(1), idgen.NewKey(rand.Reader)
	for range 50 {
		if err := s.from("192.0.2.1:80", key); !fault.IsReason(err, fault.AuthInvalidKey) {
			t.Fatal(err)
		}
	}
	if s.keys.queries != 1 {
		t.Errorf("%d queries, want one", s.keys.queries)
	}
	s.now = s.now.Add(30 * time.Second)
	s.keys.known[key] = true // the database was restored
	if err := s.from("192.0.2.1:80", key); err != nil {
		t.Error(err)
	}
}

func TestUnknownKeysOfAnAddress(t *testing.T) {
	t.Parallel()
	const address, sameHost, other = "[2001:db8::1]:80", "[2001:db8::2]:80", "[2001:db8:0:1::1]:80"
	s := newStrangers(6)
	accepted, late := idgen.NewKey(rand.Reader), idgen.NewKey(rand.Reader)
	s.keys.known[accepted], s.keys.known[late] = true, true
	if err := s.from(other, accepted); err != nil {
		t.Fatal(err)
	}
	if n := s.tries(t, address, 50); n != 12 || s.keys.queries != 13 {
		t.Errorf("%d were looked up with %d queries, want twice a minute's 6", n, s.keys.queries)
	}
	err := fault.From(s.from(sameHost, late))
	if err == nil || err.Reason != fault.RateLimitedReason || err.RetryAfter != 10*time.Second {
		t.Errorf("a key that was not accepted before: %v", err)
	}
	if err := s.from(sameHost, accepted); err != nil {
		t.Errorf("a key that was: %v", err)
	}
	if n := s.tries(t, other, 1); n != 1 {
		t.Error("another network was counted together with the first")
	}
	s.now = s.now.Add(20 * time.Second)
	if n := s.tries(t, address, 50); n != 2 {
		t.Errorf("%d were looked up after 20 s, want one in 10 s", n)
	}
	if n := newStrangers(0).tries(t, address, 500); n != 500 {
		t.Errorf("without a limit %d of 500 were looked up", n)
	}
}
