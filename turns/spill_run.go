package turns

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// run writes what is kept whenever Postgres answers, until ctx ends. What is left then stays on disk.
func (p *journal) Run(ctx context.Context) {
	if p == nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if p.IsAway() && p.answering() {
			p.back(ctx)
		}
		if !p.IsAway() {
			if p.adoptDue() {
				p.adopt(ctx)
			}
			p.replay(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-p.wake:
		}
	}
}

// back notes that Postgres is back. A neighbour may have ended meanwhile: what it has kept is taken over before anything
// is done on top of it.
func (p *journal) back(ctx context.Context) {
	p.adopt(ctx)
	p.mu.Lock()
	since, sessions := p.away, len(p.drifts)
	p.away = time.Time{}
	p.mu.Unlock()
	p.s.log.WarnContext(ctx, "Postgres is back: turns that were kept on disk are written", slog.Int("sessions", sessions), slog.Duration("away", p.s.sessions.Now().Sub(since)))
}

func (p *journal) adoptDue() bool {
	p.adopting.Lock()
	defer p.adopting.Unlock()
	return p.s.now().Sub(p.adopted) >= adoptEvery
}

// adopt takes over the records of processes that have ended; they come before this one's own. Who calls meanwhile
// shares the next look.
func (p *journal) adopt(ctx context.Context) {
	if p == nil {
		return
	}
	before := p.adoptions.Load()
	p.adopting.Lock()
	defer p.adopting.Unlock()
	if p.adoptions.Load() > before {
		return
	}
	p.adoptions.Add(1)
	p.takeOver(ctx)
	if p.adopted.IsZero() {
		close(p.looked)
	}
	p.adopted = p.s.now()
}

// takeOver is adopt. p.adopting is held.
func (p *journal) takeOver(ctx context.Context) {
	records, err := p.wal.Adopt(ctx)
	if err != nil {
		p.s.log.ErrorContext(ctx, "turns that another process has kept are not read", "error", err)
	}
	if len(records) == 0 {
		return
	}
	p.s.log.WarnContext(ctx, "turns that another process has kept on disk are written", slog.Int("records", len(records)))
	queues := map[sessions.ID][]unwritten{}
	tenants := map[sessions.ID]workspaces.TenantID{}
	for _, kept := range records {
		r, err := p.read(unwritten{kept: kept})
		if err != nil {
			p.setAside(ctx, unwritten{kept: kept}, record{Session: sessions.ID(kept.Stream)}, err)
			continue
		}
		queues[r.Session], tenants[r.Session] = append(queues[r.Session], unwritten{kept: kept}), r.Tenant
	}
	for id, queue := range queues {
		d := p.enter(tenants[id], id)
		p.mu.Lock()
		d.queue = slices.Concat(queue, d.queue)
		p.mu.Unlock()
		p.leave(id)
	}
}

// inherit takes over what the session's node has left when it ended, and waits a moment for it to be written.
func (p *journal) Inherit(ctx context.Context, id sessions.ID) {
	if p == nil {
		return
	}
	p.adopt(ctx)
	p.docked(ctx, id)
}
