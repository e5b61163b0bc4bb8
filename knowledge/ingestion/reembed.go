package ingestion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

const (
	// reembedSlice is how long one task is at a source before others have their turn.
	reembedSlice = 15 * time.Second
	// reembedLease is how long a task may be silent before another takes its source; reembedBeat
	// how often it says that it is not.
	reembedLease = time.Minute
	reembedBeat  = 10 * time.Second
	// reembedPiece is how many chunks are read at once.
	reembedPiece = 512
	// maxReembedPause bounds the pause after failures; there is no last attempt.
	maxReembedPause = 5 * time.Minute
)

// reembedding is a source that is to be embedded by another model.
type reembedding struct {
	SourceID    knowledge.SourceID  `bun:"source_id"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Attempt     int                 `bun:"attempt"`
}

func (r reembedding) ref() workspaces.Ref {
	return workspaces.Ref{TenantID: r.TenantID, ID: r.WorkspaceID}
}

// errChanged says that the source's chunks were replaced or embedded under the task.
var errChanged = errors.New("the source has changed meanwhile")

// queueReembedding has a source embedded by target as well.
func queueReembedding(ctx context.Context, tx bun.IDB, source knowledge.Source, target string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO source_reembeddings AS r (source_id, tenant_id, workspace_id, model, state, due_at)
		VALUES (?, ?, ?, ?, 'waiting', ?)
		ON CONFLICT (source_id) DO UPDATE
		SET model = EXCLUDED.model, state = 'waiting', due_at = EXCLUDED.due_at, queued_until = NULL, busy_until = NULL, attempt = 0
		WHERE r.tenant_id = EXCLUDED.tenant_id`, source.ID, source.TenantID, source.WorkspaceID, target, now)
	if err != nil {
		return fmt.Errorf("queue for the next model: %w", err)
	}
	return nil
}

// forgetReembedding is for a source whose new chunks are of the right model.
func forgetReembedding(ctx context.Context, tx bun.IDB, source knowledge.Source) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM source_reembeddings WHERE tenant_id = ? AND source_id = ?", source.TenantID, source.ID)
	if err != nil {
		return fmt.Errorf("forget the next model: %w", err)
	}
	return nil
}

// dueReembeddingsSQL picks sources, tenants in turn.
const dueReembeddingsSQL = `,
ripe AS (
    SELECT own.source_id,
           round_robin.place,
           own.rank AS turn
    FROM round_robin
    CROSS JOIN LATERAL (
        SELECT w.source_id,
               row_number() OVER (ORDER BY w.due_at, w.source_id) AS rank
        FROM (
            SELECT q.source_id, q.due_at
            FROM source_reembeddings AS q
            WHERE q.tenant_id = round_robin.tenant_id
              AND q.state = 'waiting'
              AND q.model = ?
              AND q.due_at <= ?
              AND (q.queued_until IS NULL OR q.queued_until < ?)
            ORDER BY q.due_at
            LIMIT ?
        ) AS w
    ) AS own
    WHERE round_robin.tenant_id <> ALL (coalesce(?::text[], '{}'))
    ORDER BY turn, place
    LIMIT ?
), picked AS (
    SELECT r.source_id,
           ripe.turn,
           ripe.place
    FROM ripe
    JOIN source_reembeddings AS r ON r.source_id = ripe.source_id
    -- Another worker may have been faster.
    WHERE r.state = 'waiting'
      AND (r.queued_until IS NULL OR r.queued_until < ?)
    FOR UPDATE OF r SKIP LOCKED
), handed AS (
    UPDATE source_reembeddings AS r
    SET queued_until = ?
    FROM picked
    WHERE r.source_id = picked.source_id
    RETURNING r.source_id, r.tenant_id, r.workspace_id, picked.turn, picked.place
)
SELECT source_id AS id, tenant_id, workspace_id
FROM handed
ORDER BY turn, place, id`

// DueReembeddings is DueSources for sources that Reembed would take.
func (s *Service) DueReembeddings(ctx context.Context, now time.Time, ask fair.Ask) ([]DueSource, error) {
	var due []DueSource
	query := "WITH RECURSIVE " + fair.RoundRobinSQL("source_reembeddings", "w.state = 'waiting'") + dueReembeddingsSQL
	err := s.db.NewRaw(postgres.RawForAllTenants("tenants take turns with what is re-embedded", query),
		ask.After, ask.After, ask.After, s.embedders[0].Model().Name, now, now, ask.Room, pgdialect.Array(ask.Except), ask.Room,
		now, now.Add(handedFor)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("list sources to re-embed: %w", err)
	}
	return due, nil
}

