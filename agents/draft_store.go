package agents

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// draftOf reads the draft of an agent. Errors: NotFound agent-draft-not-found.
func draftOf(ctx context.Context, db bun.IDB, agent Agent) (Draft, error) {
	var draft Draft
	err := db.NewSelect().Model(&draft).Where("d.tenant_id = ?", agent.TenantID).Where("d.workspace_id = ?", agent.WorkspaceID).
		Where("d.agent_id = ?", agent.ID).Scan(ctx)
	if postgres.NoRows(err) {
		return Draft{}, noDraft(agent.ID)
	}
	if err != nil {
		return Draft{}, fmt.Errorf("read the draft of an agent: %w", err)
	}
	draft.Published = agent
	return draft, nil
}

// nextRevision counts a save. The caller has locked the agent.
func nextRevision(ctx context.Context, tx bun.IDB, agent Agent) (revision int, err error) {
	err = tx.NewUpdate().Model((*Agent)(nil)).Set("draft_revision = draft_revision + 1").Where("tenant_id = ?", agent.TenantID).
		Where("id = ?", agent.ID).Returning("draft_revision").Scan(ctx, &revision)
	if err != nil {
		return 0, fmt.Errorf("count the saves of an agent's drafts: %w", err)
	}
	return revision, nil
}

// saveDraft stores a draft; begun says that there is one already.
func saveDraft(ctx context.Context, tx bun.IDB, draft Draft, begun bool) error {
	if !begun {
		if _, err := tx.NewInsert().Model(&draft).Exec(ctx); err != nil {
			return fmt.Errorf("insert the draft of an agent: %w", err)
		}
		return nil
	}
	_, err := tx.NewUpdate().Model(&draft).Column("name", "config", "revision", "updated_by", "updated_at").
		Where("tenant_id = ?", draft.TenantID).Where("workspace_id = ?", draft.WorkspaceID).Where("agent_id = ?", draft.AgentID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update the draft of an agent: %w", err)
	}
	return nil
}

func deleteDraft(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (bool, error) {
	return postgres.Changed(db.NewDelete().Model((*Draft)(nil)).Where("tenant_id = ?", ref.TenantID).
		Where("workspace_id = ?", ref.ID).Where("agent_id = ?", id).Exec(ctx))
}
