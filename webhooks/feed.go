package webhooks

import (
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
	// Size is 1 to 200; 0 means 50.
	Size int
}

// Feed reads the workspace's events in their order. next is the cursor to go on with, empty when
// there is nothing more yet. Errors: Invalid invalid-request (after, page_size).
func (s *Service) Feed(ctx context.Context, ref workspaces.Ref, p FeedParams) (page []FeedEvent, next string, err error) {
	after, err := parseCursor(p.After)
	if err != nil {
		return nil, "", err
	}
	size := p.Size
	switch {
	case size < 0 || size > postgres.MaxPageSize:
		return nil, "", fault.InvalidField("page_size", "out_of_range", "page_size must be from 1 to %d.", postgres.MaxPageSize)
	case size == 0:
		size = postgres.DefaultPageSize
	}
	rows, err := events.Feed(ctx, s.db, events.FeedParams{
		TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), After: after, Limit: size + 1,
	})
	if err != nil {
		return nil, "", postgres.MapError(err)
	}
	page = make([]FeedEvent, 0, len(rows))
	for _, row := range rows[:min(len(rows), size)] {
		page = append(page, FeedEvent{Row: row, Cursor: strconv.FormatInt(row.Position, 10)})
	}
	if len(rows) > size {
		next = page[size-1].Cursor
	}
	return page, next, nil
}

// Watch calls fn with the events after the cursor and then with new ones as they happen, in
// their order, until ctx ends or fn fails, whose error it returns. An empty cursor means new
// ones only. Errors: Invalid invalid-request (after).
func (s *Service) Watch(ctx context.Context, ref workspaces.Ref, after string, fn func(FeedEvent) error) error {
	if after == "" {
		last, err := events.LastPosition(ctx, s.db, string(ref.TenantID), string(ref.ID))
		if err != nil {
			return postgres.MapError(err)
		}
		after = strconv.FormatInt(last, 10)
	}
	ticker := time.NewTicker(watchPause)
	defer ticker.Stop()
	for {
		page, next, err := s.Feed(ctx, ref, FeedParams{After: after})
		if err != nil {
			return err
		}
		for _, event := range page {
			if err := fn(event); err != nil {
				return err
			}
			after = event.Cursor
		}
		if next != "" {
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
