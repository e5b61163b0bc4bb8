package tools

import (
	"context"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// CallStatus is how a call ended.
type CallStatus string

// The states of a trace. A refused call has failed.
const (
	CallSucceeded CallStatus = "succeeded"
	CallFailed    CallStatus = "failed"
)

// CallFilter selects traces. Zero fields select all.
type CallFilter struct {
	ToolID    ID
	SessionID string
	AgentID   agents.ID
	Status    CallStatus
	ErrorCode Code
	// StartedAfter is inclusive, StartedBefore exclusive.
	StartedAfter  time.Time
	StartedBefore time.Time
}

// key is the part of a page token that binds it to the filter.
func (f CallFilter) key() []string {
	return []string{
		string(f.ToolID), f.SessionID, string(f.AgentID), string(f.Status), string(f.ErrorCode),
		timeKey(f.StartedAfter), timeKey(f.StartedBefore),
	}
}

func timeKey(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// check refuses a filter that is a mistake. Errors: Invalid invalid-request.
func (f CallFilter) check() error {
	switch {
	case f.Status != "" && f.Status != CallSucceeded && f.Status != CallFailed:
		return fault.InvalidField("status", "in", "status must be succeeded or failed.")
	case f.Status == CallSucceeded && f.ErrorCode != "":
		return fault.InvalidField("error_code", "contradiction",
			"A call that succeeded has no error_code; leave out one of status and error_code.")
	case !f.StartedAfter.IsZero() && !f.StartedBefore.IsZero() && !f.StartedAfter.Before(f.StartedBefore):
		return fault.InvalidField("started_before", "order", "started_before must be later than started_after.")
	}
	return nil
}

// ListCalls lists the traces of a workspace's calls and runs, newest first. Errors: NotFound for a
// ToolID that does not exist; Invalid invalid-request (the filter, page_size, page_token).
func (s *Service) ListCalls(ctx context.Context, ref workspaces.Ref, f CallFilter, p postgres.PageParams) ([]Call, string, error) {
	if f.ToolID != "" {
		if _, err := s.Get(ctx, ref, f.ToolID); err != nil {
			return nil, "", err
		}
	}
	p.Order = postgres.NewestFirst
	return s.listCalls(ctx, ref, f, p)
}

// ListAllCalls is ListCalls without a check that the tool exists, for the traces of deleted tools.
// Errors: Invalid invalid-request (the filter, page_size, page_token).
func (s *Service) ListAllCalls(ctx context.Context, ref workspaces.Ref, f CallFilter, p postgres.PageParams) ([]Call, string, error) {
	p.Order = postgres.NewestFirst
	return s.listCalls(ctx, ref, f, p)
}

// ListCallsOfSession lists the traces of the calls of f.SessionID, oldest first. It does not check
// that the session exists. Errors: Invalid invalid-request (the filter, page_size, page_token).
func (s *Service) ListCallsOfSession(ctx context.Context, ref workspaces.Ref, f CallFilter, p postgres.PageParams) ([]Call, string, error) {
	p.Order = postgres.OldestFirst
	return s.listCalls(ctx, ref, f, p)
}

func (s *Service) listCalls(ctx context.Context, ref workspaces.Ref, f CallFilter, p postgres.PageParams) ([]Call, string, error) {
	if err := f.check(); err != nil {
		return nil, "", err
	}
	p.Filters = append([]string{string(ref.TenantID), string(ref.ID)}, f.key()...)
	page, err := postgres.NewPage(p)
	if err != nil {
		return nil, "", err
	}
	return selectCalls(ctx, s.db, ref, f, page)
}

// countsKept is longer than any session, so that no cap loses calls.
const countsKept = 72 * time.Hour

// Sweep deletes the traces of all tenants that are older than the retention, and the counts of
// sessions that ended long ago. Several nodes may run it at the same time.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if s.traceRetention > 0 {
		old := postgres.RawForAllTenants("the sweep of old traces", oldCalls)
		if err := deleteOld(ctx, s.db, old, now.Add(-s.traceRetention)); err != nil {
			return err
		}
	}
	return deleteOld(ctx, s.db, postgres.RawForAllTenants("the sweep of ended sessions' counts", oldCounts), now.Add(-countsKept))
}
