package sessions

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions/signing"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// EndedFunc stores what follows from a session's end, in the transaction that ends it. turns are
// the session's, in order.
type EndedFunc func(ctx context.Context, tx bun.Tx, session Session, turns []Turn) error

// GreetFunc returns what an agent says in place of a first message.
type GreetFunc func(ctx context.Context, session Session, text string) (string, error)

// Deps is what a Service needs. DB, Agents, Workspaces, Seal and PublicURL are required.
type Deps struct {
	DB         *postgres.DB
	Agents     *agents.Service
	Workspaces *workspaces.Service
	// Usage says whether the tenant's quotas allow another session; nil: they do.
	Usage *usage.Service
	// Seal seals secret variables and the keys that sign tokens.
	Seal *seal.Keyring
	// Health says whether Postgres is available and has been for a while: only then does an expired
	// lease prove that its node is lost. Nil uses DB and the wall clock.
	Health *postgres.Health
	// PublicURL is where clients reach the service: http or https, perhaps with a path prefix,
	// without /v1.
	PublicURL string
	// Registry exports the count of ended sessions; nil does not.
	Registry prometheus.Registerer
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Random is the source of signing keys; nil is crypto/rand.
	Random io.Reader
}

// Service creates, authenticates, ends and reads sessions. It is safe for concurrent use.
type Service struct {
	db         *postgres.DB
	agents     *agents.Service
	workspaces *workspaces.Service
	usage      *usage.Service
	seal       *seal.Keyring
	health     *postgres.Health
	publicURL  string
	now        func() time.Time
	keys       *signing.Keys
	ended      *prometheus.CounterVec
	// onEnd, onGreet and sweepReady are set before the service is used; see OnEnd, OnGreet and
	// HoldSweeps.
	onEnd      []EndedFunc
	onGreet    GreetFunc
	sweepReady func() bool
}

// New returns a Service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, agents: d.Agents, workspaces: d.Workspaces, usage: d.Usage, seal: d.Seal, health: d.Health,
		publicURL: strings.TrimRight(d.PublicURL, "/"), now: d.Now, ended: newEndCounter(d.Registry),
		onGreet:    func(_ context.Context, _ Session, text string) (string, error) { return text, nil },
		sweepReady: func() bool { return true },
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.health == nil {
		s.health = postgres.NewHealth(d.DB, nil)
	}
	if d.Random == nil {
		d.Random = rand.Reader
	}
	s.keys = signing.New(d.DB, d.Seal, d.Random)
	return s
}

// OnEnd adds a function that is called in every transaction that ends a session that had begun.
// Call it before the service is used.
func (s *Service) OnEnd(fn EndedFunc) { s.onEnd = append(s.onEnd, fn) }

// OnGreet sets the function that looks at the first message of a session. Call it before the
// service is used.
func (s *Service) OnGreet(fn GreetFunc) { s.onGreet = fn }

// HoldSweeps makes Sweep do nothing until ready returns true. Before that, this process may not
// have read the journals that earlier processes left on this machine. Call it before the service
// is used.
func (s *Service) HoldSweeps(ready func() bool) { s.sweepReady = ready }

// Health returns what this process knows of the health of Postgres.
func (s *Service) Health() *postgres.Health { return s.health }

// Now returns the time in UTC and in microseconds, as Postgres stores it.
func (s *Service) Now() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// TranscriptURL returns the address of a session's transcript.
func (s *Service) TranscriptURL(id ID) string {
	return s.publicURL + "/v1/sessions/" + string(id) + "/transcript"
}

// Locked runs fn in a transaction that holds the lock of the session's row. fn may run twice.
// Errors: NotFound, fn's.
func (s *Service) Locked(
	ctx context.Context, tenant workspaces.TenantID, id ID, fn func(ctx context.Context, tx bun.Tx, session *Session) error,
) error {
	var before, after Session
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		session, err := Find(ctx, tx, tenant, id, "UPDATE")
		if err != nil {
			return err
		}
		before = session
		err = fn(ctx, tx, &session)
		after = session
		return err
	})
	if err == nil && after.Closed() && !before.Closed() {
		countEnd(s.ended, after)
	}
	return err
}

// AddToLog adds the session's ids to the log lines of the work that ctx belongs to.
func AddToLog(ctx context.Context, session Session) {
	telemetry.Note(ctx, telemetry.KeyTenantID, string(session.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(session.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySessionID, string(session.ID))
}
