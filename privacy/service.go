package privacy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service needs; all but CancelCallsFunc, Log and Now are required.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	// Users hashes their ids.
	Users    *workspaces.UserHashes
	Sessions *sessions.Service
	Memory   *memory.Service
	Webhooks *webhooks.Service
	// Answers are those of requests with Idempotency-Key.
	Answers *idempotency.Service
	// Recordings are those of voice sessions.
	Recordings *recordings.Service
	// Bucket keeps the files of exports.
	Bucket blob.Bucket
	// ForgetFramesFunc deletes what Redis keeps of sockets, for clients that come back.
	ForgetFramesFunc func(ctx context.Context, ids ...sessions.ID) error
	// CancelCallsFunc cancels the telephone calls to a user that are being placed
	// (telephony.Service.CancelUser). It returns an error while there are any.
	CancelCallsFunc func(ctx context.Context, ref workspaces.Ref, userID string) error
	// Links makes the URLs of files.
	Links Links
	// Log gets errors that no caller sees; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service takes and processes requests. It is safe for concurrent use.
type Service struct {
	Deps
}

// New returns a Service.
func New(d Deps) *Service {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.CancelCallsFunc == nil {
		d.CancelCallsFunc = func(context.Context, workspaces.Ref, string) error { return nil }
	}
	return &Service{d}
}

// now is the time as Postgres stores it.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// CreateParams describe a new request.
type CreateParams struct {
	UserID string
	Kind   Kind
	// DryRun only counts.
	DryRun bool
	// By is the caller.
	By workspaces.Principal
}

// Create stores a request for a worker. While an erasure of the user is open, or an export that has
// not begun, it returns that one: a second erasure would find nothing and say so.
//
// With DryRun it returns the counts of now and stores
// nothing.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, p CreateParams) (Request, error) {
	if strings.TrimSpace(p.UserID) == "" { // sessions have no such user
		return Request{}, fault.InvalidField("user_id", "required", "user_id is the id of a user, not only spaces.")
	}
	now := s.now()
	request := Request{
		TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: p.UserID, Kind: p.Kind, Status: Queued,
		RequestedBy: p.By.CallerID(), DueAt: now, CreatedAt: now, DryRun: p.DryRun,
	}
	if p.DryRun {
		counts, err := s.count(ctx, s.DB, ref, p.UserID)
		request.Counts, request.Status, request.FinishedAt = counts, Ready, now
		return request, err
	}
	hash, err := s.Users.Hash(ctx, ref.TenantID, p.UserID)
	if err != nil {
		return Request{}, err
	}
	request.UserHash = hash
	origin := telemetry.OriginOf(ctx)
	request.ID = ID(idgen.In(ctx, idgen.DSAR))
	request.Traceparent, request.RequestID = origin.Traceparent, origin.RequestID
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if err := postgres.LockTx(ctx, tx, "privacy requests "+string(ref.ID)+" "+hash); err != nil {
			return err
		}
		open, found, err := openRequest(ctx, tx, request)
		if err != nil {
			return err
		}
		if found {
			request = open
			return nil
		}
		if err := insertRequest(ctx, tx, &request); err != nil {
			return err
		}
		_, err = events.Append(ctx, tx, events.Event{
			TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), Type: events.PrivacyRequested,
			Subject: string(request.ID), CreatedAt: now,
		})
		return err
	})
	return request, err
}

// Get returns a request. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Request, error) {
	return findRequest(ctx, s.DB, ref, id)
}

// ListParams select requests.
type ListParams struct {
	Page postgres.PageParams
	// Kind and Status select all when they are empty.
	Kind   Kind
	Status Status
	// UserID selects requests about a user, also one that was erased; empty selects all.
	UserID string
}

// List returns requests, newest first. Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Request, string, error) {
	p.Page.Order = postgres.NewestFirst
	p.Page.Filters = []string{string(ref.TenantID), string(ref.ID), string(p.Kind), string(p.Status), p.UserID}
	page, err := postgres.NewPage(p.Page)
	if err != nil {
		return nil, "", err
	}
	hash, err := s.Users.Hash(ctx, ref.TenantID, p.UserID) // of no user: empty
	if err != nil {
		return nil, "", err
	}
	requests, err := selectRequests(ctx, s.DB, ref, p, hash, page)
	if err != nil {
		return nil, "", fmt.Errorf("list privacy requests: %w", err)
	}
	requests, next := postgres.Cut(page, requests, func(r Request) postgres.Key {
		return postgres.Key{CreatedAt: r.CreatedAt, ID: string(r.ID)}
	})
	return requests, next, nil
}
