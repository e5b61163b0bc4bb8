package interceptor

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// burstFactor is how many minutes' worth of requests may come at once. Source: decisions,
// Addressing.
const burstFactor = 2

// limiterTimeout bounds how long a slow Redis may delay a request, unless LimiterDeps has another
// bound.
const limiterTimeout = 250 * time.Millisecond

// redisPause is how long Redis is left alone after it did not answer: each request would wait for
// it.
const redisPause = time.Second

// takeToken is a token bucket in Redis. KEYS[1] is the bucket; ARGV are tokens a second, capacity
// and now in seconds. It returns whether a token was taken, how many are left, and in how many
// seconds there is the next one.
var takeToken = redis.NewScript(`
local rate, capacity, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local held = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(held[1]) or capacity, tonumber(held[2]) or now
tokens = math.min(capacity, tokens + math.max(0, now - at) * rate)
local taken = tokens >= 1
if taken then tokens = tokens - 1 end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
redis.call('EXPIRE', KEYS[1], math.ceil(capacity / rate) + 1)
local wait = 0
if not taken then wait = (1 - tokens) / rate end
return {taken and 1 or 0, tostring(tokens), tostring(wait)}`)

// LimiterDeps is what a Limiter works with.
type LimiterDeps struct {
	Redis redis.Scripter
	// Timeout bounds a call of Redis; 0 means 250 ms.
	Timeout time.Duration
	// Plan says what a plan allows, by its name.
	Plan func(name string) workspaces.Plan
	// SessionPerMinute is how many requests a minute may come with the token of one session, whatever
	// their kind. 0 means no limit.
	SessionPerMinute int
	Now              func() time.Time
	Log              *slog.Logger
	Registry         prometheus.Registerer
}

// sessionTokenBucket is the bucket of all requests with a session's token.
const sessionTokenBucket = "session_token"

// Limiter counts the requests of each API key, person and session's token in token buckets in
// Redis. While Redis is unavailable, requests are not limited and parlance_ratelimit_bypassed_total
// counts them; those that spend money have a limit of this node instead.
type Limiter struct {
	deps     LimiterDeps
	bypassed *prometheus.CounterVec
	refused  *prometheus.CounterVec

	// local counts the requests of each bucket that spend money in the current minute, while Redis is
	// unavailable.
	mu     sync.Mutex
	minute int64
	local  map[string]int
	// askRedisAt is when Redis is asked next; zero while it answers.
	askRedisAt time.Time
}

// NewLimiter makes a limiter.
func NewLimiter(d LimiterDeps) *Limiter {
	bypassed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_ratelimit_bypassed_total",
		Help: "Requests that were not counted because Redis did not answer, by bucket.",
	}, []string{"bucket"})
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_ratelimit_refused_total", Help: "Requests refused because their key had no token left, by bucket.",
	}, []string{"bucket"})
	d.Registry.MustRegister(bypassed, refused)
	return &Limiter{deps: d, bypassed: bypassed, refused: refused, local: map[string]int{}}
}

// Take takes a token of the caller's bucket for a method and sets the RateLimit-* headers.
// Errors: RateLimited rate-limited with the time to wait.
func (l *Limiter) Take(ctx context.Context, p workspaces.Principal, method Policy, header http.Header) error {
	bucket := method.Rate
	caller, perMinute := p.CallerID(), l.deps.Plan(p.Plan).RatesPerMinute[bucket]
	if p.SessionID != "" {
		bucket, perMinute = sessionTokenBucket, l.deps.SessionPerMinute
	}
	if perMinute <= 0 || caller == "" {
		return nil
	}
	if !l.shouldAskRedis() {
		return l.withoutRedis(caller, bucket, perMinute, method.Spends)
	}
	// The caller's context is not used. A caller that hangs up at once would not be counted, and
	// Redis would seem to be unavailable.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(l.deps.Timeout, limiterTimeout))
	defer cancel()
	rate, capacity := float64(perMinute)/60, perMinute*burstFactor
	key := "parlance:rate:" + caller + ":" + bucket
	now := float64(l.deps.Now().UnixMicro()) / 1e6
	answer, err := takeToken.Run(ctx, l.deps.Redis, []string{key}, rate, capacity, strconv.FormatFloat(now, 'f', 6, 64)).Slice()
	l.noteRedis(err)
	if err != nil || len(answer) != 3 {
		return l.withoutRedis(caller, bucket, perMinute, method.Spends)
	}
	taken, _ := answer[0].(int64)
	left, wait := number(answer[1]), number(answer[2])
	header.Set("RateLimit-Limit", strconv.Itoa(capacity))
	header.Set("RateLimit-Remaining", strconv.Itoa(int(left)))
	header.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil((float64(capacity)-left)/rate))))
	if taken == 1 {
		return nil
	}
	l.refused.WithLabelValues(bucket).Inc()
	return tooMany(bucket, perMinute, time.Duration(math.Ceil(wait))*time.Second)
}

func number(v any) float64 {
	text, _ := v.(string)
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

func tooMany(bucket string, perMinute int, wait time.Duration) error {
	refusal := fault.New(fault.RateLimitedReason, "You may make %d %s requests a minute; try again in %s.", perMinute, bucket, wait)
	if bucket == sessionTokenBucket {
		refusal = fault.New(fault.RateLimitedReason, "The session's token may make %d requests a minute; try again in %s.", perMinute, wait)
	}
	refusal.RetryAfter = wait
	return refusal
}

// shouldAskRedis reports whether to ask Redis: always while it answers, else once a pause.
func (l *Limiter) shouldAskRedis() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.askRedisAt.IsZero() {
		return true
	}
	now := l.deps.Now()
	if now.Before(l.askRedisAt) {
		return false
	}
	l.askRedisAt = now.Add(redisPause)
	return true
}

// noteRedis notes whether Redis answered, and logs a change.
func (l *Limiter) noteRedis(err error) {
	l.mu.Lock()
	was := l.askRedisAt
	l.askRedisAt = time.Time{}
	if err != nil {
		l.askRedisAt = l.deps.Now().Add(redisPause)
	}
	l.mu.Unlock()
	switch {
	case err != nil && was.IsZero():
		l.deps.Log.Warn("requests are not counted for rate limits: Redis does not answer", "error", err)
	case err == nil && !was.IsZero():
		l.deps.Log.Info("requests are counted for rate limits again")
	}
}

func (l *Limiter) withoutRedis(caller, bucket string, perMinute int, spends bool) error {
	l.bypassed.WithLabelValues(bucket).Inc()
	if !spends {
		return nil
	}
	key, minute := caller+":"+bucket, l.deps.Now().Unix()/60
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.minute != minute {
		l.minute = minute
		clear(l.local)
	}
	if l.local[key] >= perMinute {
		l.refused.WithLabelValues(bucket).Inc()
		return tooMany(bucket, perMinute, time.Minute)
	}
	l.local[key]++
	return nil
}
