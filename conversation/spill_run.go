package conversation

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"parlance.dev/parlance/platform/spool"
	"parlance.dev/parlance/workspaces"
)

// run writes what is kept whenever Postgres answers, until ctx ends. What is left then stays on disk.
func (p *spill) run(ctx context.Context) {
	if p == nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var adopted time.Time
	for {
		if p.isAway() && p.answering() {
			p.back(ctx)
		}
		if !p.isAway() {
			if now := p.s.now(); now.Sub(adopted) >= adoptEvery {
				p.adopt(ctx)
				if adopted.IsZero() {
					close(p.looked)
				}
				adopted = now
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

func (p *spill) back(ctx context.Context) {
	p.mu.Lock()
	since, sessions := p.away, len(p.drifts)
	p.away = time.Time{}
	p.mu.Unlock()
	p.s.log.WarnContext(ctx, "Postgres is back: turns that were kept on disk are written", slog.Int("sessions", sessions), slog.Duration("away", p.s.moment().Sub(since)))
}

// adopt takes over the records of processes that have ended; they come before this one's own.
func (p *spill) adopt(ctx context.Context) {
	records, err := p.spool.Adopt(ctx)
	if err != nil {
		p.s.log.ErrorContext(ctx, "turns that another process has kept are not read", "error", err)
	}
	if len(records) == 0 {
		return
	}
	p.s.log.WarnContext(ctx, "turns that another process has kept on disk are written", slog.Int("records", len(records)))
	queues := map[ID][]spool.Record{}
	tenants := map[ID]workspaces.TenantID{}
	for _, kept := range records {
		r, err := p.read(kept)
		if err != nil {
			p.setAside(ctx, kept, record{Session: ID(kept.Stream)}, err)
			continue
		}
		queues[r.Session], tenants[r.Session] = append(queues[r.Session], kept), r.Tenant
	}
	for id, queue := range queues {
		d := p.enter(tenants[id], id)
		p.mu.Lock()
		d.queue = slices.Concat(queue, d.queue)
		p.mu.Unlock()
		p.leave(id)
	}
}
