package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
)

// relayLock makes relays wait for each other, so that positions are committed in their order.
const relayLock = "parlance.events.relay"

// LockRelay waits until no other transaction assigns positions, and makes others wait until tx
// ends.
func LockRelay(ctx context.Context, tx bun.Tx) error { return postgres.LockTx(ctx, tx, relayLock) }

// The predicates of the partial indexes of events that are not relayed.
const (
	unrelayedPublic   = `w.relayed_at IS NULL AND left(w.type, 1) <> '_'`
	unrelayedInternal = `w.relayed_at IS NULL AND left(w.type, 1) = '_'`
)

// UnrelayedPublic locks up to ask.Room public events that are not relayed until tx ends, and skips
// those that another transaction has locked. Tenants share the room, each with its oldest events;
// the last row is of the tenant that was served last. Bodies are left out: deliveries read them.
func UnrelayedPublic(ctx context.Context, tx bun.IDB, ask fair.Ask) ([]Row, error) {
	return unrelayed(ctx, tx.NewSelect().For("UPDATE OF e SKIP LOCKED"), ask, unrelayedPublic)
}

// UnrelayedInternal reads up to ask.Room internal events of the types that are not relayed, shared
// like those of UnrelayedPublic. It locks nothing: making a task twice is harmless, and a
// transaction must not wait for Redis.
func UnrelayedInternal(ctx context.Context, db bun.IDB, types []Type, ask fair.Ask) ([]Row, error) {
	return unrelayed(ctx, db.NewSelect(), ask, unrelayedInternal+" AND w.type IN (?)", bun.List(types))
}

// unrelayed reads events under the condition, whose parameters are args. A tenant's part of the
// room is the room divided by the tenants that wait; the relay reads again while there are more
// events.
func unrelayed(ctx context.Context, q *bun.SelectQuery, ask fair.Ask, condition string, args ...any) ([]Row, error) {
	// In the order of the statement: the round robin's, those of a tenant's events, the room.
	params := slices.Concat([]any{ask.After}, args, []any{ask.After, ask.After}, args, []any{ask.Room, ask.Room})
	var rows []Row
	err := q.Model(&rows).Comment(postgres.AllTenants("the relay serves all")).ExcludeColumn("body", "sealed").Join(`
JOIN (
    WITH RECURSIVE `+fair.RoundRobinSQL("events", condition)+`
    SELECT own.seq,
           round_robin.place
    FROM round_robin
    CROSS JOIN LATERAL (
        SELECT w.seq
        FROM events AS w
        WHERE w.tenant_id = round_robin.tenant_id
          AND `+condition+`
        ORDER BY w.seq
        LIMIT (SELECT greatest(1, ? / count(*)) FROM round_robin)
    ) AS own
    ORDER BY round_robin.place, own.seq
    LIMIT ?
) AS picked ON picked.seq = e.seq`, params...).
		Where("e.relayed_at IS NULL").OrderExpr("picked.place, e.seq").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read events to relay: %w", err)
	}
	return rows, nil
}

// MarkRelayed marks rows as relayed. Public events get their positions in the feed, in the order of
// seq: the caller holds LockRelay and has locked them in the same transaction.
func MarkRelayed(ctx context.Context, tx bun.IDB, rows []Row, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	seqs := make([]int64, len(rows))
	for i, row := range rows {
		seqs[i] = row.Seq
	}
	// The CTE is materialized: a join that evaluates it for each row would assign positions again
	// each time, in no order.
	_, err := tx.NewRaw(postgres.RawForAllTenants("the relay serves all", `
WITH placed AS MATERIALIZED (
    SELECT ordered.seq,
           CASE WHEN ordered.public THEN nextval('events_position') END AS position
    FROM (SELECT seq, left(type, 1) <> '_' AS public FROM events WHERE seq IN (?) ORDER BY seq) AS ordered
)
UPDATE events AS e
SET relayed_at = ?,
    position = placed.position
FROM placed
WHERE e.seq = placed.seq
  AND e.relayed_at IS NULL`), bun.List(seqs), now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("mark events relayed: %w", err)
	}
	return nil
}
