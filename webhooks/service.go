package webhooks

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	// Keyring seals the signing secrets.
	Keyring *seal.Keyring
	// CursorKey encrypts the cursors of the feed: secret, and the same in all processes.
	CursorKey []byte
	// Guard checks URLs and makes the client that calls endpoints.
	Guard  *publicnet.Guard
	Policy Policy
	// Retention is how long events, deliveries and attempts are kept; 0: for ever. See Sweep.
	Retention time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Random makes secrets; nil is crypto/rand.
	Random io.Reader
	// ChanceFunc returns a number in [0, 1) that spreads retries; nil is math/rand. Safe for
	// concurrent use.
	ChanceFunc func() float64
	// Log may be nil.
	Log *slog.Logger
	// UnknownAgents returns those of ids that are not agents of the workspace. Package app connects
	// it with package agents. nil: ids are not checked.
	UnknownAgents func(ctx context.Context, ref workspaces.Ref, ids []string) ([]string, error)
	// Registry may be nil.
	Registry prometheus.Registerer
}

// Service manages endpoints and delivers events to them. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	keyring    *seal.Keyring
	cursorKey  []byte
	guard      *publicnet.Guard
	client     *http.Client
	durations  *prometheus.HistogramVec
	policy     Policy
	retention  time.Duration
	limiter    *limiter
	recorder   *recorder
	now        func() time.Time
	random     io.Reader
	chance     func() float64
	log        *slog.Logger

	unknownAgents func(ctx context.Context, ref workspaces.Ref, ids []string) ([]string, error)
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, workspaces: d.Workspaces, keyring: d.Keyring, cursorKey: d.CursorKey, guard: d.Guard,
		policy: d.Policy.withDefaults(), retention: d.Retention, durations: newDurations(d.Registry),
		now: d.Now, random: d.Random, chance: d.ChanceFunc, log: d.Log, unknownAgents: d.UnknownAgents,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	if s.chance == nil {
		s.chance = mathrand.Float64
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.client = d.Guard.Client(publicnet.ClientOptions{Timeout: s.policy.Timeout, MaxIdlePerHost: idlePerHost})
	s.limiter = newLimiter(s.now)
	s.recorder = newRecorder(s)
	return s
}

// moment is now with the precision of Postgres.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Create registers an endpoint and mints its secret. It checks the URL's scheme, then the events
// and options, then the address. Errors: Invalid webhook-url-not-https, webhook-event-unknown,
// webhook-url-not-public, webhook-url-unresolvable, invalid-request; Precondition
// webhook-endpoints-full.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, p CreateParams) (MintedEndpoint, error) {
	now := s.moment()
	endpoint := Endpoint{
		ID: EndpointID(idgen.In(ctx, idgen.Endpoint)), TenantID: ref.TenantID, WorkspaceID: ref.ID,
		Status: Enabled, CreatedAt: now, UpdatedAt: now,
	}
	changes, err := s.checkUpdate(ctx, ref, endpoint.ID, UpdateParams{
		URL: &p.URL, Events: &p.Events, Description: &p.Description, AgentIDs: &p.AgentIDs, Headers: &p.Headers,
		Ordered: &p.Ordered, MaxPerSecond: &p.MaxPerSecond, MaxInFlight: &p.MaxInFlight,
	})
	if err != nil {
		return MintedEndpoint{}, err
	}
	for _, apply := range changes {
		apply(&endpoint)
	}
	minted, err := s.mint(ctx, endpoint)
	if err != nil {
		return MintedEndpoint{}, err
	}
	if err := s.insert(ctx, minted.Endpoint); err != nil {
		if made, findErr := selectEndpoint(ctx, s.db, ref, endpoint.ID); findErr == nil { // see idgen.In
			secrets, err := openSecrets(ctx, s.keyring, made, now)
			if err != nil {
				return MintedEndpoint{}, err
			}
			return MintedEndpoint{Endpoint: made, Secret: seal.Secret(secrets[0])}, nil
		}
		return MintedEndpoint{}, postgres.MapError(err)
	}
	return minted, nil
}

// insert adds an endpoint to its workspace, unless the workspace is full.
func (s *Service) insert(ctx context.Context, e Endpoint) error {
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := postgres.LockTx(ctx, tx, "parlance.webhooks.endpoints."+string(e.WorkspaceID)); err != nil {
			return err
		}
		n, err := tx.NewSelect().Model((*Endpoint)(nil)).
			Where("tenant_id = ?", e.TenantID).Where("workspace_id = ?", e.WorkspaceID).Count(ctx)
		if err != nil {
			return fmt.Errorf("count webhook endpoints: %w", err)
		}
		if n >= int64(s.policy.MaxEndpoints) {
			return fault.New(fault.WebhookEndpointsFull,
				"A workspace can have at most %d webhook endpoints; delete some that are not needed.", s.policy.MaxEndpoints)
		}
		return insertEndpoint(ctx, tx, e)
	})
}

