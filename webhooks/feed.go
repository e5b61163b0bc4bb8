package webhooks

import (
	"cmp"
	"context"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// watchPause is how often Watch reads new events.
const watchPause = 500 * time.Millisecond

// FeedParams asks for events of a workspace and of its tenant as a whole.
type FeedParams struct {
	// After is the cursor of the last event that was read; empty or "0": from the oldest kept, except
	// that Watch begins with new events when it is empty.
	After string
	// Events are names of public events; empty: all.
	Events []string
	// Size is 1 to 200; 0 means 50.
	Size int
	// OpenedFunc gets the cursor at which Watch begins; it may be nil.
	OpenedFunc func(cursor string) error
	// AllowedFunc says whether the reader may still read. Watch calls it each Policy.WatchCheck,
	// and ends with its error; nil: the reader may.
	AllowedFunc func(ctx context.Context) error
}

func (p FeedParams) allowed(ctx context.Context) error {
	if p.AllowedFunc == nil {
		return nil
	}
	return p.AllowedFunc(ctx)
}

// Feed reads the workspace's events in their order. next is the cursor of the next page, empty when
// there is none yet. With Events a page may be short or empty although there is a next one.
// Errors: Invalid invalid-request (after, also one ahead of the feed; page_size),
// webhook-event-unknown; Precondition events-cursor-expired when events after the cursor were
// deleted by age.
func (s *Service) Feed(ctx context.Context, ref workspaces.Ref, p FeedParams) (page []FeedEvent, next string, err error) {
	cursors, err := s.cursorsOf(ref)
	if err != nil {
		return nil, "", err
	}
	q, err := feedQuery(ref, p, cursors)
	if err != nil {
		return nil, "", err
	}
	read, err := s.readFeed(ctx, q)
	if err == nil && len(read.Rows) == 0 {
		err = s.refuseAhead(ctx, q)
	}
	if err != nil {
		return nil, "", err
	}
	if read.More {
		next = cursors.format(read.End)
	}
	return feedEvents(read.Rows, cursors), next, nil
}

func feedQuery(ref workspaces.Ref, p FeedParams, cursors cursors) (events.FeedParams, error) {
	after, err := cursors.parse(p.After)
	if err != nil {
		return events.FeedParams{}, err
	}
	types, err := parseEvents(p.Events)
	if err != nil {
		return events.FeedParams{}, err
	}
	if p.Size < 0 || p.Size > postgres.MaxPageSize {
		return events.FeedParams{}, fault.InvalidField("page_size", "out_of_range", "page_size must be from 1 to %d.", postgres.MaxPageSize)
	}
	return events.FeedParams{
		TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), After: after, Types: types, Limit: cmp.Or(p.Size, postgres.DefaultPageSize),
	}, nil
}

// readFeed reads a page, and then checks whether events before it were deleted. In this order a
// deletion in between is noticed.
func (s *Service) readFeed(ctx context.Context, q events.FeedParams) (events.FeedPage, error) {
	page, err := events.Feed(ctx, s.db, q)
	if err != nil {
		return page, postgres.MapError(err)
	}
	return page, s.refuseExpired(ctx, q)
}

// refuseExpired refuses a cursor after which events were deleted.
func (s *Service) refuseExpired(ctx context.Context, q events.FeedParams) error {
	if q.After == 0 {
		return nil
	}
	floor, err := events.Floor(ctx, s.db, q.TenantID, q.WorkspaceID)
	if err != nil || q.After >= floor {
		return postgres.MapError(err)
	}
	return fault.OnField(fault.EventsCursorExpired, "after",
		"Events that came after this cursor have been deleted because of their age. "+
			"Leave it out to read from the oldest that is kept, and look up what happened before by other means.")
}

// refuseAhead refuses a cursor beyond the end of the feed. It is of another installation, or of
// this one before it was restored from a backup; its reader would miss all events up to that
// position.
func (s *Service) refuseAhead(ctx context.Context, q events.FeedParams) error {
	if q.After == 0 {
		return nil
	}
	last, err := events.LastPosition(ctx, s.db, q.TenantID, q.WorkspaceID)
	if err != nil || q.After <= last {
		return postgres.MapError(err)
	}
	// The floor is read after the last position, because the last event may be deleted in between.
	floor, err := events.Floor(ctx, s.db, q.TenantID, q.WorkspaceID)
	if err != nil || q.After <= floor {
		return postgres.MapError(err)
	}
	return fault.InvalidField("after", "ahead",
		"after lies ahead of this feed: it is the cursor of another installation, or of this one before it was restored from a backup. "+
			"Leave it out to read from the oldest event that is kept.")
}

func feedEvents(rows []events.Row, cursors cursors) []FeedEvent {
	list := make([]FeedEvent, len(rows))
	for i, row := range rows {
		list[i] = FeedEvent{Row: row, Cursor: cursors.format(row.Position)}
	}
	return list
}

// Watch calls fn with the events after the cursor and then with new ones, in their order. It ends
// with ctx, or with the error of fn or AllowedFunc. An empty cursor means new events only.
// Errors: as Feed.
func (s *Service) Watch(ctx context.Context, ref workspaces.Ref, p FeedParams, fn func(FeedEvent) error) error {
	cursors, err := s.cursorsOf(ref)
	if err != nil {
		return err
	}
	q, err := feedQuery(ref, p, cursors)
	if err != nil {
		return err
	}
	if p.After == "" {
		if q.After, err = events.LastPosition(ctx, s.db, q.TenantID, q.WorkspaceID); err != nil {
			return postgres.MapError(err)
		}
	}
	if err := s.refuseAhead(ctx, q); err != nil {
		return err
	}
	if p.OpenedFunc != nil {
		if err := p.OpenedFunc(cursors.format(q.After)); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(watchPause)
	defer ticker.Stop()
	var checked time.Time
	for {
		check := s.now().Sub(checked) >= s.policy.WatchCheck
		if check {
			if err := p.allowed(ctx); err != nil {
				return err
			}
			checked = s.now()
		}
		page, err := events.Feed(ctx, s.db, q)
		if err != nil {
			return postgres.MapError(err)
		}
		if check || page.End != q.After { // most reads find nothing: they are one statement
			if err := s.refuseExpired(ctx, q); err != nil {
				return err
			}
		}
		for _, event := range feedEvents(page.Rows, cursors) {
			if err := fn(event); err != nil {
				return err
			}
		}
		q.After = page.End
		if page.More {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
