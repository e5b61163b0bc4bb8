package webhooks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// AttemptFilter filters a list of attempts; zero fields filter nothing.
type AttemptFilter struct {
	Status AttemptStatus
	// Event is the name of a public event.
	Event   events.Type
	EventID string
	// StartedAfter is inclusive, StartedBefore is not.
	StartedAfter  time.Time
	StartedBefore time.Time
	// OmitBodies leaves out the bodies of requests and responses.
	OmitBodies bool
}

// key is the part of the filter that a page token is bound to.
func (f AttemptFilter) key() []string {
	return []string{
		string(f.Status), string(f.Event), f.EventID,
		timeKey(f.StartedAfter), timeKey(f.StartedBefore), strconv.FormatBool(f.OmitBodies),
	}
}

func timeKey(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// scans says whether attempts have to be scanned, because no index has the filter.
func (f AttemptFilter) scans() bool {
	return f.EventID == "" && (f.Event != "" || f.Status != "" && f.Status != AttemptFailed)
}

// check refuses an invalid filter.
func (f AttemptFilter) check() error {
	switch f.Status {
	case "", AttemptPending, AttemptSucceeded, AttemptFailed, AttemptUnknown:
	default:
		return fault.InvalidField("status", "in", "status must be pending, succeeded, failed or unknown.")
	}
	if f.Event != "" {
		if _, err := parseEvent("event", string(f.Event)); err != nil {
			return err
		}
	}
	if !f.StartedAfter.IsZero() && !f.StartedBefore.IsZero() && !f.StartedAfter.Before(f.StartedBefore) {
		return fault.InvalidField("started_before", "order", "started_before must be later than started_after.")
	}
	return nil
}

// Deliveries lists the attempts to deliver to an endpoint, newest first; params.Size is 1 to 200, 0
// means 50. With an event or status a page scans Policy.MaxScanned attempts, and may be short or
// empty although there is a next one. Errors: NotFound, Invalid invalid-request (the filter, a page
// token of another filter), webhook-event-unknown.
func (s *Service) Deliveries(
	ctx context.Context, ref workspaces.Ref, id EndpointID, f AttemptFilter, params postgres.PageParams,
) (attempts []Attempt, next string, err error) {
	if err := f.check(); err != nil {
		return nil, "", err
	}
	params.Order = postgres.NewestFirst
	params.Filters = append([]string{string(ref.TenantID), string(ref.ID), string(id)}, f.key()...)
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	if _, err := selectEndpoint(ctx, s.db, ref, id); err != nil {
		return nil, "", err
	}
	query := filterAttempts(attemptsQuery(s.db.NewSelect().Model(&attempts), ref, id), f)
	if f.scans() {
		scanned := s.newestAttempts(ref, id, f, page).ColumnExpr("wa.*").Limit(int64(s.policy.MaxScanned))
		query = query.ModelTableExpr("(?) AS wa", scanned)
	}
	if err := page.ApplyTo(query, attemptColumns).Scan(ctx); err != nil {
		return nil, "", postgres.MapError(fmt.Errorf("list webhook attempts: %w", err))
	}
	attempts, next = postgres.Cut(page, attempts, func(a Attempt) postgres.Key {
		return postgres.Key{CreatedAt: a.StartedAt, ID: string(a.ID)}
	})
	if f.scans() && next == "" {
		if next, err = s.nextScan(ctx, ref, id, f, page); err != nil {
			return nil, "", err
		}
	}
	if f.OmitBodies {
		for i := range attempts {
			attempts[i].RequestBody, attempts[i].ResponseBody = nil, ""
		}
	}
	return attempts, next, nil
}

// newestAttempts selects the attempts that a page with a filter scans, newest first.
func (s *Service) newestAttempts(ref workspaces.Ref, id EndpointID, f AttemptFilter, page postgres.Page) *bun.SelectQuery {
	q := s.db.NewSelect().TableExpr("webhook_attempts AS wa").Apply(attemptsOf(ref, id))
	return page.ApplyTo(startedWithin(q, f), attemptColumns)
}

// nextScan returns the token of the page behind the last attempt that was scanned; empty: there is
// none.
func (s *Service) nextScan(ctx context.Context, ref workspaces.Ref, id EndpointID, f AttemptFilter, page postgres.Page) (string, error) {
	var last Attempt
	err := s.newestAttempts(ref, id, f, page).ColumnExpr("wa.started_at, wa.id").
		Offset(int64(s.policy.MaxScanned)-1).Limit(1).Scan(ctx, &last)
	if postgres.NoRows(err) {
		return "", nil
	}
	if err != nil {
		return "", postgres.MapError(fmt.Errorf("scan webhook attempts: %w", err))
	}
	return page.TokenAfter(postgres.Key{CreatedAt: last.StartedAt, ID: string(last.ID)}), nil
}

// attemptColumns is the order of attempts.
var attemptColumns = postgres.Columns{CreatedAt: "wa.started_at", ID: "wa.id"}

func filterAttempts(q *bun.SelectQuery, f AttemptFilter) *bun.SelectQuery {
	switch f.Status {
	case "":
	case AttemptFailed, AttemptUnknown: // with the predicate of the index webhook_attempts_failed
		q = q.Where("wa.status = ?", f.Status).Where("wa.status IN ('failed', 'unknown')")
	case AttemptPending, AttemptSucceeded:
		q = q.Where("wa.status = ?", f.Status)
	}
	if f.Event != "" {
		q = q.Where("d.event_type = ?", f.Event)
	}
	if f.EventID != "" {
		q = q.Where("d.event_id = ?", f.EventID).Where("d.endpoint_id = wa.endpoint_id")
	}
	return startedWithin(q, f)
}

func startedWithin(q *bun.SelectQuery, f AttemptFilter) *bun.SelectQuery {
	if !f.StartedAfter.IsZero() {
		q = q.Where("wa.started_at >= ?", f.StartedAfter)
	}
	if !f.StartedBefore.IsZero() {
		q = q.Where("wa.started_at < ?", f.StartedBefore)
	}
	return q
}

// Attempt returns one attempt with its bodies. Errors: NotFound.
func (s *Service) Attempt(ctx context.Context, ref workspaces.Ref, id EndpointID, attempt AttemptID) (Attempt, error) {
	if _, err := selectEndpoint(ctx, s.db, ref, id); err != nil {
		return Attempt{}, err
	}
	return selectAttempt(ctx, s.db, ref, id, attempt)
}
