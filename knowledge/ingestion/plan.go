package ingestion

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// chooseModel notes the configured model as the one that all workspaces go to, once a process.
func (s *Service) chooseModel(ctx context.Context) error {
	s.planning.Lock()
	defer s.planning.Unlock()
	if s.chosen {
		return nil
	}
	dimension := s.embedders[0].Model().Dimension
	if dimension == 0 { // an outside model says it with its first vector
		vectors, err := s.embedders[0].Embed(ctx, []string{"dimension"}, embedding.Document)
		if err != nil {
			return fmt.Errorf("ask the embedding model for its dimension: %w", err)
		}
		dimension = len(vectors[0])
	}
	name := s.embedders[0].Model().Name
	stored, err := knowledge.EmbeddingDimension(ctx, s.db, name)
	if err != nil {
		return err
	}
	if stored != 0 && stored != dimension {
		return fault.New(fault.UpstreamFailed, "The embedding model %q makes vectors of %d numbers; those stored under its name have %d. "+
			"Serve the model of before, or give the new one a name of its own, so that the sources are embedded anew.",
			name, dimension, stored)
	}
	_, err = s.db.ExecContext(ctx, `
		INSERT INTO embedding_models (name, dimension, chosen_at)
		VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE
		SET dimension = EXCLUDED.dimension, chosen_at = EXCLUDED.chosen_at`, name, dimension, s.moment())
	if err != nil {
		return fmt.Errorf("note the embedding model: %w", err)
	}
	s.chosen = true
	return nil
}

// isNewest says whether the configured model was chosen last.
func (s *Service) isNewest(ctx context.Context) (bool, error) {
	var newest string
	err := s.db.NewRaw(`
		SELECT name
		FROM embedding_models
		ORDER BY chosen_at DESC, name
		LIMIT 1`).Scan(ctx, &newest)
	if err != nil {
		return false, fmt.Errorf("find the newest embedding model: %w", err)
	}
	return newest == s.embedders[0].Model().Name, nil
}

// plan finds what is not embedded by the configured model.
func (s *Service) plan(ctx context.Context, now time.Time) error {
	target := s.embedders[0].Model().Name
	var known []string
	for _, one := range s.embedders {
		known = append(known, one.Model().Name)
	}
	if err := s.nameAnswering(ctx); err != nil {
		return err
	}
	lost, err := s.leaveLost(ctx, target, known)
	if err != nil {
		return err
	}
	for _, one := range lost {
		s.log.WarnContext(ctx,
			"the embedding model before is not configured (EMBEDDING_PREVIOUS_*): passages are found again as they are re-embedded",
			telemetry.KeyWorkspaceID, string(one.ID), telemetry.KeyModel, one.Model)
	}
	return s.start(ctx, target, now)
}

// nameAnswering is for workspaces whose sources a version embedded that named no model: the one of
// most of their sources answers.
func (s *Service) nameAnswering(ctx context.Context) error {
	_, err := s.db.NewRaw(postgres.RawForAllTenants("the embedding model is the installation's", `
		INSERT INTO workspace_embeddings (workspace_id, tenant_id, model)
		SELECT s.workspace_id,
		       s.tenant_id,
		       mode() WITHIN GROUP (ORDER BY s.embedding_model)
		FROM sources AS s
		WHERE s.ready_at IS NOT NULL
		  AND NOT EXISTS (SELECT 1 FROM workspace_embeddings AS w WHERE w.workspace_id = s.workspace_id)
		GROUP BY s.workspace_id, s.tenant_id
		ON CONFLICT (workspace_id) DO NOTHING`)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("name the models that answer: %w", err)
	}
	return nil
}

// lostModel is a workspace whose answering model nobody here can ask.
type lostModel struct {
	ID    workspaces.ID `bun:"id"`
	Model string        `bun:"model"`
}

// leaveLost has the target answer at once where the answering model cannot be asked any more.
func (s *Service) leaveLost(ctx context.Context, target string, known []string) ([]lostModel, error) {
	var lost []lostModel
	err := s.db.NewRaw(postgres.RawForAllTenants("the embedding model is the installation's", `
		WITH before AS (
			SELECT workspace_id,
			       model
			FROM workspace_embeddings
			WHERE model <> ALL (?::text[])
			FOR UPDATE
		)
		UPDATE workspace_embeddings AS w
		SET model = ?
		FROM before
		WHERE w.workspace_id = before.workspace_id
		RETURNING w.workspace_id AS id, before.model`), pgdialect.Array(known), target).Scan(ctx, &lost)
	if err != nil {
		return nil, fmt.Errorf("leave models that are not configured: %w", err)
	}
	return lost, nil
}

// start queues what the target has not embedded, and forgets what was made for another target.
func (s *Service) start(ctx context.Context, target string, now time.Time) error {
	const foreign = "s.ready_at IS NOT NULL AND s.embedding_model <> ?"
	steps := []struct {
		what, statement string
		args            []any
	}{
		{"vectors of another target", `DELETE FROM next_vectors WHERE model <> ?`, []any{target}},
		{"sources of another target", `DELETE FROM source_reembeddings WHERE model <> ?`, []any{target}},
		{"sources", `
			INSERT INTO source_reembeddings (source_id, tenant_id, workspace_id, model, state, due_at)
			SELECT s.id,
			       s.tenant_id,
			       s.workspace_id,
			       ?,
			       'waiting',
			       ?
			FROM sources AS s
			WHERE ` + foreign + `
			ON CONFLICT (source_id) DO NOTHING`, []any{target, now, target}},
		// One that was set back to the model that answers has nothing to do; all others begin.
		{"workspaces", `
			UPDATE workspace_embeddings AS w
			SET target_model = next.target,
			    started_at = CASE WHEN next.target = '' THEN NULL ELSE ?::timestamptz END,
			    error = ''
			FROM (
				SELECT v.workspace_id,
				       CASE WHEN v.model <> ? OR EXISTS (
				           SELECT 1
				           FROM source_reembeddings AS r
				           WHERE r.workspace_id = v.workspace_id
				             AND r.state <> 'refused'
				       ) THEN ? ELSE '' END AS target
				FROM workspace_embeddings AS v
			) AS next
			WHERE next.workspace_id = w.workspace_id
			  AND next.target <> w.target_model`, []any{now, target, target}},
	}
	for _, step := range steps {
		_, err := s.db.NewRaw(postgres.RawForAllTenants("the embedding model is the installation's", step.statement),
			step.args...).Exec(ctx)
		if err != nil {
			return fmt.Errorf("plan the re-embedding (%s): %w", step.what, err)
		}
	}
	return nil
}
