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

// relayLock makes relays wait for each other, so that positions become visible in their order.
const relayLock = "parlance.events.relay"

// LockRelay waits until no other transaction gives positions, and keeps others waiting until tx
// ends.
func LockRelay(ctx context.Context, tx bun.Tx) error { return postgres.LockTx(ctx, tx, relayLock) }

// The conditions of the partial indexes of what waits for the relay.
const (
	unrelayedPublic   = `w.relayed_at IS NULL AND left(w.type, 1) <> '_'`
	unrelayedInternal = `w.relayed_at IS NULL AND left(w.type, 1) = '_'`
)

// UnrelayedPublic claims up to ask.Room public events that have not been relayed until tx ends;
// those that another transaction has claimed are passed over. Tenants share the room: each gives
// its oldest events, the last row is of the one that was served last. Bodies are left out:
// deliveries read them when they are sent.
func UnrelayedPublic(ctx context.Context, tx bun.IDB, ask fair.Ask) ([]Row, error) {
	return unrelayed(ctx, tx.NewSelect().For("UPDATE OF e SKIP LOCKED"), ask, unrelayedPublic)
}

// UnrelayedInternal reads up to ask.Room internal events of the types that have not been relayed,
// shared like those of UnrelayedPublic. It claims nothing: their tasks have deterministic ids,
// and making them twice is better than holding a transaction while Redis answers.
func UnrelayedInternal(ctx context.Context, db bun.IDB, types []Type, ask fair.Ask) ([]Row, error) {
	return unrelayed(ctx, db.NewSelect(), ask, unrelayedInternal+" AND w.type IN (?)", bun.List(types))
}

// unrelayed reads events under the condition, whose parameters are args. A tenant's part of the
// room is what there is divided by those who wait; the relay asks again while there are more.
func unrelayed(ctx context.Context, q *bun.SelectQuery, ask fair.Ask, condition string, args ...any) ([]Row, error) {
	// In the order of the text: the ring's, a tenant's own, the room.
	params := slices.Concat([]any{ask.After}, args, []any{ask.After, ask.After}, args, []any{ask.Room, ask.Room})
	var rows []Row
	err := q.Model(&rows).Comment(postgres.AllTenants("the relay serves all")).ExcludeColumn("body").Join(`
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

// MarkRelayed ends the relaying of rows. Public events get their places in the feed, in the
// order of seq: their caller holds LockRelay and has claimed them in the same transaction.
func MarkRelayed(ctx context.Context, tx bun.IDB, rows []Row, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	seqs := make([]int64, len(rows))
	for i, row := range rows {
		seqs[i] = row.Seq
	}
	// The places are given out before anything is joined to them: a join that looks at them for
	// each row anew would give out others each time, in no order.
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
