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

// Run listens for the notices of other nodes, refreshes the rows of this node's sockets and probes
// Postgres, until ctx ends. It returns nil then.
func (s *Service) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { s.sendHeartbeats(ctx) })
	running.Go(func() { s.turns.Watch(ctx) })
	running.Go(func() { s.turns.Run(ctx) })
	err := s.db.Listen(ctx, sessions.NotifyChannel, func(payload string) { s.handleNotice(ctx, payload) })
	running.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end of ctx is no error of Run's
	}
	return err
}

// sendHeartbeats refreshes each shard's sockets once in a heartbeat. A shard that failed is
// refreshed with the next one. It follows real time, as its ticker does.
func (s *Service) sendHeartbeats(ctx context.Context) {
	const step = heartbeat / heartbeatShards
	clock := time.Now
	var due [heartbeatShards]time.Time
	for shard := range due {
		due[shard] = clock().Add(time.Duration(shard) * step)
	}
	failing := false
	ticker.Every(ctx, step, func() {
		now := clock()
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

// refreshSockets refreshes the rows of the sockets in the shards that are due, and checks the
// sessions in which something has changed.
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

// refreshBatch bounds the sessions of one statement.
const refreshBatch = 500

// refreshSQL refreshes the sockets of sessions (?2) on a node (?1). It returns the sessions in
// progress that have no sockets on other nodes, are not being ended and not handed over. greatest:
// a slow statement may run after a later one.
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
	WHERE s.status = ?3 AND s.ending_at IS NULL AND s.handover_status = ''
	  AND NOT EXISTS (
	      SELECT FROM session_connections AS o
	      WHERE o.tenant_id = here.tenant_id AND o.session_id = here.session_id AND o.node_id <> ?1
	  )`

// refresh refreshes the sockets of the sessions, and returns the sessions in which nothing has
// changed.
func (s *Service) refresh(ctx context.Context, ids []sessions.ID) (unchanged map[sessions.ID]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	var found []sessions.ID
	err = s.db.NewRaw(postgres.RawForAllTenants("a node's sockets are of many tenants", refreshSQL), s.sessions.Now(),
		s.node, pgdialect.Array(ids), sessions.InProgress).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("refreshing the sockets of a node: %w", err)
	}
	unchanged = make(map[sessions.ID]bool, len(found))
	for _, id := range found {
		unchanged[id] = true
	}
	return unchanged, nil
}
