package evaluation

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// ListParams is a page of the workspace's evaluations.
type ListParams struct {
	postgres.PageParams
	// AgentID narrows the list; empty: all.
	AgentID agents.ID
}

// List lists the workspace's evaluations, newest first, without their results.
// Errors: NotFound (the agent), Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Evaluation, string, error) {
	if p.AgentID != "" {
		if err := s.agent(ctx, ref, p.AgentID); err != nil {
			return nil, "", err
		}
	}
	p.Order = postgres.NewestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), string(p.AgentID)}
	var list []Evaluation
	query := s.db.NewSelect().Model(&list).ExcludeColumn("results").Where("e.tenant_id = ?",
		ref.TenantID).Where("e.workspace_id = ?", ref.ID)
	if p.AgentID != "" {
		query = query.Where("e.agent_id = ?", p.AgentID)
	}
	return postgres.List(ctx, p.PageParams, query, &list, func(e Evaluation) postgres.Key {
		return postgres.Key{CreatedAt: e.CreatedAt, ID: string(e.ID)}
	})
}

// Get returns an evaluation with its results, and what changed since the one it is
// compared to; nil when that is empty. Errors: NotFound (either).
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id, compareTo ID) (Evaluation, *Comparison, error) {
	evaluation, err := selectEvaluation(ctx, s.db, ref, id)
	if err != nil || compareTo == "" {
		return evaluation, nil, err
	}
	before, err := selectEvaluation(ctx, s.db, ref, compareTo)
	if err != nil {
		return Evaluation{}, nil, err
	}
	comparison := compare(before, evaluation)
	return evaluation, &comparison, nil
}

// Delete forgets an evaluation; repeating it is not an error.
// Errors: NotFound (an id that never was an evaluation of the tenant).
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id ID) error {
	if !idgen.Valid(idgen.Evaluation, string(id)) {
		return fault.NoSuch("evaluation", string(id))
	}
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := postgres.Changed(tx.NewDelete().Model((*Evaluation)(nil)).Where("tenant_id = ?", ref.TenantID).
			Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx))
		if err != nil {
			return fmt.Errorf("delete evaluation: %w", err)
		}
		if !deleted {
			return s.workspaces.Gone(ctx, tx, ref.TenantID, "evaluation", string(id))
		}
		return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
	})
}

func selectEvaluation(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (Evaluation, error) {
	if !idgen.Valid(idgen.Evaluation, string(id)) {
		return Evaluation{}, fault.NoSuch("evaluation", string(id))
	}
	var evaluation Evaluation
	err := db.NewSelect().Model(&evaluation).Where("e.tenant_id = ?", ref.TenantID).
		Where("e.workspace_id = ?", ref.ID).Where("e.id = ?", id).Scan(ctx)
	return evaluation, postgres.OrNoSuch(err, "evaluation", string(id))
}

// insertEvaluation stores an evaluation and lets go of the workspace's oldest ones.
func insertEvaluation(ctx context.Context, tx bun.IDB, evaluation Evaluation) error {
	if _, err := tx.NewInsert().Model(&evaluation).Exec(ctx); err != nil {
		return fmt.Errorf("insert evaluation: %w", err)
	}
	_, err := tx.ExecContext(ctx, `
		DELETE FROM knowledge_evaluations
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id IN (
			SELECT id
			FROM knowledge_evaluations
			WHERE tenant_id = ?
			  AND workspace_id = ?
			ORDER BY created_at DESC, id DESC
			OFFSET ?
		  )`, evaluation.TenantID, evaluation.WorkspaceID, evaluation.TenantID, evaluation.WorkspaceID, maxEvaluations)
	if err != nil {
		return fmt.Errorf("let go of old evaluations: %w", err)
	}
	return nil
}

// namedSources are the workspace's sources with one of the ids or names, oldest first.
func namedSources(ctx context.Context, db bun.IDB, ref workspaces.Ref, ids []knowledge.SourceID,
	names []string,
) ([]knowledge.Source, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id knowledge.SourceID) bool { return !idgen.Valid(idgen.Source, string(id)) })
	var sources []knowledge.Source
	err := db.NewSelect().Model(&sources).Column("id", "name").Where("s.tenant_id = ?", ref.TenantID).Where("s.workspace_id = ?", ref.ID).
		Where("(s.id IN (?) OR s.name IN (?))", bun.List(append(ids, "")), bun.List(append(slices.Clone(names), ""))).
		OrderExpr("s.created_at, s.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the expected sources: %w", err)
	}
	return sources, nil
}
