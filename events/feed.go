package events

import (
	"context"
	"fmt"
	"math"

	"github.com/uptrace/bun"
)

// feedScan is how many events one page with a filter looks at.
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

// FeedPage is a stretch of the feed.
type FeedPage struct {
	Rows []Row
	// More says that there is more behind End, which is where to go on: the last position looked
	// at.
	More bool
	End  int64
}

// The two parts of a workspace's feed, each in the order of its index: its own events and those of
// its tenant as a whole.
const (
	feedPlaces = `
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

// Feed returns relayed public events in the order of their positions. An event never appears
// before one that was already returned, so a reader that goes on from the last misses nothing.
// With Types a page looks at feedScan events and may be short, or empty, with More behind it.
func Feed(ctx context.Context, db bun.IDB, p FeedParams) (FeedPage, error) {
	page := FeedPage{End: p.After}
	upTo := int64(math.MaxInt64)
	if len(p.Types) > 0 {
		seen, err := scanFeed(ctx, db, p)
		if err != nil || seen.Places == 0 {
			return page, err
		}
		page.End, page.More, upTo = seen.Last, seen.Places == feedScan, seen.Last
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

// stretch is how far one page with a filter looks.
type stretch struct {
	Places int   `bun:"places"`
	Last   int64 `bun:"last"`
}

func scanFeed(ctx context.Context, db bun.IDB, p FeedParams) (stretch, error) {
	var seen stretch
	err := db.NewRaw("SELECT count(*) AS places, coalesce(max(position), 0) AS last FROM (SELECT position FROM (("+feedPlaces+
		") UNION ALL ("+feedPlaces+")) AS places ORDER BY position LIMIT ?) AS seen",
		p.TenantID, p.WorkspaceID, p.After, feedScan, p.TenantID, "", p.After, feedScan, feedScan).Scan(ctx, &seen)
	if err != nil {
		return stretch{}, fmt.Errorf("look for events of the feed: %w", err)
	}
	return seen, nil
}

// feedTo reads one event more than the page has.
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

// LastPosition is the position of the newest event in the feed; 0 when there is none.
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

// Floor is the position of the last event that was deleted from the feed by age, which whoever
// deletes events writes into event_feed_floors; 0 when none was. Who has read less than that has
// missed events.
func Floor(ctx context.Context, db bun.IDB, tenantID, workspaceID string) (int64, error) {
	var position int64
	err := db.NewRaw("SELECT coalesce(max(f.position), 0) FROM event_feed_floors AS f WHERE f.tenant_id = ? AND f.workspace_id IN (?, '')",
		tenantID, workspaceID).Scan(ctx, &position)
	if err != nil {
		return 0, fmt.Errorf("read the floor of the feed of events: %w", err)
	}
	return position, nil
}
