package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/sessions"
)

// Run keeps this node in touch until ctx ends: it listens for ends and replacements, refreshes the
// rows of its sockets, and asks Postgres how it does. It returns nil then.
func (s *Service) Run(ctx context.Context) error {
	var beating sync.WaitGroup
	beating.Go(func() { s.sendHeartbeats(ctx) })
	beating.Go(func() { s.turns.Watch(ctx) })
	beating.Go(func() { s.turns.Run(ctx) })
	err := s.db.Listen(ctx, sessions.Channel, func(payload string) { s.handleNotice(ctx, payload) })
	beating.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// beat refreshes each shard of the node's sockets once in a heartbeat; what fails is done with the
// next shard.
func (s *Service) sendHeartbeats(ctx context.Context) {
	const step = heartbeat / heartbeatShards
	var due [heartbeatShards]time.Time
	for shard := range due {
		due[shard] = time.Now().Add(time.Duration(shard) * step)
	}
	failing := false
	ticker.Every(ctx, step, func() {
		now := time.Now()
		err := s.refreshSockets(ctx, func(shard int) bool { return !now.Before(due[shard]) })
		if err != nil {
			if ctx.Err() == nil && !failing {
				s.log.ErrorContext(ctx, "sockets not refreshed", "error", err)
			}
			failing = true
			return
		}
		failing = false
		for shard := range due {
			for !now.Before(due[shard]) {
				due[shard] = due[shard].Add(heartbeat)
			}
		}
	})
}

// lookAround says that the sockets of those sessions that are live here are there, and looks at the
// sessions in which something has changed; of those parts of the engineShards that are due.
func (s *Service) refreshSockets(ctx context.Context, due func(shard int) bool) error {
	var ids []sessions.ID
	s.mu.Lock()
	for shard, engines := range s.engines.shards {
		if due(shard) {
			ids = slices.AppendSeq(ids, maps.Keys(engines))
		}
	}
	s.mu.Unlock()
	for some := range slices.Chunk(ids, refreshBatch) {
		unchanged, err := s.refresh(ctx, some)
		if err != nil {
			return err
		}
		for _, id := range some {
			if !unchanged[id] {
				s.checkSession(ctx, id)
			}
		}
	}
	return nil
}

// lookBatch bounds how many sessions a statement looks at.
const refreshBatch = 500

// refreshSQL notes that the sockets of sessions (?2) are still at a node (?1), and gives the
// sessions in progress that have them there only and are not being ended. One that Postgres was
// slow with may come behind a later one.
const refreshSQL = `
	WITH here AS (
	    UPDATE session_connections AS c
	    SET seen_at = greatest(c.seen_at, ?0)
	    WHERE c.node_id = ?1 AND c.session_id = ANY (?2::text[])
	    RETURNING c.tenant_id, c.session_id
	)
	SELECT here.session_id
	FROM here
	JOIN sessions AS s ON s.tenant_id = here.tenant_id AND s.id = here.session_id
	WHERE s.status = ?3 AND s.ending_at IS NULL
	  AND NOT EXISTS (
	      SELECT FROM session_connections AS o
	      WHERE o.tenant_id = here.tenant_id AND o.session_id = here.session_id AND o.node_id <> ?1
	  )`

// refresh does that for this node.
func (s *Service) refresh(ctx context.Context, ids []sessions.ID) (unchanged map[sessions.ID]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	var found []sessions.ID
	err = s.db.NewRaw(postgres.RawForAllTenants("a node's sockets are anybody's", refreshSQL), s.sessions.Now(), s.node, pgdialect.Array(ids), sessions.InProgress).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("refreshing the sockets of a node: %w", err)
	}
	unchanged = make(map[sessions.ID]bool, len(found))
	for _, id := range found {
		unchanged[id] = true
	}
	return unchanged, nil
}
