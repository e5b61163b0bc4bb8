package tools

import (
	"context"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// CallStatus narrows traces by how the calls ended.
type CallStatus string

// The states of a trace. A call that was refused has failed.
const (
	CallSucceeded CallStatus = "succeeded"
	CallFailed    CallStatus = "failed"
)

// CallFilter narrows traces; zero fields narrow nothing.
type CallFilter struct {
	ToolID    ID
	SessionID string
	AgentID   agents.ID
	Status    CallStatus
	ErrorCode Code
	// StartedAfter is inclusive, StartedBefore is not.
	StartedAfter  time.Time
	StartedBefore time.Time
}

// key is what a page token is bound to.
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

// check refuses a filter that could only be a mistake. Errors: Invalid invalid-request.
func (f CallFilter) check() error {
	switch {
	case f.Status != "" && f.Status != CallSucceeded && f.Status != CallFailed:
		return fault.InvalidField("status", "in", "status must be succeeded or failed.")
	case f.Status == CallSucceeded && f.ErrorCode != "":
		return fault.InvalidField("error_code", "contradiction", "A call that succeeded has no error_code; leave out one of status and error_code.")
	case !f.StartedAfter.IsZero() && !f.StartedBefore.IsZero() && !f.StartedAfter.Before(f.StartedBefore):
		return fault.InvalidField("started_before", "order", "started_before must be later than started_after.")
	}
	return nil
}

// ListCalls lists the traces of a workspace's calls and runs, newest first.
// Errors: NotFound for a ToolID that does not exist; Invalid invalid-request (the filter, page_size, page_token).
func (s *Service) ListCalls(ctx context.Context, ref workspaces.Ref, f CallFilter, p postgres.PageParams) ([]Call, string, error) {
	if f.ToolID != "" {
		if _, err := s.Get(ctx, ref, f.ToolID); err != nil {
			return nil, "", err
		}
	}
	p.Order = postgres.NewestFirst
	return s.listCalls(ctx, ref, f, p)
}

// ListAllCalls is ListCalls without a look at whether there is such a tool: the traces of a deleted
// one are still there. Errors: Invalid invalid-request (the filter, page_size, page_token).
func (s *Service) ListAllCalls(ctx context.Context, ref workspaces.Ref, f CallFilter, p postgres.PageParams) ([]Call, string, error) {
	p.Order = postgres.NewestFirst
	return s.listCalls(ctx, ref, f, p)
}

// ListCallsOfSession lists the traces of the calls of f.SessionID, oldest first. Whether there is such
// a session is the caller's to know. Errors: Invalid invalid-request (the filter, page_size, page_token).
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

const (
	// countsKept is longer than any session can last, so no cap forgets calls that it should count.
	countsKept = 72 * time.Hour
	// sweepBatch is how many rows one statement of Sweep deletes.
	sweepBatch = 2000
)

// Sweep deletes the traces that are older than they are kept, of all tenants, and the counts of
// sessions that have ended long ago. Harmless beside its double.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if s.traceRetention > 0 {
		if err := inBatches(ctx, func() (int, error) { return deleteCalls(ctx, s.db, now.Add(-s.traceRetention), sweepBatch) }); err != nil {
			return err
		}
	}
	return inBatches(ctx, func() (int, error) { return deleteCounts(ctx, s.db, now.Add(-countsKept), sweepBatch) })
}

// inBatches repeats a deletion until a batch was not full.
func inBatches(ctx context.Context, remove func() (int, error)) error {
	for ctx.Err() == nil {
		n, err := remove()
		if err != nil || n < sweepBatch {
			return err
		}
	}
	return ctx.Err()
}
