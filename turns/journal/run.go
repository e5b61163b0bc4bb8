package journal

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Run implements turns.Database. Records that are left when ctx ends stay on disk.
func (j *Journal) Run(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if j.Offline() && j.answering() {
			j.back(ctx)
		}
		if !j.Offline() {
			if j.adoptDue() {
				j.TakeOver(ctx)
				j.forgetErased(ctx)
			}
			j.replay(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-j.wake:
		}
	}
}

// back notes that Postgres is back. Another process on this machine may have ended meanwhile: its
// records are taken over before newer ones are written.
func (j *Journal) back(ctx context.Context) {
	j.TakeOver(ctx)
	j.mu.Lock()
	since, sessions := j.away, len(j.backlogs)
	j.away = time.Time{}
	j.mu.Unlock()
	j.log.WarnContext(ctx, "Postgres is back: turns that were kept on disk are written",
		slog.Int("sessions", sessions), slog.Duration("away", j.sessions.Now().Sub(since)))
}

// forgetErased deletes the records aside of sessions that are not there any more.
func (j *Journal) forgetErased(ctx context.Context) {
	streams, err := j.wal.AsideStreams()
	if err == nil && len(streams) > 0 {
		var there []string
		there, err = sessions.Existing(ctx, j.db, streams)
		for _, stream := range streams {
			if err == nil && !slices.Contains(there, stream) {
				err = j.wal.ForgetAside(stream)
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		j.log.WarnContext(ctx, "records aside of deleted sessions are not deleted yet", "error", err)
	}
}

func (j *Journal) adoptDue() bool {
	j.adopting.Lock()
	defer j.adopting.Unlock()
	return j.now().Sub(j.adopted) >= adoptEvery
}

// TakeOver implements turns.Database. The records of ended processes are replayed before this one's
// own. Concurrent calls share one search.
func (j *Journal) TakeOver(ctx context.Context) {
	before := j.adoptions.Load()
	j.adopting.Lock()
	defer j.adopting.Unlock()
	if j.adoptions.Load() > before {
		return
	}
	j.adoptions.Add(1)
	j.takeOver(ctx)
	if j.adopted.IsZero() {
		close(j.looked)
	}
	j.adopted = j.now()
}

// takeOver is TakeOver with j.adopting held.
func (j *Journal) takeOver(ctx context.Context) {
	records, err := j.wal.Adopt(ctx)
	if err != nil {
		j.log.ErrorContext(ctx, "turns that another process has kept are not read", "error", err)
	}
	if len(records) == 0 {
		return
	}
	j.log.WarnContext(ctx, "turns that another process has kept on disk are written", slog.Int("records", len(records)))
	queues := map[sessions.ID][]pending{}
	tenants := map[sessions.ID]workspaces.TenantID{}
	for _, kept := range records {
		r, err := j.read(pending{kept: kept})
		if err != nil {
			j.setAside(ctx, pending{kept: kept}, record{Session: sessions.ID(kept.Stream)}, err)
			continue
		}
		queues[r.Session], tenants[r.Session] = append(queues[r.Session], pending{kept: kept}), r.Tenant
	}
	for id, queue := range queues {
		d := j.enter(tenants[id], id)
		j.mu.Lock()
		d.queue = slices.Concat(queue, d.queue)
		j.mu.Unlock()
		j.leave(id)
	}
}

// Settle implements turns.Database.
func (j *Journal) Settle(ctx context.Context, id sessions.ID) {
	j.TakeOver(ctx)
	j.caughtUp(ctx, id)
}
