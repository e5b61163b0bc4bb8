package webhooks

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// watchPause is how often Watch looks for new events.
const watchPause = 500 * time.Millisecond

// FeedParams asks for events of a workspace and of its tenant as a whole.
type FeedParams struct {
	// After is the cursor of the last event that was read; empty: from the oldest kept.
	After string
	// Events are names of public events; empty: all.
	Events []string
	// Size is 1 to 200; 0 means 50.
	Size int
	// OpenedFunc is told by Watch where it begins to read; nil: nobody wants to know.
	OpenedFunc func(cursor string) error
	// AllowedFunc is asked by Watch each Policy.WatchCheck, and its error ends the stream; nil: the reader
	// stays allowed.
	AllowedFunc func(ctx context.Context) error
}

// allowed asks AllowedFunc.
func (p FeedParams) allowed(ctx context.Context) error {
	if p.AllowedFunc == nil {
		return nil
	}
	return p.AllowedFunc(ctx)
}

// Feed reads the workspace's events in their order. next is the cursor to go on with, empty when
// there is nothing more yet; with Events a page may be short, or empty, and have a next all the same.
// Errors: Invalid invalid-request (after, also one ahead of the feed; page_size), webhook-event-unknown; Precondition
// events-cursor-expired when events after the cursor have been deleted by age.
func (s *Service) Feed(ctx context.Context, ref workspaces.Ref, p FeedParams) (page []FeedEvent, next string, err error) {
	q, err := feedQuery(ref, p)
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
		next = cursorOf(read.End)
	}
	return feedEvents(read.Rows), next, nil
}

func feedQuery(ref workspaces.Ref, p FeedParams) (events.FeedParams, error) {
	after, err := parseCursor(p.After)
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

// readFeed reads a page, and only then looks whether anything before it was deleted: what is
// deleted in between is noticed.
func (s *Service) readFeed(ctx context.Context, q events.FeedParams) (events.FeedPage, error) {
	page, err := events.Feed(ctx, s.db, q)
	if err != nil {
		return page, postgres.MapError(err)
	}
	return page, s.refuseExpired(ctx, q)
}

// refuseExpired refuses a cursor after which events have been deleted.
func (s *Service) refuseExpired(ctx context.Context, q events.FeedParams) error {
	if q.After == 0 {
		return nil
	}
	floor, err := events.Floor(ctx, s.db, q.TenantID, q.WorkspaceID)
	if err != nil || q.After >= floor {
		return postgres.MapError(err)
	}
	return fault.OnField(fault.EventsCursorExpired, "after",
		"Events that came after this cursor have been deleted because of their age. Leave it out to read from the oldest that is kept, and look up what happened before by other means.")
}

// refuseAhead refuses a cursor that no event of the feed had: of another installation, or of this one
// before it was put back to a backup. Its reader would be told of nothing until positions come so far.
func (s *Service) refuseAhead(ctx context.Context, q events.FeedParams) error {
	if q.After == 0 {
		return nil
	}
	last, err := events.LastPosition(ctx, s.db, q.TenantID, q.WorkspaceID)
	if err != nil || q.After <= last {
		return postgres.MapError(err)
	}
	floor, err := events.Floor(ctx, s.db, q.TenantID, q.WorkspaceID) // after: the last may be deleted in between
	if err != nil || q.After <= floor {
		return postgres.MapError(err)
	}
	return fault.InvalidField("after", "ahead",
		"after lies ahead of this feed: it is the cursor of another installation, or of this one before it was restored from a backup. Leave it out to read from the oldest event that is kept.")
}

func feedEvents(rows []events.Row) []FeedEvent {
	list := make([]FeedEvent, len(rows))
	for i, row := range rows {
		list[i] = FeedEvent{Row: row, Cursor: cursorOf(row.Position)}
	}
	return list
}

func cursorOf(position int64) string { return strconv.FormatInt(position, 10) }

// Watch calls fn with the events after the cursor and then with new ones as they happen, in
// their order, until ctx ends, or fn or AllowedFunc fails, whose error it returns. An empty cursor means new
// ones only. Errors: as Feed.
func (s *Service) Watch(ctx context.Context, ref workspaces.Ref, p FeedParams, fn func(FeedEvent) error) error {
	q, err := feedQuery(ref, p)
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
		if err := p.OpenedFunc(cursorOf(q.After)); err != nil {
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
		if check || page.End != q.After { // most looks find nothing: they are one statement
			if err := s.refuseExpired(ctx, q); err != nil {
				return err
			}
		}
		for _, event := range feedEvents(page.Rows) {
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

func parseCursor(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	position, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil || position < 0 {
		return 0, fault.InvalidField("after", "invalid", "after must be the cursor of an event of this feed.")
	}
	return position, nil
}
