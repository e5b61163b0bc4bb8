package events

import (
	"context"
	"fmt"
	"math"

	"github.com/uptrace/bun"
)

// feedScan is how many events a page with a filter scans.
const feedScan = 2000

// FeedParams asks for public events of a workspace and of its tenant as a whole.
type FeedParams struct {
	TenantID    string
	WorkspaceID string
	// After is the position of the last event read; 0: from the oldest kept.
	After int64
	// Types narrow the feed; empty: all.
	Types []Type
	// Limit is at least 1.
	Limit int
}

// FeedPage is a page of the feed.
type FeedPage struct {
	Rows []Row
	// More says that there is more behind End, which is where to go on: the last position looked
	// at.
	More bool
	End  int64
}

// These statements read one of the two parts of a workspace's feed, in the order of an index: its
// own events, or those of its tenant as a whole.
const (
	feedPositions = `
SELECT e.position
FROM events AS e
WHERE e.tenant_id = ?
  AND e.workspace_id = ?
  AND e.position > ?
ORDER BY e.position
LIMIT ?`
	feedRows = `
SELECT e.*
FROM events AS e
WHERE e.tenant_id = ?
  AND e.workspace_id = ?
  AND e.position > ?
  AND e.position <= ?`
	feedOfTypes = `
  AND e.type IN (?)`
	feedOrder = `
ORDER BY e.position
LIMIT ?`
)

// Feed returns relayed public events in the order of their positions. A new event never has a
// position before one that was returned, so a reader that continues behind the last one misses
// nothing. With Types a page scans feedScan events, and may be short or empty with More set.
func Feed(ctx context.Context, db bun.IDB, p FeedParams) (FeedPage, error) {
	page := FeedPage{End: p.After}
	upTo := int64(math.MaxInt64)
	if len(p.Types) > 0 {
		seen, err := scanFeed(ctx, db, p)
		if err != nil || seen.Count == 0 {
			return page, err
		}
		page.End, page.More, upTo = seen.Last, seen.Count == feedScan, seen.Last
	}
	rows, err := feedTo(ctx, db, p, upTo)
	if err != nil {
		return FeedPage{}, err
	}
	page.Rows = rows[:min(len(rows), p.Limit)]
	if len(page.Rows) > 0 && (len(p.Types) == 0 || len(rows) > p.Limit) {
		page.End = page.Rows[len(page.Rows)-1].Position
	}
	page.More = page.More || len(rows) > p.Limit
	return page, nil
}

// scanned is how many events a page with a filter scans, and the position of the last one.
type scanned struct {
	Count int   `bun:"count"`
	Last  int64 `bun:"last"`
}

func scanFeed(ctx context.Context, db bun.IDB, p FeedParams) (scanned, error) {
	var seen scanned
	err := db.NewRaw("SELECT count(*) AS count, coalesce(max(position), 0) AS last FROM (SELECT position FROM (("+feedPositions+
		") UNION ALL ("+feedPositions+")) AS positions ORDER BY position LIMIT ?) AS seen",
		p.TenantID, p.WorkspaceID, p.After, feedScan, p.TenantID, "", p.After, feedScan, feedScan).Scan(ctx, &seen)
	if err != nil {
		return scanned{}, fmt.Errorf("scan the feed of events: %w", err)
	}
	return seen, nil
}

// feedTo reads a page up to a position, and one event more.
func feedTo(ctx context.Context, db bun.IDB, p FeedParams, upTo int64) ([]Row, error) {
	part := feedRows
	if len(p.Types) > 0 {
		part += feedOfTypes
	}
	part += feedOrder
	var args []any
	for _, workspace := range []string{p.WorkspaceID, ""} {
		args = append(args, p.TenantID, workspace, p.After, upTo)
		if len(p.Types) > 0 {
			args = append(args, bun.List(p.Types))
		}
		args = append(args, p.Limit+1)
	}
	var rows []Row
	union := "SELECT * FROM ((" + part + ") UNION ALL (" + part + ")) AS feed ORDER BY position LIMIT ?"
	err := db.NewRaw(union, append(args, p.Limit+1)...).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the feed of events: %w", err)
	}
	return rows, nil
}

// LastPosition returns the position of the newest event in the feed; 0 when there is none.
func LastPosition(ctx context.Context, db bun.IDB, tenantID, workspaceID string) (int64, error) {
	const newest = `(
    SELECT e.position
    FROM events AS e
    WHERE e.tenant_id = ?
      AND e.workspace_id = ?
      AND e.position IS NOT NULL
    ORDER BY e.position DESC
    LIMIT 1
)`
	var position int64
	err := db.NewRaw("SELECT coalesce(greatest("+newest+", "+newest+"), 0)", tenantID, workspaceID, tenantID, "").Scan(ctx, &position)
	if err != nil {
		return 0, fmt.Errorf("read the end of the feed of events: %w", err)
	}
	return position, nil
}

// Floor returns the position of the last event that was deleted from the feed by age, from
// event_feed_floors; 0 when none was. A reader that has not read up to it has missed events.
func Floor(ctx context.Context, db bun.IDB, tenantID, workspaceID string) (int64, error) {
	var position int64
	err := db.NewRaw("SELECT coalesce(max(f.position), 0) FROM event_feed_floors AS f WHERE f.tenant_id = ? AND f.workspace_id IN (?, '')",
		tenantID, workspaceID).Scan(ctx, &position)
	if err != nil {
		return 0, fmt.Errorf("read the floor of the feed of events: %w", err)
	}
	return position, nil
}
