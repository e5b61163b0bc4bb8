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
}

// Feed reads the workspace's events in their order. next is the cursor to go on with, empty when
// there is nothing more yet; with Events a page may be short, or empty, and have a next all the same.
// Errors: Invalid invalid-request (after, page_size), webhook-event-unknown; Precondition
// events-cursor-expired when events after the cursor have been deleted by age.
func (s *Service) Feed(ctx context.Context, ref workspaces.Ref, p FeedParams) (page []FeedEvent, next string, err error) {
	q, err := feedQuery(ref, p)
	if err != nil {
		return nil, "", err
	}
	read, err := s.readFeed(ctx, ref, q)
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
func (s *Service) readFeed(ctx context.Context, ref workspaces.Ref, q events.FeedParams) (events.FeedPage, error) {
	page, err := events.Feed(ctx, s.db, q)
	if err != nil || q.After == 0 {
		return page, postgres.MapError(err)
	}
	floor, err := events.Floor(ctx, s.db, string(ref.TenantID), string(ref.ID))
	if err != nil {
		return events.FeedPage{}, postgres.MapError(err)
	}
	if q.After < floor {
		return events.FeedPage{}, fault.OnField(fault.EventsCursorExpired, "after",
			"Events that came after this cursor have been deleted because of their age. Leave it out to read from the oldest that is kept, and look up what happened before by other means.")
	}
	return page, nil
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
// their order, until ctx ends or fn fails, whose error it returns. An empty cursor means new
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
	if p.OpenedFunc != nil {
		if err := p.OpenedFunc(cursorOf(q.After)); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(watchPause)
	defer ticker.Stop()
	for {
		page, err := s.readFeed(ctx, ref, q)
		if err != nil {
			return err
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
