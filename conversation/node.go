package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/beat"
	"parlance.dev/parlance/platform/postgres"
)

// Channel is the Postgres channel on which the nodes tell each other of ends and of sockets that
// took over.
const Channel = "parlance_sessions"

const (
	// heartbeat is how often a node says that its sockets are there, a part after the other: of thousands at once the
	// turns of that moment would feel it.
	heartbeat      = 10 * time.Second
	heartbeatParts = 50
	// connectionLife is how long a socket counts as there without a heartbeat of its node.
	connectionLife = 35 * time.Second
)

// noticeKind is what a notice is about.
type noticeKind string

const (
	noticeJoined noticeKind = "joined" // a socket has joined: older ones of its channel are replaced
	noticeEnding noticeKind = "ending" // the turn that runs is to be stopped
	noticeEnded  noticeKind = "ended"  // the session is closed
	noticeWanted noticeKind = "wanted" // a turn waits for an answer that its node does not give any more
	noticeCancel noticeKind = "cancel" // the answer that is going out is to be stopped
	noticeItem   noticeKind = "item"   // a client removed or cut an item
	noticeStop   noticeKind = "stop"   // this one turn is to be stopped
	noticeFollow noticeKind = "follow" // this one turn is followed by its row
	noticeNews   noticeKind = "news"   // this one turn's row has changed
	noticeTurn   noticeKind = "turn"   // this one turn has been recorded
	// noticeDecided: somebody has said whether a call of the session may be made.
	noticeDecided noticeKind = "decided"
)

// notice is the payload of a notification. It names; whoever gets it reads the row.
type notice struct {
	Kind    noticeKind  `json:"k"`
	Session ID          `json:"s"`
	Channel LiveChannel `json:"c,omitempty"`
	Number  int64       `json:"n,omitempty"`
	// From is the node that sent it, where that one need not hear it.
	From string `json:"f,omitempty"`
	Turn TurnID `json:"t,omitempty"`
}

// notify sends the notice when tx commits.
func notify(ctx context.Context, tx bun.IDB, n notice) error {
	payload, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encoding notice: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_notify(?, ?)", Channel, string(payload)); err != nil {
		return fmt.Errorf("notifying nodes: %w", err)
	}
	return nil
}

// Run keeps this node in touch until ctx ends: it listens for ends and replacements, refreshes the rows of its
// sockets, and asks Postgres how it does. It returns nil then.
func (s *Service) Run(ctx context.Context) error {
	var beating sync.WaitGroup
	beating.Go(func() { s.beat(ctx) })
	beating.Go(func() { s.watch(ctx) })
	beating.Go(func() { s.spill.run(ctx) })
	err := s.db.Listen(ctx, Channel, func(payload string) { s.hearNotice(ctx, payload) })
	beating.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// beat refreshes each part of the node's sockets once in a heartbeat; what fails is done with the next part.
func (s *Service) beat(ctx context.Context) {
	const step = heartbeat / heartbeatParts
	var due [heartbeatParts]time.Time
	for part := range due {
		due[part] = time.Now().Add(time.Duration(part) * step)
	}
	failing := false
	beat.Every(ctx, step, func() bool {
		now := time.Now()
		err := s.lookAround(ctx, func(part int) bool { return !now.Before(due[part]) })
		if err != nil {
			if ctx.Err() == nil && !failing {
				s.log.ErrorContext(ctx, "sockets not refreshed", "error", err)
			}
			failing = true
			return true
		}
		failing = false
		for part := range due {
			for !now.Before(due[part]) {
				due[part] = due[part].Add(heartbeat)
			}
		}
		return true
	})
}

// hearNotice acts on a notification. An empty payload says that some may have been missed.
func (s *Service) hearNotice(ctx context.Context, payload string) {
	if payload == "" {
		s.wakeFollowers("")
		s.heardDecision("")
		if err := s.lookAround(ctx, func(int) bool { return true }); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "sessions not looked at", "error", err)
		}
		return
	}
	var n notice
	if err := json.Unmarshal([]byte(payload), &n); err != nil {
		s.log.WarnContext(ctx, "notice not understood", "error", err)
		return
	}
	switch n.Kind {
	case noticeEnding:
		s.stopTurns(n.Session, errEnding)
	case noticeStop:
		s.stopTurn(n.Turn)
	case noticeFollow:
		s.markFollowed(n.Turn)
	case noticeNews:
		s.wakeFollowers(n.Turn)
	case noticeDecided:
		s.heardDecision(n.Session)
	case noticeTurn:
		s.lookAtTurn(ctx, n)
	case noticeEnded:
		s.stopTurns(n.Session, errEnding)
		s.look(ctx, n.Session)
	case noticeItem:
		if n.From != s.node {
			s.look(ctx, n.Session)
		}
	case noticeWanted:
		if n.From != s.node {
			s.lookForWanted(ctx, n.Session)
		}
	case noticeCancel:
		if n.From != s.node {
			s.stopTurns(n.Session, errStopped)
		}
	case noticeJoined:
		if e := s.engineOf(n.Session); e != nil && n.From != s.node {
			e.send(replaced{channel: n.Channel, number: n.Number})
		}
	}
}

// lookAround says that the sockets of those sessions that are live here are there, and looks at the sessions in which
// something has changed; of those parts of the roster that are due.
func (s *Service) lookAround(ctx context.Context, due func(part int) bool) error {
	var ids []ID
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

// refreshSQL notes that the sockets of sessions (?2) are still at a node (?1), and gives the sessions in progress that
// have them there only and are not being ended. One that Postgres was slow with may come behind a later one.
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
func (s *Service) refresh(ctx context.Context, ids []ID) (unchanged map[ID]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var found []ID
	err = s.db.NewRaw(postgres.RawForAllTenants("a node's sockets are anybody's", refreshSQL), s.moment(), s.node, pgdialect.Array(ids), InProgress).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("refreshing the sockets of a node: %w", err)
	}
	unchanged = make(map[ID]bool, len(found))
	for _, id := range found {
		unchanged[id] = true
	}
	return unchanged, nil
}

// look closes the sockets of a session that has ended and those that were replaced.
func (s *Service) look(ctx context.Context, id ID) {
	e := s.engineOf(id)
	if e == nil {
		return
	}
	session, err := selectSession(ctx, s.db, e.tenant, id, "")
	switch {
	case fault.IsReason(err, fault.ResourceNotFound): // erased
		e.send(ended{session: Session{ID: id, Status: Completed, EndReason: "erased"}})
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
		s.stopTurns(id, errEnding)
	}
	if len(session.ItemEdits) > 0 {
		e.send(changed{edits: session.ItemEdits})
	}
	var open []connection
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
