package idempotency

import (
	"bytes"
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
	// retention is how long an answer is replayed. Source: decisions, Addressing and versions.
	retention = 24 * time.Hour
	// Lease is how long a claim is valid after it was made or extended; the work calls Extend well
	// within it. It ends before a turn whose node was lost is given up, so that a repeated request
	// resumes the turn.
	Lease = 12 * time.Second
	// retryAfter is how long a caller is told to wait whose first request still runs.
	retryAfter = time.Second
	// beginTries bounds how often Begin tries again when the row was deleted between its two
	// statements.
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

// Claim is the right to do the work of a request, or the answer that the request already got.
type Claim struct {
	// Answer is to be replayed. nil: the work is to be done, and Keep or Release to be called after
	// it.
	Answer *Answer
	// Running says that the first request is being done somewhere, so that there is nothing to do
	// and nothing to settle. What it creates has its id from Seed.
	Running bool

	service        *Service
	place          place
	id             string
	seed           idgen.Seed
	outcomeUnknown bool
}

// Begin claims the key for the caller's request, or finds the first such request: its answer, or
// that it is Running. Errors: Invalid invalid-request (the key's shape), AlreadyExists
// idempotency-key-reused (the key came with another request), Aborted idempotency-key-in-flight.
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
		claimed, err := s.claim(ctx, at, fingerprint, r)
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
	return nil, InFlight()
}

// claim returns a new claim, or nil if another request holds the key.
func (s *Service) claim(ctx context.Context, at place, fingerprint []byte, r Request) (*Claim, error) {
	now := s.micros()
	id := idgen.UUID()
	since, err := claim(ctx, s.db, row{
		place: at, Fingerprint: fingerprint, ClaimID: id, LeaseUntil: now.Add(Lease), CreatedAt: now, ExpiresAt: now.Add(retention),
		SessionID: r.SessionID, UserHash: userHash(r.UserID),
	})
	if postgres.NoRows(err) {
		return nil, nil //nolint:nilnil // another request holds the key
	}
	if err != nil {
		return nil, fmt.Errorf("claim the key: %w", postgres.MapError(err))
	}
	return &Claim{service: s, place: at, id: id, seed: seedOf(at, fingerprint, since)}, nil
}

// seedOf is the seed of a request whose key has been in use since then.
func seedOf(at place, fingerprint []byte, since time.Time) idgen.Seed {
	secret := digestOf([]byte(at.TenantID), []byte(at.CallerID), at.KeyHash, fingerprint, []byte(since.UTC().Format(time.RFC3339Nano)))
	return idgen.Seed{At: since, Secret: secret}
}

// replay compares the request with the one that holds the key.
func (s *Service) replay(ctx context.Context, at place, held row, fingerprint []byte) (*Claim, error) {
	if !bytes.Equal(held.Fingerprint, fingerprint) {
		return nil, Reused()
	}
	if held.Answer == nil {
		return &Claim{Running: true, service: s, place: at, seed: seedOf(at, fingerprint, held.CreatedAt)}, nil
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

// InFlight says that the first request with a key still runs.
func InFlight() error {
	decided := fault.New(fault.IdempotencyInFlight, "The first request with this Idempotency-Key is still running; repeat it in a moment.")
	decided.RetryAfter = retryAfter
	return decided
}

// Keep stores the answer for repeated requests. A claim that was taken over, because its lease
// expired, stores nothing: the answer of the later run counts.
func (c *Claim) Keep(ctx context.Context, a Answer) error {
	plain, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode the key's answer: %w", err)
	}
	sealed, err := c.service.keys.Seal(ctx, plain, c.place.binding())
	if err != nil {
		return fmt.Errorf("seal the key's answer: %w", err)
	}
	return keep(ctx, c.service.db, c.place, c.id, sealed, a.SessionID)
}

// Seed is the same for every run of the request: what an earlier run made is found by its id.
func (c *Claim) Seed() idgen.Seed { return c.seed }

// MarkOutcomeUnknown notes that it is unknown whether the work was done: a commit may have
// succeeded although its answer was lost. Release then keeps the key for the same request.
func (c *Claim) MarkOutcomeUnknown() { c.outcomeUnknown = true }

// Release gives up the key. The request can be made again at once; if nothing was done, the key is
// free for any request.
func (c *Claim) Release(ctx context.Context) error {
	if c.outcomeUnknown {
		return setLease(ctx, c.service.db, c.place, c.id, c.service.micros())
	}
	return release(ctx, c.service.db, c.place, c.id)
}

// Extend extends the lease while the work runs.
func (c *Claim) Extend(ctx context.Context) error {
	return setLease(ctx, c.service.db, c.place, c.id, c.service.micros().Add(Lease))
}

// Sweep deletes the rows of all tenants that have expired by now.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	for {
		n, err := deleteExpired(ctx, s.db, now, sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}

// micros returns the time with the precision of Postgres.
func (s *Service) micros() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// placeOf returns the primary key for a request. Error: the principal is nobody, which is a bug.
func placeOf(caller workspaces.Principal, key string, r Request) (place, error) {
	callerID := caller.CallerID()
	if caller.TenantID == "" || callerID == "" {
		return place{}, errors.New("an Idempotency-Key of nobody")
	}
	return place{TenantID: string(caller.TenantID), CallerID: callerID, KeyHash: digestOf([]byte(key), []byte(r.Operation))}, nil
}

// binding is what the sealed answer is bound to: it cannot be opened in another row.
func (p place) binding() seal.Binding {
	return seal.Binding{TenantID: p.TenantID, Record: "idempotency_keys/" + p.CallerID + "/" + hex.EncodeToString(p.KeyHash), Field: "answer"}
}
