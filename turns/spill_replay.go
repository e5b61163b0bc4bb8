package turns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

const (
	// replaysAtOnce is how many sessions are written side by side.
	replaysAtOnce = 4
	// maxReplayTries is how often a record may fail for a reason that is not known before it is kept aside.
	maxReplayTries = 5
)

// replay writes the records of all sessions that have no answer of their own going out.
func (p *journal) replay(ctx context.Context) {
	ids := p.due()
	if len(ids) == 0 {
		return
	}
	if err := p.mark(ctx); err != nil {
		p.failed(ctx, err)
		return
	}
	var writing sync.WaitGroup
	slots := make(chan struct{}, replaysAtOnce) // a semaphore
	for _, id := range ids {
		writing.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil && !p.IsAway() {
				p.replaySession(ctx, id)
			}
		})
	}
	writing.Wait()
}

func (p *journal) due() []sessions.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []sessions.ID
	for id, d := range p.drifts {
		if d.busy == 0 || len(d.queue) > 0 { // those that are busy are marked
			ids = append(ids, id)
		}
	}
	return ids
}

// mark tells the rows of the sessions that records of theirs are still to come.
func (p *journal) mark(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := p.s.sessions.Now()
	stale := map[workspaces.TenantID][]sessions.ID{}
	p.mu.Lock()
	for id, d := range p.drifts {
		if now.Sub(d.marked) >= markRenewal {
			stale[d.tenant] = append(stale[d.tenant], id)
		}
	}
	p.mu.Unlock()
	for tenant, ids := range stale {
		_, err := p.s.db.NewUpdate().Model((*sessions.Session)(nil)).Set("spill_until = ?", now.Add(markLife)).
			Where("s.tenant_id = ?", tenant).Where("s.id IN ?", bun.Tuple(ids)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("marking sessions whose turns are still to be written: %w", err)
		}
		p.mu.Lock()
		for _, id := range ids {
			if d := p.drifts[id]; d != nil {
				d.marked = now
			}
		}
		p.mu.Unlock()
	}
	return nil
}

// first is the record that is next; false when there is none, or an answer goes out.
func (p *journal) first(id sessions.ID) (d *drift, next unwritten, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d = p.drifts[id]
	if d == nil || d.busy > 0 || d.marked.IsZero() {
		return nil, unwritten{}, false
	}
	if len(d.queue) == 0 {
		return d, unwritten{}, false
	}
	return d, d.queue[0], true
}

// replaySession writes a session's records in order and attaches it.
func (p *journal) replaySession(ctx context.Context, id sessions.ID) {
	for {
		d, next, more := p.first(id)
		if d == nil {
			return
		}
		if !more {
			p.dock(ctx, id, d)
			return
		}
		r, err := p.read(next)
		if err == nil {
			err = p.s.apply(ctx, r)
		}
		switch {
		case err == nil:
			p.metrics.written.Inc()
			if err := p.done(next); err != nil {
				p.s.log.WarnContext(ctx, "a record that is written may be read again", "session_id", id, "error", err)
			}
		case p.poisoned(d, err):
			r.Session = id
			p.setAside(ctx, next, r, err)
		default:
			p.failed(ctx, err)
			return
		}
		p.mu.Lock()
		d.queue, d.tries = slices.Delete(d.queue, 0, 1), 0
		p.mu.Unlock()
	}
}

// poisoned says whether a record will never be written.
func (p *journal) poisoned(d *drift, err error) bool {
	if errors.Is(err, errErased) || errors.Is(err, errSuperseded) || errors.Is(err, errRecord) {
		return true
	}
	if postgres.IsAway(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d.tries++
	return d.tries >= maxReplayTries
}

// failed takes an error of the replay: it goes on at the next look.
func (p *journal) failed(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case postgres.IsAway(err):
		p.lost(ctx, err)
	default:
		p.s.log.WarnContext(ctx, "turns that were kept on disk are not written yet", "error", err)
	}
}

func (p *journal) read(w unwritten) (record, error) {
	if w.held != nil {
		return *w.held, nil
	}
	encoded, err := p.wal.Read(w.kept)
	if err != nil {
		return record{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	return decodeRecord(encoded)
}

// done forgets a record that is written.
func (p *journal) done(w unwritten) error {
	if w.held != nil {
		return nil
	}
	return p.wal.Done(w.kept)
}

// setAside takes a record that will never be written out of the way, and tells of its turn.
func (p *journal) setAside(ctx context.Context, w unwritten, r record, why error) {
	p.metrics.aside.Inc()
	p.s.log.ErrorContext(ctx, "a record that was kept on disk cannot be written and is kept aside", slog.String("session_id", string(r.Session)), slog.String("kind", string(r.Kind)), slog.Any("error", why))
	if err := p.putAside(w); err != nil {
		p.s.log.ErrorContext(ctx, "a record is not kept aside", "session_id", r.Session, "error", err)
	}
	if r.Turn == nil || r.Tenant == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	err := p.s.sessions.Locked(ctx, r.Tenant, r.Session, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		return appendPersistenceFailed(ctx, tx, *session, r.Turn.ID, r.At, false)
	})
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		p.s.log.WarnContext(ctx, "nobody is told of a turn that is kept aside", "session_id", r.Session, "turn_id", r.Turn.ID, "error", err)
	}
}

func (p *journal) putAside(w unwritten) error {
	if w.held != nil {
		return nil
	}
	return p.wal.SetAside(w.kept)
}

// dock attaches a session whose records are all written; an end that was asked for meanwhile comes true.
func (p *journal) dock(ctx context.Context, id sessions.ID, d *drift) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := p.s.sessions.Now()
	err := p.s.sessions.Locked(ctx, d.tenant, id, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		session.SpillUntil = time.Time{}
		if err := sessions.Update(ctx, tx, *session, "spill_until"); err != nil {
			return err
		}
		running := session.RunningTurnID != "" && session.RunningUntil.After(now) || p.s.answersFor(id)
		if session.EndingAt.IsZero() || running {
			return nil
		}
		return p.s.sessions.CloseTx(ctx, tx, session, session.EndingStatus, session.EndingReason, now)
	})
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) && !p.poisoned(d, err) {
		p.failed(ctx, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d.marked = time.Time{}
	if d.busy == 0 && len(d.queue) == 0 {
		p.settle(id, d)
	}
}

// answersFor says whether a turn of the session that has its row runs here: its end closes the session.
func (s *Service) answersFor(id sessions.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.running {
		if l.session == id && l.Begun {
			return true
		}
	}
	return false
}
