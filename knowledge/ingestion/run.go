package ingestion

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
)

// Progress, in percent, at which the stages begin; reading goes with the pages.
const (
	progressChunking  = 70
	progressEmbedding = 72
	progressStoring   = 98
	progressReady     = 100
)

// reportEvery is how often a run writes its progress at most, but for the stages.
const reportEvery = 500 * time.Millisecond

// run is one attempt at a source, from claim to outcome.
type run struct {
	*Service

	mu sync.Mutex
	// source is as the run knows it: pages and warnings are filled in on the way.
	source knowledge.Source
	// reportedAt is when progress was written last.
	reportedAt time.Time
	// kept says that something was kept for a run that follows: this one was not in vain.
	kept bool
}

// markKept says that something was kept.
func (r *run) markKept() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = true
}

// enter writes that a stage begins. Errors: errLost.
func (r *run) enter(ctx context.Context, stage knowledge.Stage, progress int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source.Stage, r.source.Progress = stage, progress
	return r.write(ctx)
}

// advance writes how far a stage is, unless that was written a moment ago. Errors: errLost.
func (r *run) advance(ctx context.Context, progress int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if progress <= r.source.Progress && r.source.Progress > 0 || r.now().Sub(r.reportedAt) < reportEvery {
		return nil
	}
	r.source.Progress = progress
	return r.write(ctx)
}

// pages is told after each page; see document.Options.
func (r *run) pages(ctx context.Context, done, total, recognized int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	begins := recognized > 0 && r.source.Stage != knowledge.StageOCR
	r.source.PagesDone, r.source.PageCount, r.source.OCRPageCount = done, total, recognized
	if !begins && r.now().Sub(r.reportedAt) < reportEvery {
		return nil
	}
	if begins {
		r.source.Stage = knowledge.StageOCR
	}
	r.source.Progress = progressChunking * done / max(total, 1)
	return r.write(ctx)
}

// write is called with mu held. Errors: errLost.
func (r *run) write(ctx context.Context) error {
	now := r.moment()
	mine, err := postgres.Changed(r.db.ExecContext(ctx, `
		UPDATE sources
		SET stage = ?, progress = ?, pages_done = ?, page_count = ?, ocr_page_count = ?, heartbeat_at = ?, updated_at = ?
		WHERE tenant_id = ?
		  AND id = ?
		  AND owner = ?`, r.source.Stage, r.source.Progress, r.source.PagesDone, r.source.PageCount, r.source.OCRPageCount,
		now, now, r.source.TenantID, r.source.ID, r.source.Owner))
	if err != nil {
		return fmt.Errorf("report progress: %w", err)
	}
	if !mine {
		return errLost
	}
	r.reportedAt = now
	return nil
}
