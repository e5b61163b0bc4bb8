package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// pendingLife is how long a change may take before Sweep takes its process for dead. The
	// longest requests are uploads; one that takes longer gets a second entry when it ends.
	pendingLife = 15 * time.Minute
	// sweepBatch is how many rows Sweep reads at a time.
	sweepBatch = 100
	// exportBatch is how many entries Each reads at a time.
	exportBatch = 500
	// maxText bounds what callers say about themselves, in bytes.
	maxText = 512
)

// Deps is what a Service works with. DB is required.
type Deps struct {
	DB *postgres.DB
	// Now is the clock. nil means time.Now.
	Now func() time.Time
}

// Service writes and reads the log. Safe for concurrent use.
type Service struct {
	db  *postgres.DB
	now func() time.Time
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, now: d.Now}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// prepare gives an entry its id and begin, and makes texts of outside fit for the database.
func (s *Service) prepare(e Entry) Entry {
	e.ID, e.BegunAt = ID(idgen.New(idgen.Audit)), s.timestamp()
	e.WorkspaceID = workspaces.ID(clean(string(e.WorkspaceID)))
	for _, text := range []*string{&e.ActorName, &e.UserAgent, &e.RequestID, &e.RemoteAddress, &e.ResourceID, &e.ParentID} {
		*text = clean(*text)
	}
	return e
}

// clean removes what Postgres refuses and cuts a text that is too long.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	for len(text) > maxText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// Pending is a change that has begun. Exactly one of Finish and Drop ends it.
type Pending struct {
	service *Service
	entry   Entry
}

// Begin notes in the database that a change begins. If the process dies before Finish or Drop, the
// entry is written with what Begin knew and the outcome unknown.
func (s *Service) Begin(ctx context.Context, e Entry) (*Pending, error) {
	e = s.prepare(e)
	if err := insertPending(ctx, s.db, e); err != nil {
		return nil, err
	}
	return &Pending{service: s, entry: e}, nil
}

// Finish writes the entry. complete sets what is known only now. After an error it can be called
// again.
func (p *Pending) Finish(ctx context.Context, complete func(*Entry) error) error {
	e := p.entry
	if err := complete(&e); err != nil {
		return err
	}
	e.ResourceID, e.ParentID = clean(e.ResourceID), clean(e.ParentID)
	return p.service.write(ctx, e, false)
}

// Drop forgets a change that was not made.
func (p *Pending) Drop(ctx context.Context) error {
	_, err := deletePending(ctx, p.service.db, p.entry)
	return err
}

// Append writes an entry of something that needs no Begin: a refusal, a read, or a change that
// cannot be announced.
func (s *Service) Append(ctx context.Context, e Entry) error {
	return s.write(ctx, s.prepare(e), false)
}

// write writes the entry behind the last one of its tenant, and removes its pending row. With
// onlyPending it writes nothing when there is no such row. Writers of a tenant take turns, so that
// the chain has one end.
func (s *Service) write(ctx context.Context, e Entry, onlyPending bool) error {
	now := s.timestamp()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := postgres.LockTx(ctx, tx, "audit log of "+string(e.TenantID)); err != nil {
			return err
		}
		was, err := deletePending(ctx, tx, e)
		if err != nil || onlyPending && !was {
			return err
		}
		return appendTx(ctx, tx, e, now)
	})
}

// appendTx writes the entry. The caller holds the lock of the tenant's log.
func appendTx(ctx context.Context, tx bun.Tx, e Entry, now time.Time) error {
	last, err := selectLast(ctx, tx, e.TenantID)
	if err != nil {
		return err
	}
	written, err := exists(ctx, tx, e)
	if err != nil {
		return err
	}
	if written { // Sweep took the process for dead
		e.ID = ID(idgen.New(idgen.Audit))
	}
	e.Number, e.At, e.PreviousHash = last.Number+1, now, last.Hash
	if !e.At.After(last.At) { // the clocks of two machines differ
		e.At = last.At.Add(time.Microsecond)
	}
	if e.Hash, err = e.sum(); err != nil {
		return err
	}
	return insertEntry(ctx, tx, e)
}

// Sweep writes the entries of changes whose process has died before now, of all tenants.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	for {
		stale, err := selectStale(ctx, s.db, now.Add(-pendingLife), sweepBatch)
		if err != nil || len(stale) == 0 {
			return err
		}
		for _, row := range stale {
			row.Entry.Outcome = Unknown
			if err := s.write(ctx, row.Entry, true); err != nil { // another worker or the request may be faster
				return err
			}
		}
	}
}

// ListParams chooses entries. Empty fields choose all.
type ListParams struct {
	WorkspaceID workspaces.ID
	// ActorID is the id of the actor, or the name of a user of the operating system.
	ActorID string
	// Action is what actions begin with: "agent." or "agent.update".
	Action string
	// ResourceID is the id of the resource or of its parent.
	ResourceID string
	UserHash   string
	// Since and Until bound the time of the entries: from Since on, before Until.
	Since, Until time.Time
	Page         postgres.PageParams
}

// List lists entries of a tenant, newest first. Errors: Invalid invalid-request (the page token or
// size).
func (s *Service) List(ctx context.Context, tenant workspaces.TenantID, p ListParams) ([]Entry, string, error) {
	p.Page.Order = postgres.NewestFirst
	p.Page.Filters = []string{
		string(tenant), string(p.WorkspaceID), p.ActorID, p.Action, p.ResourceID, p.UserHash, p.Since.String(), p.Until.String(),
	}
	return listEntries(ctx, s.db, tenant, p)
}

// Each calls fn with every entry of a tenant whose number is greater than after, in order. Errors:
// those of fn.
func (s *Service) Each(ctx context.Context, tenant workspaces.TenantID, after int64, fn func(Entry) error) error {
	for {
		entries, err := selectAfter(ctx, s.db, tenant, after, exportBatch)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := fn(e); err != nil {
				return err
			}
			after = e.Number
		}
		if len(entries) < exportBatch {
			return nil
		}
	}
}

// Verify checks the whole chain of a tenant in the database. Errors: *BrokenError.
func (s *Service) Verify(ctx context.Context, tenant workspaces.TenantID, v *Verifier) error {
	if err := s.Each(ctx, tenant, 0, v.Add); err != nil {
		if broken, ok := errors.AsType[*BrokenError](err); ok {
			return broken
		}
		return fmt.Errorf("read the audit log: %w", err)
	}
	return v.Close()
}
