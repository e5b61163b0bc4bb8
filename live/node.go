package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

const (
	// heartbeat is how often a node says that its sockets are there, a part after the other: of
	// thousands at once the turns of that moment would feel it.
	heartbeat      = 10 * time.Second
	heartbeatParts = 50
)

// Run keeps this node in touch until ctx ends: it listens for ends and replacements, refreshes the
// rows of its sockets, and asks Postgres how it does. It returns nil then.
func (s *Service) Run(ctx context.Context) error {
	var beating sync.WaitGroup
	beating.Go(func() { s.beat(ctx) })
	beating.Go(func() { s.turns.Watch(ctx) })
	beating.Go(func() { s.turns.Run(ctx) })
	err := s.db.Listen(ctx, sessions.NotifyChannel, func(payload string) { s.hearNotice(ctx, payload) })
	beating.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// beat refreshes each part of the node's sockets once in a heartbeat; what fails is done with the
// next part.
func (s *Service) beat(ctx context.Context) {
	const step = heartbeat / heartbeatParts
	var due [heartbeatParts]time.Time
	for part := range due {
		due[part] = time.Now().Add(time.Duration(part) * step)
	}
	failing := false
	ticker.Every(ctx, step, func() {
		now := time.Now()
		err := s.lookAround(ctx, func(part int) bool { return !now.Before(due[part]) })
		if err != nil {
			if ctx.Err() == nil && !failing {
				s.log.ErrorContext(ctx, "sockets not refreshed", "error", err)
			}
			failing = true
			return
		}
		failing = false
		for part := range due {
			for !now.Before(due[part]) {
				due[part] = due[part].Add(heartbeat)
			}
		}
	})
}

// hearNotice acts on a notification. An empty payload says that some may have been missed.
func (s *Service) hearNotice(ctx context.Context, payload string) {
	if payload == "" {
		s.requests.WakeFollowers("")
		s.turns.WakeApprovals("")
		if err := s.lookAround(ctx, func(int) bool { return true }); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "sessions not looked at", "error", err)
		}
		return
	}
	var n sessions.Notice
	if err := json.Unmarshal([]byte(payload), &n); err != nil {
		s.log.WarnContext(ctx, "notice not understood", "error", err)
		return
	}
	switch n.Kind {
	case sessions.NoticeEnding:
		s.turns.StopTurns(n.Session, turns.ErrEnding)
	case sessions.NoticeStop:
		s.turns.StopTurn(n.Turn)
	case sessions.NoticeFollow:
		s.turns.MarkFollowed(n.Turn)
	case sessions.NoticeNews:
		s.requests.WakeFollowers(n.Turn)
	case sessions.NoticeDecided:
		s.turns.WakeApprovals(n.Session)
	case sessions.NoticeTurn:
		s.lookAtTurn(ctx, n)
	case sessions.NoticeEnded:
		s.turns.StopTurns(n.Session, turns.ErrEnding)
		s.look(ctx, n.Session)
	case sessions.NoticeItem:
		if n.From != s.node {
			s.look(ctx, n.Session)
		}
	case sessions.NoticeResume:
		if n.From != s.node {
			s.lookForWanted(ctx, n.Session)
		}
	case sessions.NoticeCancel:
		if n.From != s.node {
			s.turns.StopTurns(n.Session, turns.ErrStopped)
		}
	case sessions.NoticeJoined:
		if e := s.engineOf(n.Session); e != nil && n.From != s.node {
			e.send(replaced{channel: n.Channel, number: n.Number})
		}
	}
}

// lookAround says that the sockets of those sessions that are live here are there, and looks at the
// sessions in which something has changed; of those parts of the roster that are due.
func (s *Service) lookAround(ctx context.Context, due func(part int) bool) error {
	var ids []sessions.ID
	s.mu.Lock()
	for part, engines := range s.engines.parts {
		if due(part) {
			ids = slices.AppendSeq(ids, maps.Keys(engines))
		}
	}
	s.mu.Unlock()
	for some := range slices.Chunk(ids, lookBatch) {
		unchanged, err := s.refresh(ctx, some)
		if err != nil {
			return err
		}
		for _, id := range some {
			if !unchanged[id] {
				s.look(ctx, id)
			}
		}
	}
	return nil
}

// lookBatch bounds how many sessions a statement looks at.
const lookBatch = 500

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

// look closes the sockets of a session that has ended and those that were replaced.
func (s *Service) look(ctx context.Context, id sessions.ID) {
	e := s.engineOf(id)
	if e == nil {
		return
	}
	session, err := sessions.Find(ctx, s.db, e.tenant, id, "")
	switch {
	case fault.IsReason(err, fault.ResourceNotFound): // erased
		e.send(ended{session: sessions.Session{ID: id, Status: sessions.Completed, EndReason: "erased"}})
		return
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			s.log.WarnContext(ctx, "session not looked at", "session_id", id, "error", err)
		}
		return
	case session.Closed():
		e.send(ended{session: session})
		return
	case !session.EndingAt.IsZero():
		s.turns.StopTurns(id, turns.ErrEnding)
	}
	if len(session.ItemEdits) > 0 {
		e.send(changed{edits: session.ItemEdits})
	}
	var open []sessions.Connection
	if err := s.db.NewSelect().Model(&open).Where("c.tenant_id = ?", session.TenantID).Where("c.session_id = ?", id).Scan(ctx); err != nil {
		return // the next look
	}
	for _, c := range open {
		if c.NodeID == s.node {
			continue
		}
		e.send(replaced{channel: c.Channel, number: c.Number})
	}
}
