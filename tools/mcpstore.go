package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// mcpKept is how long the lists of sessions are kept; no conversation lasts as long.
const mcpKept = 30 * 24 * time.Hour

// mcpDiscovery is what is known about an MCP server's list of tools.
type mcpDiscovery struct {
	bun.BaseModel `bun:"table:mcp_discoveries,alias:md"`

	ToolID      ID                  `bun:"tool_id,pk,type:uuid"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Endpoint    string              `bun:"endpoint"`
	Digest      string              `bun:"digest"`
	ListedAt    time.Time           `bun:"listed_at"`
	ChangedAt   time.Time           `bun:"changed_at"`
	AskingUntil time.Time           `bun:"asking_until"`
}

// selectDiscovery reads what is known of a tool's server; the zero value when nothing is.
func selectDiscovery(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (mcpDiscovery, error) {
	var row mcpDiscovery
	err := db.NewSelect().Model(&row).Where("md.tenant_id = ?", ref.TenantID).Where("md.workspace_id = ?", ref.ID).Where("md.tool_id = ?", id).Scan(ctx)
	if postgres.NoRows(err) {
		return mcpDiscovery{}, nil
	}
	return row, err
}

// claimDiscovery takes the asking of a server upon this node; false while another node has it.
func claimDiscovery(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, now time.Time) (bool, error) {
	row := mcpDiscovery{
		ToolID: id, TenantID: ref.TenantID, WorkspaceID: ref.ID,
		ListedAt: time.Unix(0, 0), ChangedAt: time.Unix(0, 0), AskingUntil: now.Add(mcpAskTimeout),
	}
	result, err := db.NewInsert().Model(&row).On("CONFLICT (tool_id) DO UPDATE").Set("asking_until = EXCLUDED.asking_until").
		Where("md.tenant_id = ?", ref.TenantID).Where("md.workspace_id = ?", ref.ID).Where("md.asking_until < ?", now).Exec(ctx)
	return changed(result, err)
}

// updateDiscovery changes columns of what is known.
func updateDiscovery(ctx context.Context, db bun.IDB, row mcpDiscovery, columns ...string) error {
	_, err := db.NewUpdate().Model(&row).Column(columns...).
		Where("tenant_id = ?", row.TenantID).Where("workspace_id = ?", row.WorkspaceID).Where("tool_id = ?", row.ToolID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update discovery of an MCP server: %w", err)
	}
	return nil
}

type mcpCatalogRow struct {
	bun.BaseModel `bun:"table:mcp_catalogs,alias:mc"`

	ToolID      ID                  `bun:"tool_id,pk,type:uuid"`
	Digest      string              `bun:"digest,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	RemoteTools json.RawMessage     `bun:"remote_tools,type:jsonb"`
	CreatedAt   time.Time           `bun:"created_at"`
}

// insertCatalog keeps a list, and drops those that no session has any more.
func insertCatalog(ctx context.Context, tx bun.IDB, row mcpCatalogRow) error {
	if _, err := tx.NewInsert().Model(&row).On("CONFLICT (tool_id, digest) DO NOTHING").Exec(ctx); err != nil {
		return fmt.Errorf("insert catalog of an MCP server: %w", err)
	}
	old := row.CreatedAt.Add(-mcpKept)
	_, err := tx.NewDelete().Model((*mcpFrozen)(nil)).Where("tenant_id = ?", row.TenantID).Where("workspace_id = ?", row.WorkspaceID).
		Where("tool_id = ?", row.ToolID).Where("created_at < ?", old).Exec(ctx)
	if err != nil {
		return fmt.Errorf("drop old catalogs of sessions: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		DELETE FROM mcp_catalogs AS mc
		WHERE mc.tenant_id = ? AND mc.workspace_id = ? AND mc.tool_id = ? AND mc.digest <> ? AND mc.created_at < ?
		AND NOT EXISTS (
			SELECT FROM session_mcp_catalogs AS sc
			WHERE sc.tenant_id = mc.tenant_id AND sc.workspace_id = mc.workspace_id AND sc.tool_id = mc.tool_id AND sc.digest = mc.digest
		)`, row.TenantID, row.WorkspaceID, row.ToolID, row.Digest, old)
	if err != nil {
		return fmt.Errorf("drop old catalogs of an MCP server: %w", err)
	}
	return nil
}

// selectCatalog reads a list; nil when it is not there.
func selectCatalog(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, digest string) (json.RawMessage, error) {
	var row mcpCatalogRow
	err := db.NewSelect().Model(&row).Where("mc.tenant_id = ?", ref.TenantID).Where("mc.workspace_id = ?", ref.ID).
		Where("mc.tool_id = ?", id).Where("mc.digest = ?", digest).Scan(ctx)
	if postgres.NoRows(err) {
		return nil, nil
	}
	return row.RemoteTools, err
}

type mcpFrozen struct {
	bun.BaseModel `bun:"table:session_mcp_catalogs,alias:sc"`

	SessionID   string              `bun:"session_id,pk"`
	ToolID      ID                  `bun:"tool_id,pk,type:uuid"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Digest      string              `bun:"digest"`
	CreatedAt   time.Time           `bun:"created_at"`
}

// freezeCatalog binds a session to a list, unless it has one already; the digest it has is returned.
func freezeCatalog(ctx context.Context, db bun.IDB, row mcpFrozen) (string, error) {
	_, err := db.NewInsert().Model(&row).On("CONFLICT (session_id, tool_id) DO UPDATE").Set("digest = sc.digest").
		Where("sc.tenant_id = ?", row.TenantID).Where("sc.workspace_id = ?", row.WorkspaceID).Returning("digest").Exec(ctx)
	if err != nil {
		return "", fmt.Errorf("freeze the catalog of a session: %w", err)
	}
	return row.Digest, nil
}

// frozenCatalogs are the digests of the lists that a session is bound to.
func frozenCatalogs(ctx context.Context, db bun.IDB, ref workspaces.Ref, sessionID string) (map[ID]string, error) {
	var rows []mcpFrozen
	err := db.NewSelect().Model(&rows).Where("sc.tenant_id = ?", ref.TenantID).Where("sc.workspace_id = ?", ref.ID).Where("sc.session_id = ?", sessionID).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the catalogs of a session: %w", err)
	}
	out := map[ID]string{}
	for _, row := range rows {
		out[row.ToolID] = row.Digest
	}
	return out, nil
}
