package ingestion

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// flip gives sources that are embedded their new vectors: where the configured model answers
// already, those that are done, else all at once when no source waits any more. A query sees the
// vectors of one model or those of the other: it is one transaction. Ingestion that commits meanwhile
// waits, and sees the new model.
func (s *Service) flip(ctx context.Context, ref workspaces.Ref) error {
	target := s.embedders[0].Model().Name
	flipped := false
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		flipped = false
		var state struct {
			Model  string `bun:"model"`
			Target string `bun:"target_model"`
		}
		err := tx.NewRaw(`
			SELECT model,
			       target_model
			FROM workspace_embeddings
			WHERE tenant_id = ?
			  AND workspace_id = ?
			FOR UPDATE`, ref.TenantID, ref.ID).Scan(ctx, &state)
		if postgres.NoRows(err) || err == nil && state.Model != target && state.Target != target {
			return nil
		}
		if err != nil {
			return fmt.Errorf("hold the answering model: %w", err)
		}
		// A statement of its own: it sees what was committed while the first waited for the lock.
		waits, err := requeueMissed(ctx, tx, ref, target)
		if err != nil || waits && state.Model != target {
			return err
		}
		if err := replaceVectors(ctx, tx, ref, target); err != nil || waits || state.Target != target {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE workspace_embeddings
			SET model = ?, target_model = '', started_at = NULL,
			    error = CASE WHEN EXISTS (
			        SELECT 1
			        FROM source_reembeddings AS r
			        WHERE r.tenant_id = ?
			          AND r.workspace_id = ?
			          AND r.state = 'refused'
			    ) THEN error ELSE '' END
			WHERE tenant_id = ?
			  AND workspace_id = ?`, target, ref.TenantID, ref.ID, ref.TenantID, ref.ID)
		flipped = err == nil
		return err
	})
	if err != nil {
		return fmt.Errorf("change the answering model: %w", err)
	}
	if flipped {
		s.log.InfoContext(ctx, "the workspace answers with the new embedding model", telemetry.KeyWorkspaceID,
			string(ref.ID), telemetry.KeyModel, target)
	}
	return nil
}

// requeueMissed has sources wait again that count as done and have a chunk without a next vector. It
// returns whether any source waits.
func requeueMissed(ctx context.Context, tx bun.IDB, ref workspaces.Ref, target string) (bool, error) {
	_, err := tx.ExecContext(ctx, `
		UPDATE source_reembeddings AS r
		SET state = 'waiting'
		WHERE r.tenant_id = ?
		  AND r.workspace_id = ?
		  AND r.state = 'done'
		  AND EXISTS (
		      SELECT 1
		      FROM chunks AS c
		      WHERE c.workspace_id = r.workspace_id
		        AND c.source_id = r.source_id
		        AND c.model <> ?
		        AND NOT EXISTS (SELECT 1 FROM next_vectors AS v WHERE v.workspace_id = c.workspace_id AND v.chunk_id = c.id AND v.model = ?)
		  )`, ref.TenantID, ref.ID, target, target)
	if err != nil {
		return false, fmt.Errorf("look for missing vectors: %w", err)
	}
	var waits bool
	err = tx.NewRaw(`
		SELECT EXISTS (
			SELECT 1
			FROM source_reembeddings
			WHERE tenant_id = ?
			  AND workspace_id = ?
			  AND state = 'waiting'
		)`, ref.TenantID, ref.ID).Scan(ctx, &waits)
	if err != nil {
		return false, fmt.Errorf("look for waiting sources: %w", err)
	}
	return waits, nil
}

// replaceVectors gives the chunks of the workspace's sources that do not wait their next vectors.
// Sources are locked before chunks, as by whoever deletes one.
func replaceVectors(ctx context.Context, tx bun.IDB, ref workspaces.Ref, target string) error {
	steps := []struct{ what, statement string }{
		{"sources", `
			UPDATE sources AS s
			SET embedding_model = ?
			WHERE s.tenant_id = ?
			  AND s.workspace_id = ?
			  AND s.id IN (
			      SELECT r.source_id
			      FROM source_reembeddings AS r
			      WHERE r.workspace_id = s.workspace_id
			        AND r.state = 'done'
			  )`},
		{"chunks", `
			UPDATE chunks AS c
			SET model = v.model, embedding = v.embedding
			FROM next_vectors AS v
			WHERE v.model = ?
			  AND v.tenant_id = ?
			  AND v.workspace_id = ?
			  AND v.source_id IN (
			      SELECT r.source_id
			      FROM source_reembeddings AS r
			      WHERE r.workspace_id = v.workspace_id
			        AND r.state <> 'waiting'
			  )
			  AND c.workspace_id = v.workspace_id
			  AND c.id = v.chunk_id`},
		{"next vectors", `
			DELETE FROM next_vectors AS v
			WHERE v.model = ?
			  AND v.tenant_id = ?
			  AND v.workspace_id = ?
			  AND v.source_id IN (
			      SELECT r.source_id
			      FROM source_reembeddings AS r
			      WHERE r.workspace_id = v.workspace_id
			        AND r.state <> 'waiting'
			  )`},
		{"what is done", `
			DELETE FROM source_reembeddings AS r
			WHERE r.model = ?
			  AND r.tenant_id = ?
			  AND r.workspace_id = ?
			  AND r.state = 'done'`},
	}
	for _, step := range steps {
		if _, err := tx.ExecContext(ctx, step.statement, target, ref.TenantID, ref.ID); err != nil {
			return fmt.Errorf("replace %s: %w", step.what, err)
		}
	}
	return nil
}

// planEvery is how often all workspaces are looked at for what another model embedded.
const planEvery = 5 * time.Minute

// SweepModels has the workspaces go over to the configured model: it starts re-embeddings and ends
// those that no task has ended. Call it every few seconds. The process that was started last
// decides on the model; in others it does nothing. Errors: Upstream upstream-failed when the
// embedder does not say its dimension, Precondition when that has changed.
func (s *Service) SweepModels(ctx context.Context, now time.Time) error {
	if err := s.chooseModel(ctx); err != nil {
		return err
	}
	mine, err := s.isNewest(ctx)
	if err != nil || !mine {
		return err
	}
	s.planning.Lock()
	defer s.planning.Unlock()
	if now.Sub(s.planned) >= planEvery {
		if err := s.plan(ctx, now.UTC().Truncate(time.Microsecond)); err != nil {
			return err
		}
		s.planned = now
	}
	var moving []workspaces.Ref
	err = s.db.NewRaw(postgres.RawForAllTenants("the embedding model is the installation's", `
		SELECT w.tenant_id,
		       w.workspace_id AS id
		FROM workspace_embeddings AS w
		WHERE w.target_model <> ''
		  AND NOT EXISTS (SELECT 1 FROM source_reembeddings AS r WHERE r.workspace_id = w.workspace_id AND r.state = 'waiting')
		LIMIT 100`)).Scan(ctx, &moving)
	if err != nil {
		return fmt.Errorf("list workspaces that change their model: %w", err)
	}
	for _, ref := range moving {
		if err := s.flip(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}
