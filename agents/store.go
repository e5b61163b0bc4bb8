package agents

import (
	"context"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// versionOf is the row of the version that an agent is at.
func versionOf(a Agent) Version {
	return Version{
		AgentID: a.ID, Version: a.Version, TenantID: a.TenantID, WorkspaceID: a.WorkspaceID,
		Name: a.Name, Config: a.Config, CreatedAt: a.UpdatedAt,
	}
}

func insertAgent(ctx context.Context, tx bun.IDB, agent Agent) error {
	if _, err := tx.NewInsert().Model(&agent).Exec(ctx); err != nil {
		return fmt.Errorf("insert agent: %w", err)
	}
	return insertVersion(ctx, tx, agent)
}

func insertVersion(ctx context.Context, tx bun.IDB, agent Agent) error {
	version := versionOf(agent)
	if _, err := tx.NewInsert().Model(&version).Exec(ctx); err != nil {
		return fmt.Errorf("insert agent version: %w", err)
	}
	return nil
}

func saveVersion(ctx context.Context, tx bun.IDB, agent Agent) error {
	_, err := tx.NewUpdate().Model(&agent).Column("name", "version", "config", "updated_at").
		Where("workspace_id = ?", agent.WorkspaceID).Where("id = ?", agent.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update agent: %w", err)
	}
	return insertVersion(ctx, tx, agent)
}

func selectAgent(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (Agent, error) {
	return scanAgent(ctx, db.NewSelect(), ref, id)
}

// lockAgent is selectAgent with a lock against other updates.
func lockAgent(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id ID) (Agent, error) {
	return scanAgent(ctx, tx.NewSelect().For("UPDATE"), ref, id)
}

func scanAgent(ctx context.Context, q *bun.SelectQuery, ref workspaces.Ref, id ID) (Agent, error) {
	var agent Agent
	err := q.Model(&agent).Where("a.tenant_id = ?", ref.TenantID).Where("a.workspace_id = ?", ref.ID).Where("a.id = ?", id).Scan(ctx)
	return agent, postgres.OrNoSuch(err, "agent", string(id))
}

func selectTenantAgent(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID) (Agent, error) {
	var agent Agent
	err := db.NewSelect().Model(&agent).Where("a.tenant_id = ?", tenant).Where("a.id = ?", id).Scan(ctx)
	return agent, postgres.OrNoSuch(err, "agent", string(id))
}

func listAgents(ctx context.Context, db bun.IDB, ref workspaces.Ref, params postgres.PageParams) ([]Agent, string, error) {
	var agents []Agent
	query := db.NewSelect().Model(&agents).Where("a.tenant_id = ?", ref.TenantID).Where("a.workspace_id = ?", ref.ID)
	query = postgres.Containing(query, params.Query, "a.name")
	return postgres.List(ctx, params, query, &agents, func(a Agent) postgres.Key {
		return postgres.Key{CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, Name: a.Name, ID: string(a.ID)}
	})
}

func deleteAgent(ctx context.Context, tx bun.IDB, ref workspaces.Ref, id ID) (bool, error) {
	return postgres.Changed(tx.NewDelete().Model((*Agent)(nil)).Where("tenant_id = ?", ref.TenantID).
		Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx))
}

func selectVersion(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, number int) (Version, error) {
	var version Version
	err := db.NewSelect().Model(&version).Where("v.tenant_id = ?", ref.TenantID).Where("v.workspace_id = ?", ref.ID).
		Where("v.agent_id = ?", id).Where("v.version = ?", number).Scan(ctx)
	return version, postgres.OrNoSuch(err, "agent version", string(id)+"/"+strconv.Itoa(number))
}

// listVersions orders by the number of the version, padded so that it sorts as text in the key of a
// page.
func listVersions(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, params postgres.PageParams) ([]Version, string, error) {
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	var versions []Version
	query := db.NewSelect().Model(&versions).Where("v.tenant_id = ?", ref.TenantID).
		Where("v.workspace_id = ?", ref.ID).Where("v.agent_id = ?", id)
	columns := postgres.Columns{CreatedAt: "v.created_at", ID: "lpad(v.version::text, 10, '0')"}
	if err := page.ApplyTo(query, columns).Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list agent versions: %w", err)
	}
	versions, next := postgres.Cut(page, versions, func(v Version) postgres.Key {
		return postgres.Key{CreatedAt: v.CreatedAt, ID: fmt.Sprintf("%010d", v.Version)}
	})
	return versions, next, nil
}

// selectUnknown returns the ids that are not agents of the workspace, in the same order.
func selectUnknown(ctx context.Context, db bun.IDB, ref workspaces.Ref, ids []string) ([]string, error) {
	var unknown []string
	err := db.NewRaw(`
SELECT wanted.id
FROM unnest(?::text[]) WITH ORDINALITY AS wanted (id, place)
LEFT JOIN agents AS a ON a.tenant_id = ? AND a.workspace_id = ? AND a.id = wanted.id
WHERE a.id IS NULL
ORDER BY wanted.place`, pgdialect.Array(ids), ref.TenantID, ref.ID).Scan(ctx, &unknown)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("look for agents: %w", err))
	}
	return unknown, nil
}
