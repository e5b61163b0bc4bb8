package idempotency

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

const (
	// keepFor is how long an answer is replayed. Source: decisions, Addressing and versions.
	keepFor = 24 * time.Hour
	// Lease is how long a silent run owns its key; whoever works calls Extend well within it.
	Lease = time.Minute
	// retryAfter is what a caller whose first request still runs is told to wait.
	retryAfter = time.Second
	// beginTries bounds how often Begin looks again when the row went away between two looks.
	beginTries = 3
	// sweepBatch is how many rows one statement of Sweep deletes.
	sweepBatch = 1000
)

// Deps is what a Service works with; DB and Keys are required.
type Deps struct {
	DB *postgres.DB
	// Keys seal the answers.
	Keys *seal.Keyring
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service keeps keys and answers.
type Service struct {
	db   *postgres.DB
	keys *seal.Keyring
	now  func() time.Time
}

// New makes a Service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, keys: d.Keys, now: d.Now}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Claim is the right to do the work of a request, or the answer it got already.
type Claim struct {
	// Answer is to be replayed; nil: the work is to be done, then Keep or Release called.
	Answer *Answer

	service *Service
	place   place
	id      string
	seed    idgen.Seed
	doubted bool
}

// Begin claims the key for the caller's request, or finds what the first such request got.
// Errors: Invalid invalid-request (the key's shape), AlreadyExists idempotency-key-reused (the
// key came with another request), Aborted idempotency-key-in-flight (the first still runs).
func (s *Service) Begin(ctx context.Context, caller workspaces.Principal, key string, r Request) (*Claim, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	at, err := placeOf(caller, key, r)
	if err != nil {
		return nil, err
	}
	fingerprint := r.fingerprint(key)
	for range beginTries {
		claimed, err := s.claim(ctx, at, fingerprint)
		if claimed != nil || err != nil {
			return claimed, err
		}
		held, err := find(ctx, s.db, at)
		if postgres.NoRows(err) { // released or swept since
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find the key's answer: %w", postgres.MapError(err))
		}
		return s.replay(ctx, at, held, fingerprint)
	}
	return nil, errInFlight()
}

// claim returns a new claim, nil when another holds the key.
func (s *Service) claim(ctx context.Context, at place, fingerprint []byte) (*Claim, error) {
	now := s.micros()
	id := idgen.UUID()
	since, err := claim(ctx, s.db, row{
		place: at, Fingerprint: fingerprint, ClaimID: id, LeaseUntil: now.Add(Lease), CreatedAt: now, ExpiresAt: now.Add(keepFor),
	})
	if postgres.NoRows(err) {
		return nil, nil //nolint:nilnil // held by another, as the comment says
	}
	if err != nil {
		return nil, fmt.Errorf("claim the key: %w", postgres.MapError(err))
	}
	secret := digestOf([]byte(at.TenantID), []byte(at.CallerID), at.KeyHash, fingerprint, []byte(since.UTC().Format(time.RFC3339Nano)))
	return &Claim{service: s, place: at, id: id, seed: idgen.Seed{At: since, Secret: secret}}, nil
}

// replay judges what is held under the key.
func (s *Service) replay(ctx context.Context, at place, held row, fingerprint []byte) (*Claim, error) {
	if !bytes.Equal(held.Fingerprint, fingerprint) {
		return nil, Reused()
	}
	if held.Answer == nil {
		return nil, errInFlight()
	}
	plain, err := s.keys.Open(ctx, held.Answer, at.binding())
	if err != nil {
		return nil, fmt.Errorf("open the key's answer: %w", err)
	}
	answer := new(Answer)
	if err := json.Unmarshal(plain, answer); err != nil {
		return nil, fmt.Errorf("decode the key's answer: %w", err)
	}
	return &Claim{Answer: answer, service: s, place: at}, nil
}

func errInFlight() error {
	decided := fault.New(fault.IdempotencyInFlight, "The first request with this Idempotency-Key is still running; repeat it in a moment.")
	decided.RetryAfter = retryAfter
	return decided
}

// Keep stores the answer for those who repeat the request. A claim that was taken over, because
// it was silent for the time of its lease, stores nothing: the other run's answer counts.
func (c *Claim) Keep(ctx context.Context, a Answer) error {
	plain, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode the key's answer: %w", err)
	}
	sealed, err := c.service.keys.Seal(ctx, plain, c.place.binding())
	if err != nil {
		return fmt.Errorf("seal the key's answer: %w", err)
	}
	return keep(ctx, c.service.db, c.place, c.id, sealed)
}

// Seed is the same for every run of the request: what an earlier run made is found by its id.
func (c *Claim) Seed() idgen.Seed { return c.seed }

// Doubt says that nobody knows whether the work was done: a commit may have succeeded although
// its answer was lost. Release then keeps the key for the same request.
func (c *Claim) Doubt() { c.doubted = true }

// Release gives the key back, so that the request can be made again at once, or another one when
// nothing was done.
func (c *Claim) Release(ctx context.Context) error {
	if c.doubted {
		return suspend(ctx, c.service.db, c.place, c.id, c.service.micros())
	}
	return release(ctx, c.service.db, c.place, c.id)
}

// Extend says that the work still runs.
func (c *Claim) Extend(ctx context.Context) error {
	return extend(ctx, c.service.db, c.place, c.id, c.service.micros().Add(Lease))
}

// Sweep deletes what has expired by now, of all tenants: the worker has none.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	for {
		n, err := deleteExpired(ctx, s.db, now, sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}

// micros is the time as Postgres keeps it.
func (s *Service) micros() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// placeOf errors: the principal is nobody, which is a fault of ours.
func placeOf(caller workspaces.Principal, key string, r Request) (place, error) {
	callerID := cmp.Or(string(caller.KeyID), caller.SessionID)
	if caller.TenantID == "" || callerID == "" {
		return place{}, errors.New("an Idempotency-Key of nobody")
	}
	return place{TenantID: string(caller.TenantID), CallerID: callerID, KeyHash: digestOf([]byte(key), []byte(r.Method), []byte(r.Path))}, nil
}

// binding is where the answer belongs: a blob in another row does not open.
func (p place) binding() seal.Binding {
	return seal.Binding{TenantID: p.TenantID, Record: "idempotency_keys/" + p.CallerID + "/" + hex.EncodeToString(p.KeyHash), Field: "answer"}
}
