package interceptor_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/workspaces"
)

type limits struct {
	*interceptor.Limiter
	client   goredis.UniversalClient
	registry *prometheus.Registry
	now      time.Time
}

func newLimits(t *testing.T, redisURL string) *limits {
	t.Helper()
	client, err := redis.Open(redis.Config{URL: redisURL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	l := &limits{client: client, registry: prometheus.NewRegistry(), now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	plans := workspaces.Plans{
		"small": {RatesPerMinute: map[string]int{"read": 60, "session": 3}}, "free-for-all": {},
	}
	l.Limiter = interceptor.NewLimiter(interceptor.LimiterDeps{
		Redis: client, Timeout: time.Minute, SessionPerMinute: 10, Plan: func(name string) workspaces.Plan { return plans[name] },
		Now: func() time.Time { return l.now }, Log: slog.New(slog.DiscardHandler), Registry: l.registry,
	})
	return l
}

// Methods of the buckets.
var (
	read   = interceptor.Policy{Rate: "read"}
	write  = interceptor.Policy{Rate: "write"}
	turn   = interceptor.Policy{Rate: "write", Spends: true}
	query  = interceptor.Policy{Rate: "read", Spends: true}
	create = interceptor.Policy{Rate: "session", Spends: true}
)

// taken says how many of n calls pass, and the last refusal.
func (l *limits) taken(
	t *testing.T, p workspaces.Principal, method interceptor.Policy, n int,
) (passed int, header http.Header, refusal *fault.Error) {
	t.Helper()
	for range n {
		header = http.Header{}
		if err := l.Take(t.Context(), p, method, header); err != nil {
			refusal = fault.From(err)
			continue
		}
		passed++
	}
	return passed, header, refusal
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	l := newLimits(t, redistest.New(t))
	key := workspaces.Principal{KeyID: "key_a", Plan: "small"}

	passed, header, refusal := l.taken(t, key, read, 150)
	if passed != 120 {
		t.Errorf("%d calls passed at once, want a burst of twice a minute's 60", passed)
	}
	if refusal == nil || refusal.Reason != fault.RateLimitedReason || refusal.RetryAfter != time.Second {
		t.Errorf("refused with %v", refusal)
	}
	if header.Get("RateLimit-Limit") != "120" || header.Get("RateLimit-Remaining") != "0" || header.Get("RateLimit-Reset") != "120" {
		t.Errorf("headers are %v", header)
	}
	l.now = l.now.Add(5 * time.Second)
	if passed, _, _ := l.taken(t, key, read, 10); passed != 5 {
		t.Errorf("%d calls passed after 5 s, want one a second", passed)
	}
	if passed, _, _ := l.taken(t, workspaces.Principal{KeyID: "key_b", Plan: "small"}, read, 10); passed != 10 {
		t.Errorf("another key was counted together with the first: %d passed", passed)
	}
	if passed, header, _ := l.taken(t, workspaces.Principal{KeyID: "key_c", Plan: "free-for-all"}, read,
		500); passed != 500 || len(header) != 0 {
		t.Errorf("a plan without limits let %d pass and said %v", passed, header)
	}
}

func TestLimiterWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	l := newLimits(t, server.URL)
	server.Kill()
	key := workspaces.Principal{KeyID: "key_a", Plan: "small"}
	if passed, _, _ := l.taken(t, key, read, 7); passed != 7 {
		t.Errorf("%d reads passed without Redis, want all", passed)
	}
	if passed, _, refusal := l.taken(t, key, create, 5); passed != 3 || refusal == nil {
		t.Errorf("%d session creations passed without Redis, want this node's limit of 3", passed)
	}
	if passed, _, _ := l.taken(t, key, query, 70); passed != 60 {
		t.Errorf("%d queries passed without Redis, want this node's limit of 60", passed)
	}
	token := workspaces.Principal{SessionID: "ses_a", Plan: "small"}
	if passed, _, _ := l.taken(t, token, turn, 12); passed != 10 {
		t.Errorf("%d turns of a session's token passed without Redis, want this node's limit of 10", passed)
	}
	l.now = l.now.Add(time.Minute)
	if passed, _, _ := l.taken(t, key, create, 1); passed != 1 {
		t.Error("the next minute is not counted anew")
	}
	const want = `
# HELP parlance_ratelimit_bypassed_total Requests that were not counted because Redis did not answer, by bucket.
# TYPE parlance_ratelimit_bypassed_total counter
parlance_ratelimit_bypassed_total{bucket="read"} 77
parlance_ratelimit_bypassed_total{bucket="session"} 6
parlance_ratelimit_bypassed_total{bucket="session_token"} 12
# HELP parlance_ratelimit_refused_total Requests refused because their key had no token left, by bucket.
# TYPE parlance_ratelimit_refused_total counter
parlance_ratelimit_refused_total{bucket="read"} 10
parlance_ratelimit_refused_total{bucket="session"} 2
parlance_ratelimit_refused_total{bucket="session_token"} 2
`
	err := testutil.GatherAndCompare(l.registry, stringReader(want), "parlance_ratelimit_bypassed_total", "parlance_ratelimit_refused_total")
	if err != nil {
		t.Error(err)
	}
}

// TestLimiterCountsWhoHangsUp: the work of a request may outlive its caller, so it counts.
func TestLimiterCountsWhoHangsUp(t *testing.T) {
	t.Parallel()
	l := newLimits(t, redistest.New(t))
	key := workspaces.Principal{KeyID: "key_a", Plan: "small"}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	passed := 0
	for range 20 {
		if l.Take(gone, key, create, http.Header{}) == nil {
			passed++
		}
	}
	if passed != 6 {
		t.Errorf("%d passed, want a burst of twice a minute's 3", passed)
	}
}

// TestLimiterLeavesRedisAlone: while Redis is away only one request a second waits for it.
func TestLimiterLeavesRedisAlone(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	l := newLimits(t, server.URL)
	var asked commandCounter
	l.client.AddHook(&asked)
	server.Kill()
	key := workspaces.Principal{KeyID: "key_a", Plan: "small"}
	if passed, _, _ := l.taken(t, key, read, 50); passed != 50 || asked.Swap(0) != 1 {
		t.Errorf("%d of 50 passed without Redis, or it was not asked just once", passed)
	}
	l.now = l.now.Add(time.Second)
	if l.taken(t, key, read, 50); asked.Swap(0) != 1 {
		t.Error("Redis was not asked just once in the next second")
	}
	server.Start()
	l.now = l.now.Add(time.Second)
	if _, header, _ := l.taken(t, key, read, 10); asked.Load() < 10 || header.Get("RateLimit-Remaining") != "110" {
		t.Errorf("Redis is back and was asked %d times for 10; %v", asked.Load(), header)
	}
}

// commandCounter counts the commands of a client.
type commandCounter struct{ atomic.Int32 }

func (*commandCounter) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (a *commandCounter) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		a.Add(1)
		return next(ctx, command)
	}
}

func (*commandCounter) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

// TestLimiterOfSessionTokens: all requests with a session's token share one bucket.
func TestLimiterOfSessionTokens(t *testing.T) {
	t.Parallel()
	l := newLimits(t, redistest.New(t))
	one, other := workspaces.Principal{SessionID: "ses_a"}, workspaces.Principal{SessionID: "ses_b"}
	if passed, _, _ := l.taken(t, one, read, 10); passed != 10 {
		t.Errorf("%d calls passed, want 10", passed)
	}
	passed, header, refusal := l.taken(t, one, write, 20)
	if passed != 10 || refusal == nil || refusal.Reason != fault.RateLimitedReason || refusal.RetryAfter != 6*time.Second ||
		header.Get("RateLimit-Limit") != "20" || header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("%d calls passed, then %v with %v; want a burst of twice a minute's 10", passed, refusal, header)
	}
	if passed, _, _ := l.taken(t, other, read, 5); passed != 5 {
		t.Errorf("%d calls of another session passed, want 5", passed)
	}
}