// PutOffReembedding makes a source wait for a second, because its tenant has its share of the
// workers.
func (s *Service) PutOffReembedding(ctx context.Context, source DueSource) error {
	_, err := s.db.ExecContext(ctx, `
		UPDATE source_reembeddings
		SET due_at = greatest(due_at, ?), queued_until = NULL
		WHERE tenant_id = ?
		  AND source_id = ?`, s.moment().Add(busyPause), source.TenantID, source.ID)
	if err != nil {
		return fmt.Errorf("put off source %s: %w", source.ID, err)
	}
	return nil
}

// Reembed embeds the text of the source's chunks by the configured model, for some seconds at most,
// beside the vectors that answer. What it did is kept, and goes on where it ended. With the last
// source of a workspace the model answers there. It returns nil when there is nothing to do, and
// when the embedder fails: the source is due again later. Errors: those of writing the outcome.
func (s *Service) Reembed(ctx context.Context, id knowledge.SourceID) error {
	work, claimed, err := s.claimReembedding(ctx, id)
	if err != nil || !claimed {
		return err
	}
	telemetry.Note(ctx, telemetry.KeyTenantID, string(work.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(work.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySourceID, string(work.SourceID))
	beating, stop := context.WithCancel(ctx)
	var heart sync.WaitGroup
	heart.Go(func() { s.beatReembedding(beating, work) })
	done, err := s.reembed(ctx, work)
	stop()
	heart.Wait()
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	switch refused, isRefused := errors.AsType[*embedding.Refused](err); {
	case isRefused:
		if err := s.settleReembedding(settling, work, "refused", 0, refused); err != nil {
			return err
		}
		return s.flip(ctx, work.ref()) // the others need not wait for it
	case err != nil && !errors.Is(err, errChanged) && ctx.Err() == nil:
		s.log.WarnContext(ctx, "source will be re-embedded later", telemetry.KeyAttempt, work.Attempt, telemetry.KeyError, err)
		pause := min(max(firstRetry<<min(2*work.Attempt, 8), fault.From(err).RetryAfter), maxReembedPause)
		return s.settleReembedding(settling, work, "waiting", pause, err)
	case err != nil || !done:
		return s.settleReembedding(settling, work, "waiting", 0, nil)
	}
	if err := s.settleReembedding(settling, work, "done", 0, nil); err != nil {
		return err
	}
	return s.flip(ctx, work.ref())
}

func (s *Service) claimReembedding(ctx context.Context, id knowledge.SourceID) (reembedding, bool, error) {
	now := s.moment()
	var work reembedding
	err := s.db.NewRaw(postgres.RawForAllTenants("a task names its source only", `
		UPDATE source_reembeddings
		SET queued_until = ?, busy_until = ?
		WHERE source_id = ?
		  AND state = 'waiting'
		  AND model = ?
		  AND due_at <= ?
		  AND (busy_until IS NULL OR busy_until < ?)
		RETURNING source_id, tenant_id, workspace_id, attempt`),
		now.Add(reembedLease), now.Add(reembedLease), id, s.embedders[0].Model().Name, now, now).Scan(ctx, &work)
	if postgres.NoRows(err) {
		return reembedding{}, false, nil
	}
	if err != nil {
		return reembedding{}, false, fmt.Errorf("claim source %s for re-embedding: %w", id, err)
	}
	return work, true, nil
}

// beatReembedding renews the lease until ctx ends; a server may make a batch wait for minutes.
func (s *Service) beatReembedding(ctx context.Context, work reembedding) {
	ticker.Every(ctx, reembedBeat, func() {
		if err := s.stillAtIt(ctx, work); err != nil && !errors.Is(err, errChanged) && ctx.Err() == nil {
			s.log.WarnContext(ctx, "the lease of a re-embedding was not renewed", telemetry.KeyError, err)
		}
	})
}

// reembed makes the vectors that are missing, for a slice of time; done says that none is left.
func (s *Service) reembed(ctx context.Context, work reembedding) (done bool, err error) {
	model := s.embedders[0].Model().Name
	for end := s.now().Add(reembedSlice); s.now().Before(end); {
		chunks, err := s.chunksWithout(ctx, work, model)
		if err != nil || len(chunks) == 0 {
			return err == nil, err
		}
		texts := make([]string, len(chunks))
		for i, chunk := range chunks {
			texts[i] = chunk.EmbeddedText()
		}
		err = s.embedBatches(ctx, work.TenantID, s.embedders[0], texts, func(ctx context.Context, from int, vectors [][]float32) error {
			return s.keepNext(ctx, model, chunks[from:from+len(vectors)], vectors)
		})
		if err != nil {
			return false, err
		}
		if err := s.stillAtIt(ctx, work); err != nil {
			return false, err
		}
	}
	return false, nil
}

// chunksWithout are the next of the source's chunks that have no vector of the model.
func (s *Service) chunksWithout(ctx context.Context, work reembedding, model string) ([]knowledge.Chunk, error) {
	var chunks []knowledge.Chunk
	err := s.db.NewSelect().Model(&chunks).Column("id", "tenant_id", "workspace_id", "source_id", "content", "heading").
		Where("c.tenant_id = ?", work.TenantID).Where("c.workspace_id = ?", work.WorkspaceID).Where("c.source_id = ?", work.SourceID).
		Where("c.model <> ?", model).
		Where("NOT EXISTS (SELECT 1 FROM next_vectors AS v "+
			"WHERE v.workspace_id = c.workspace_id AND v.chunk_id = c.id AND v.model = ?)", model).
		OrderExpr("c.index").Limit(reembedPiece).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read chunks without a vector: %w", err)
	}
	return chunks, nil
}

// keepNext stores vectors beside those that answer. Errors: errChanged.
func (s *Service) keepNext(ctx context.Context, model string, chunks []knowledge.Chunk, vectors [][]float32) error {
	err := s.db.InCopyTx(ctx, func(ctx context.Context, _ bun.Tx, copyIn postgres.CopyFunc) error {
		return copyIn(ctx, postgres.CopyParams{
			Table: "next_vectors", Columns: []string{"chunk_id", "tenant_id", "workspace_id", "source_id", "model", "embedding"},
			Rows: len(chunks),
			RowFunc: func(i int) []any {
				c := chunks[i]
				return []any{string(c.ID), string(c.TenantID), string(c.WorkspaceID), string(c.SourceID), model, vectors[i]}
			},
		})
	})
	if postgres.IsForeignKey(err, "next_vectors_chunk_id_fkey") || postgres.IsUnique(err, "next_vectors_pkey") {
		return errChanged
	}
	if err != nil {
		return fmt.Errorf("keep the next vectors: %w", err)
	}
	return nil
}

// stillAtIt renews the lease. Errors: errChanged when the source is no longer to be re-embedded.
func (s *Service) stillAtIt(ctx context.Context, work reembedding) error {
	until := s.moment().Add(reembedLease)
	mine, err := postgres.Changed(s.db.ExecContext(ctx, `
		UPDATE source_reembeddings
		SET queued_until = ?, busy_until = ?
		WHERE tenant_id = ?
		  AND source_id = ?
		  AND state = 'waiting'`, until, until, work.TenantID, work.SourceID))
	if err != nil {
		return fmt.Errorf("renew the lease: %w", err)
	}
	if !mine {
		return errChanged
	}
	return nil
}

// settleReembedding writes how a task ended; cause is what callers see of a failure.
func (s *Service) settleReembedding(ctx context.Context, work reembedding, state string, pause time.Duration, cause error) error {
	attempt := 0
	if cause != nil {
		attempt = work.Attempt + 1
	}
	_, err := s.db.ExecContext(ctx, `
		UPDATE source_reembeddings
		SET state = ?, due_at = ?, queued_until = NULL, busy_until = NULL, attempt = ?
		WHERE tenant_id = ?
		  AND source_id = ?
		  AND model = ?`, state, s.moment().Add(pause), attempt, work.TenantID, work.SourceID, s.embedders[0].Model().Name)
	if err != nil {
		return fmt.Errorf("settle the re-embedding: %w", err)
	}
	if cause == nil {
		return nil
	}
	message := fault.From(cause).Message
	if state == "refused" {
		message = fmt.Sprintf("The new model does not take a passage of source %s, "+
			"which is not found until it is reprocessed. %s", work.SourceID, message)
	}
	_, err = s.db.ExecContext(ctx, `
		UPDATE workspace_embeddings
		SET error = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?`, message, work.TenantID, work.WorkspaceID)
	if err != nil {
		return fmt.Errorf("note the failure of the re-embedding: %w", err)
	}
	return nil
}