// mint gives the endpoint a new secret.
func (s *Service) mint(ctx context.Context, e Endpoint) (MintedEndpoint, error) {
	secret, err := mintSecret(s.random)
	if err != nil {
		return MintedEndpoint{}, err
	}
	e.SealedSecret, err = s.keyring.Seal(ctx, []byte(secret), secretPlace(e))
	if err != nil {
		return MintedEndpoint{}, err
	}
	e.SecretHint = hintOf(secret)
	return MintedEndpoint{Endpoint: e, Secret: seal.Secret(secret)}, nil
}

// List lists the workspace's endpoints, newest first. Errors: Invalid invalid-request.
func (s *Service) List(ctx context.Context, ref workspaces.Ref, params postgres.PageParams) ([]Endpoint, string, error) {
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(ref.TenantID), string(ref.ID)}
	return listEndpoints(ctx, s.db, ref, params)
}

// Get returns an endpoint. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id EndpointID) (Endpoint, error) {
	return selectEndpoint(ctx, s.db, ref, id)
}

// Update changes an endpoint; a new URL is resolved, and on another server needs the Headers again,
// or none. Pending deliveries of events that the endpoint does not subscribe to any more are held
// until it does again, and all of them while it is paused. Errors: as Create, and NotFound.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, id EndpointID, p UpdateParams) (Endpoint, error) {
	changes, err := s.checkUpdate(ctx, ref, id, p)
	if err != nil {
		return Endpoint{}, err
	}
	return s.change(ctx, ref, id, func(e *Endpoint) error {
		for _, apply := range changes {
			apply(e)
		}
		return nil
	})
}

// checkUpdate returns the changes of an update, or refuses it.
func (s *Service) checkUpdate(ctx context.Context, ref workspaces.Ref, id EndpointID, p UpdateParams) ([]func(*Endpoint), error) {
	var changes []func(*Endpoint)
	var u *url.URL
	if p.URL != nil {
		var err error
		if u, err = endpointURL.parse(*p.URL); err != nil {
			return nil, err
		}
	}
	if p.Events != nil {
		types, err := parseEvents(*p.Events)
		if err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.Events = types })
	}
	if p.Description != nil {
		if err := checkDescription(*p.Description); err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.Description = *p.Description })
	}
	switch {
	case p.Status == nil:
	case *p.Status == Enabled, *p.Status == Paused:
		changes = append(changes, func(e *Endpoint) { e.setStatus(*p.Status) })
	default:
		return nil, fault.InvalidField("status", "in", "status can be set to enabled or paused.")
	}
	options, err := s.checkOptions(ctx, ref, id, p)
	if err != nil {
		return nil, err
	}
	changes = append(changes, options...)
	if u != nil {
		if err := endpointURL.checkAddress(ctx, s.guard, u); err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.URL = *p.URL })
	}
	return changes, nil
}

// change locks the endpoint, applies a change to it, and holds or releases its pending deliveries.
func (s *Service) change(ctx context.Context, ref workspaces.Ref, id EndpointID, apply func(*Endpoint) error) (Endpoint, error) {
	now := s.moment()
	var endpoint Endpoint
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		var err error
		if endpoint, err = lockEndpoint(ctx, tx, ref, id); err != nil {
			return err
		}
		stored := endpoint.recipient()
		if err := apply(&endpoint); err != nil {
			return err
		}
		if err := endpoint.recipient().CheckMove(stored); err != nil {
			return err
		}
		endpoint.UpdatedAt = now
		if err := updateEndpoint(ctx, tx, endpoint); err != nil {
			return err
		}
		return holdOrRelease(ctx, tx, endpoint, now)
	})
	return endpoint, err
}

// Delete removes an endpoint with its deliveries. A repeat is not an error. Errors: NotFound.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id EndpointID) error {
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteEndpoint(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if deleted {
			return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
		}
		return s.workspaces.Gone(ctx, tx, ref.TenantID, "webhook endpoint", string(id))
	})
}

// RotateSecret gives an endpoint a new secret. The previous one signs too for RotationOverlap.
// Errors: NotFound; RateLimited rate-limited (MaxRotations within RotationOverlap).
func (s *Service) RotateSecret(ctx context.Context, ref workspaces.Ref, id EndpointID) (MintedEndpoint, error) {
	endpoint, err := selectEndpoint(ctx, s.db, ref, id) // the seal is bound to its tenant and id
	if err != nil {
		return MintedEndpoint{}, err
	}
	minted, err := s.mint(ctx, endpoint)
	if err != nil {
		return MintedEndpoint{}, err
	}
	now := s.moment()
	changed, err := s.change(ctx, ref, id, func(e *Endpoint) error {
		older := e.rotated(now)
		if len(older) >= MaxRotations {
			refusal := fault.New(fault.RateLimitedReason,
				"%d earlier secrets of this endpoint still sign for receivers that have not changed over; the oldest one ends at %s.",
				len(older), older[len(older)-1].Until.Format(time.RFC3339))
			refusal.RetryAfter = older[len(older)-1].Until.Sub(now)
			return refusal
		}
		e.Older = older
		e.SealedPrevious, e.PreviousUntil = e.SealedSecret, now.Add(RotationOverlap)
		e.SealedSecret, e.SecretHint = minted.SealedSecret, minted.SecretHint
		return nil
	})
	return MintedEndpoint{Endpoint: changed, Secret: minted.Secret}, err
}
