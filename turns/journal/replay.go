package journal

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
	// maxReplayTries is how often a record may fail for a reason that is not known before it is
	// kept aside.
	maxReplayTries = 5
)

// replay writes the records of all sessions in which no offline turn runs.
func (j *Journal) replay(ctx context.Context) {
	ids := j.due()
	if len(ids) == 0 {
		return
	}
	if err := j.mark(ctx); err != nil {
		j.failed(ctx, err)
		return
	}
	var writing sync.WaitGroup
	slots := make(chan struct{}, replaysAtOnce) // a semaphore
	for _, id := range ids {
		writing.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil && !j.Offline() {
				j.replaySession(ctx, id)
			}
		})
	}
	writing.Wait()
}

func (j *Journal) due() []sessions.ID {
	j.mu.Lock()
	defer j.mu.Unlock()
	var ids []sessions.ID
	for id, d := range j.backlogs {
		if d.busy == 0 || len(d.queue) > 0 { // those that are busy are marked
			ids = append(ids, id)
		}
	}
	return ids
}

// mark sets spill_until of the sessions that have records here.
func (j *Journal) mark(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := j.sessions.Now()
	stale := map[workspaces.TenantID][]sessions.ID{}
	j.mu.Lock()
	for id, d := range j.backlogs {
		if now.Sub(d.marked) >= markRenewal {
			stale[d.tenant] = append(stale[d.tenant], id)
		}
	}
	j.mu.Unlock()
	for tenant, ids := range stale {
		_, err := j.db.NewUpdate().Model((*sessions.Session)(nil)).Set("spill_until = ?", now.Add(markLife)).
			Where("s.tenant_id = ?", tenant).Where("s.id IN ?", bun.Tuple(ids)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("marking sessions whose turns are still to be written: %w", err)
		}
		j.mu.Lock()
		for _, id := range ids {
			if d := j.backlogs[id]; d != nil {
				d.marked = now
			}
		}
		j.mu.Unlock()
	}
	return nil
}

// first is the next record; false when there is none, or an offline turn runs.
func (j *Journal) first(id sessions.ID) (d *backlog, next pending, more bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d = j.backlogs[id]
	if d == nil || d.busy > 0 || d.marked.IsZero() {
		return nil, pending{}, false
	}
	if len(d.queue) == 0 {
		return d, pending{}, false
	}
	return d, d.queue[0], true
}

// replaySession writes a session's records in order and puts the session online.
func (j *Journal) replaySession(ctx context.Context, id sessions.ID) {
	for {
		d, next, more := j.first(id)
		if d == nil {
			return
		}
		if !more {
			j.catchUp(ctx, id, d)
			return
		}
		r, err := j.read(next)
		if err == nil {
			err = j.apply(ctx, r)
		}
		if errors.Is(err, errErased) {
			j.log.InfoContext(ctx, "a record of a deleted session is deleted", "session_id", id)
			err = nil
		}
		switch {
		case err == nil:
			j.metrics.written.Inc()
			if err := j.done(next); err != nil {
				j.log.WarnContext(ctx, "a record that is written may be read again", "session_id", id, "error", err)
			}
		case j.unwritable(d, err):
			r.Session = id
			j.setAside(ctx, next, r, err)
		default:
			j.failed(ctx, err)
			return
		}
		j.mu.Lock()
		d.queue, d.tries = slices.Delete(d.queue, 0, 1), 0
		j.mu.Unlock()
	}
}

// unwritable says whether a record will never be written.
func (j *Journal) unwritable(d *backlog, err error) bool {
	if errors.Is(err, errSuperseded) || errors.Is(err, errRecord) {
		return true
	}
	if postgres.IsAway(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	d.tries++
	return d.tries >= maxReplayTries
}

// failed logs an error of the replay, which is tried again.
func (j *Journal) failed(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case postgres.IsAway(err):
		j.markAway(ctx, err)
	default:
		j.log.WarnContext(ctx, "turns that were kept on disk are not written yet", "error", err)
	}
}

func (j *Journal) read(w pending) (record, error) {
	if w.held != nil {
		return *w.held, nil
	}
	encoded, err := j.wal.Read(w.kept)
	if err != nil {
		return record{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	return decodeRecord(encoded)
}

// done forgets a record that is written.
func (j *Journal) done(w pending) error {
	if w.held != nil {
		return nil
	}
	return j.wal.Done(w.kept)
}

// setAside puts a record aside that will never be written, and appends turn.persistence_failed.
func (j *Journal) setAside(ctx context.Context, w pending, r record, why error) {
	j.metrics.aside.Inc()
	j.log.ErrorContext(ctx, "a record that was kept on disk cannot be written and is kept aside",
		slog.String("session_id", string(r.Session)), slog.String("kind", string(r.Kind)), slog.Any("error", why))
	if err := j.putAside(w); err != nil {
		j.log.ErrorContext(ctx, "a record is not kept aside", "session_id", r.Session, "error", err)
	}
	if r.Turn == nil || r.Tenant == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	err := j.sessions.Locked(ctx, r.Tenant, r.Session, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		return appendPersistenceFailed(ctx, tx, *session, r.Turn.ID, r.At, false)
	})
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		j.log.WarnContext(ctx, "nobody is told of a turn that is kept aside", "session_id", r.Session, "turn_id", r.Turn.ID, "error", err)
	}
}

func (j *Journal) putAside(w pending) error {
	if w.held != nil {
		return nil
	}
	return j.wal.SetAside(w.kept)
}

// catchUp puts a session online whose records are all replayed. An end that was asked for meanwhile
// closes the session.
func (j *Journal) catchUp(ctx context.Context, id sessions.ID, d *backlog) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := j.sessions.Now()
	err := j.sessions.Locked(ctx, d.tenant, id, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		session.JournalUntil = time.Time{}
		if err := sessions.Update(ctx, tx, *session, "spill_until"); err != nil {
			return err
		}
		running := session.RunningTurnID != "" && session.RunningUntil.After(now) || j.answersFor(id)
		if session.EndingAt.IsZero() || running {
			return nil
		}
		return j.sessions.CloseTx(ctx, tx, session, session.EndingStatus, session.EndingReason, now)
	})
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) && !j.unwritable(d, err) {
		j.failed(ctx, err)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	d.marked = time.Time{}
	if d.busy == 0 && len(d.queue) == 0 {
		j.settle(id, d)
	}
}

// answersFor says whether a turn of the session that was begun online runs here: its end closes the
// session.
func (j *Journal) answersFor(id sessions.ID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running[id] > 0
}
