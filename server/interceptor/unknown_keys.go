package interceptor

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/workspaces"
)

const (
	// rememberUnknown is how long a key that does not exist is refused without a query. A new key
	// cannot have been tried before, so only a restored database has to wait for it.
	rememberUnknown = 30 * time.Second
	// maxRemembered bounds each cache, at about 200 bytes an entry.
	maxRemembered = 10_000
	// ipv6CallerBits is the part of an IPv6 address that one caller is given.
	ipv6CallerBits = 64
)

// UnknownKeysDeps is what UnknownKeys works with.
type UnknownKeysDeps struct {
	// Keys looks keys up in the database.
	Keys Authenticator
	// PerMinute is how many queries a minute an address may cause with keys that do not exist. Twice
	// as many may come at once. 0 means no limit.
	PerMinute int
	Now       func() time.Time
	Registry  prometheus.Registerer
}

// UnknownKeys is an Authenticator that bounds the queries for keys that do not exist. Texts that
// are no keys need none. The same unknown key needs one in 30 s. An address that tries more of them
// than it may gets 429, except for keys that this server has accepted before: those are looked up
// always. It is safe for concurrent use.
type UnknownKeys struct {
	deps  UnknownKeysDeps
	asked *prometheus.CounterVec
	// accepted are keys that this server has accepted. They are looked up each time nevertheless.
	accepted *cache.Cache[keyHash, struct{}]
	unknown  *cache.Cache[keyHash, unknownKey]

	mu sync.Mutex
	// fullAt is when an address may cause its whole burst of queries again.
	fullAt *cache.Cache[netip.Prefix, time.Time]
}

type keyHash [sha256.Size]byte

// unknownKey is a refusal that holds until a time.
type unknownKey struct {
	until time.Time
	err   error
}

// NewUnknownKeys makes the authenticator.
func NewUnknownKeys(d UnknownKeysDeps) *UnknownKeys {
	asked := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_unknown_keys_total",
		Help: "Requests with a key that does not exist, or one that a server did not look up, by what came of it.",
	}, []string{"outcome"})
	d.Registry.MustRegister(asked)
	return &UnknownKeys{
		deps: d, asked: asked,
		accepted: cache.New[keyHash, struct{}](maxRemembered), unknown: cache.New[keyHash, unknownKey](maxRemembered),
		fullAt: cache.New[netip.Prefix, time.Time](maxRemembered),
	}
}

// Authenticate is Keys.Authenticate. Errors: also RateLimited rate-limited.
func (u *UnknownKeys) Authenticate(ctx context.Context, token string) (workspaces.Principal, error) {
	if !idgen.CheckKey(token) {
		return u.deps.Keys.Authenticate(ctx, token) // refuses it without a query
	}
	hash, now, address := keyHash(sha256.Sum256([]byte(token))), u.deps.Now(), callerPrefix(ClientAddress(ctx))
	_, accepted := u.accepted.Get(hash)
	if !accepted {
		if known, ok := u.unknown.Get(hash); ok && now.Before(known.until) {
			u.asked.WithLabelValues("cached").Inc()
			return workspaces.Principal{}, known.err
		}
		if wait := u.wait(address, now); wait > 0 {
			u.asked.WithLabelValues("refused").Inc()
			refusal := fault.New(fault.RateLimitedReason, "Too many keys that do not exist came from your address; try again in %s.", wait)
			refusal.RetryAfter = wait
			return workspaces.Principal{}, refusal
		}
	}
	principal, err := u.deps.Keys.Authenticate(ctx, token)
	switch {
	case errors.Is(err, workspaces.ErrUnknownKey):
		u.asked.WithLabelValues("queried").Inc()
		u.accepted.Delete(hash)
		u.unknown.Set(hash, unknownKey{until: now.Add(rememberUnknown), err: err})
		u.count(address, now)
	case err == nil && !accepted:
		u.accepted.Set(hash, struct{}{})
	}
	return principal, err
}

// interval is how often an address gets a query back.
func (u *UnknownKeys) interval() time.Duration { return time.Minute / time.Duration(u.deps.PerMinute) }

// wait is how long an address waits for a query, in whole seconds.
func (u *UnknownKeys) wait(address netip.Prefix, now time.Time) time.Duration {
	if u.deps.PerMinute <= 0 {
		return 0
	}
	fullAt, _ := u.fullAt.Get(address)
	nextAt := fullAt.Add(-u.interval() * time.Duration(u.deps.PerMinute*burstFactor-1))
	return time.Duration(math.Ceil(max(0, nextAt.Sub(now)).Seconds())) * time.Second
}

// count takes a query from an address. Requests that came at the same moment may take more than it
// has; it then waits longer.
func (u *UnknownKeys) count(address netip.Prefix, now time.Time) {
	if u.deps.PerMinute <= 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	fullAt, _ := u.fullAt.Get(address)
	if fullAt.Before(now) {
		fullAt = now
	}
	u.fullAt.Set(address, fullAt.Add(u.interval()))
}

// callerPrefix is the range of addresses that belongs to the caller. It is not valid when the
// caller's address is not known; those callers are counted together.
func callerPrefix(address netip.Addr) netip.Prefix {
	bits := address.BitLen()
	if address.Is6() {
		bits = ipv6CallerBits
	}
	prefix, _ := address.Prefix(bits) // an invalid address has no prefix
	return prefix
}
