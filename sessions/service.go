package sessions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// EndedFunc writes down what follows from a session's end, in the transaction that ends it. turns are the
// session's, in order.
type EndedFunc func(ctx context.Context, tx bun.Tx, session Session, turns []Turn) error

// Deps is what a Service works with. DB, Agents, Workspaces, Seal and PublicURL are required.
type Deps struct {
	DB         *postgres.DB
	Agents     *agents.Service
	Workspaces *workspaces.Service
	// Seal keeps secret variables and the keys that tokens are signed with.
	Seal *seal.Keyring
	// Health says whether expired leases prove anything; nil makes one of DB with the wall clock.
	Health *postgres.Health
	// PublicURL is where clients reach us (http or https, with a path prefix perhaps), without /v1.
	PublicURL string
	// Registry gets the count of ended sessions; nil leaves it unread.
	Registry prometheus.Registerer
	// Log gets what goes wrong without anybody to tell; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Random makes signing keys; nil is crypto/rand.
	Random io.Reader
}

// Service is sessions: their creation, tokens, ends and transcripts. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	agents     *agents.Service
	workspaces *workspaces.Service
	seal       *seal.Keyring
	health     *postgres.Health
	publicURL  string
	log        *slog.Logger
	now        func() time.Time
	keys       *keyCache
	ends       endCounter
	// ended and mayLose are set before the service is used; see OnEnd and HoldSweeps.
	ended   EndedFunc
	mayLose func() bool
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, agents: d.Agents, workspaces: d.Workspaces, seal: d.Seal, health: d.Health,
		publicURL: strings.TrimRight(d.PublicURL, "/"), log: d.Log, now: d.Now, ends: newEndCounter(d.Registry),
		ended:   func(context.Context, bun.Tx, Session, []Turn) error { return nil },
		mayLose: func() bool { return true },
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
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
	s.keys = &keyCache{db: d.DB, seal: d.Seal, random: d.Random}
	return s
}

// OnEnd has fn called in every transaction that ends a session. Call it before the service is used.
func (s *Service) OnEnd(fn EndedFunc) { s.ended = fn }

// HoldSweeps has Sweep do nothing until ready reports true: before that, turns that another process kept on
// this machine's disk may be unknown. Call it before the service is used.
func (s *Service) HoldSweeps(ready func() bool) { s.mayLose = ready }

// Health is what this process knows of how steadily Postgres answers.
func (s *Service) Health() *postgres.Health { return s.health }

// moment is now as Postgres keeps it.
func (s *Service) Now() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Duration is how long the session has lasted, until now while it is open.
func (s *Service) Duration(session Session) time.Duration { return session.Duration(s.Now()) }

// Get is a session of the caller's tenant. Errors: NotFound, Unauthenticated
// session-token-invalid when the caller has the token of another.
func (s *Service) Get(ctx context.Context, p workspaces.Principal, id ID) (Session, error) {
	if p.SessionID != "" && p.SessionID != string(id) {
		return Session{}, errToken(errors.New("another session's token"))
	}
	if !idgen.Valid(idgen.Session, string(id)) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	session, err := Find(ctx, s.db, p.TenantID, id, "")
	if err != nil {
		return Session{}, err
	}
	if !p.MayTouch(session.Ref()) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	AddToLog(ctx, session)
	return session, nil
}

// note puts the session on the log lines of the work that ctx belongs to.
func AddToLog(ctx context.Context, session Session) {
	telemetry.Note(ctx, telemetry.KeyTenantID, string(session.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(session.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySessionID, string(session.ID))
}

// ListParams narrows a list of sessions; empty fields do not.
type ListParams struct {
	Page        postgres.PageParams
	WorkspaceID workspaces.ID
	AgentID     agents.ID
	UserID      string
	Status      Status
	Modality    Modality
	EndReason   string
	// CreatedAfter is the earliest moment, CreatedBefore the first that is too late; zero: any.
	CreatedAfter  time.Time
	CreatedBefore time.Time
}

// moment is a time as a filter of a list; empty for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// List lists the sessions the caller may see, newest first. Another tenant's workspace is an
// empty list. Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, p workspaces.Principal, params ListParams) ([]Session, string, error) {
	params.Page.Order = postgres.NewestFirst
	params.Page.Filters = []string{
		string(p.TenantID), string(p.WorkspaceID), string(params.WorkspaceID), string(params.AgentID), params.UserID, string(params.Status),
		string(params.Modality), params.EndReason, moment(params.CreatedAfter), moment(params.CreatedBefore),
	}
	page, err := postgres.NewPage(params.Page)
	if err != nil {
		return nil, "", err
	}
	sessions, err := selectSessions(ctx, s.db, p, params, page)
	if err != nil {
		return nil, "", fmt.Errorf("listing sessions: %w", err)
	}
	sessions, next := postgres.Cut(page, sessions, func(one Session) postgres.Key {
		return postgres.Key{CreatedAt: one.CreatedAt, ID: string(one.ID)}
	})
	return sessions, next, nil
}

// Transcript lists a session's turns in order. Errors: NotFound, Invalid invalid-request.
func (s *Service) Transcript(ctx context.Context, p workspaces.Principal, id ID, params postgres.PageParams) ([]Turn, string, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return nil, "", err
	}
	params.Order = postgres.OldestFirst
	params.Filters = []string{string(session.TenantID), string(id)}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	turns, err := selectTurnPage(ctx, s.db, session, page)
	if err != nil {
		return nil, "", err
	}
	turns, next := postgres.Cut(page, turns, turnKey)
	noteItems(turns, session.ItemEdits)
	return turns, next, nil
}

// turnKey is a turn's place in its transcript: turns are ordered by index, which Key has no
// word for, so it goes as a time of that many microseconds.
func turnKey(t Turn) postgres.Key {
	return postgres.Key{CreatedAt: time.UnixMicro(int64(t.Index)).UTC(), ID: string(t.ID)}
}

// locked runs fn on the session's row, which nobody else writes until the transaction ends.
// fn may run twice. Errors: NotFound, fn's.
func (s *Service) Locked(ctx context.Context, tenant workspaces.TenantID, id ID, fn func(ctx context.Context, tx bun.Tx, session *Session) error) error {
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
		s.ends.closed(after)
	}
	return err
}
