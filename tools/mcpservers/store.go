package mcpservers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// keptTime is how long the lists of sessions are kept. No conversation is that long.
const keptTime = 30 * 24 * time.Hour

// discovery is the state of the list of a server.
type discovery struct {
	bun.BaseModel `bun:"table:mcp_discoveries,alias:md"`

	ToolID      string              `bun:"tool_id,pk,type:uuid"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Endpoint    string              `bun:"endpoint"`
	Digest      string              `bun:"digest"`
	ListedAt    time.Time           `bun:"listed_at"`
	ChangedAt   time.Time           `bun:"changed_at"`
}

// selectDiscovery reads the state of a server. It returns the zero value when there is none.
func selectDiscovery(ctx context.Context, db bun.IDB, server Server) (discovery, error) {
	var row discovery
	err := db.NewSelect().Model(&row).Where("md.tenant_id = ?", server.Ref.TenantID).
		Where("md.workspace_id = ?", server.Ref.ID).Where("md.tool_id = ?", server.ToolID).Scan(ctx)
	if postgres.NoRows(err) {
		return discovery{}, nil
	}
	return row, err
}

// upsertDiscovery stores which list of a server is the newest.
func upsertDiscovery(ctx context.Context, db bun.IDB, row discovery) error {
	_, err := db.NewInsert().Model(&row).On("CONFLICT (tool_id) DO UPDATE").
		Set("endpoint = EXCLUDED.endpoint").Set("digest = EXCLUDED.digest").Set("listed_at = EXCLUDED.listed_at").
		Where("md.tenant_id = ?", row.TenantID).Where("md.workspace_id = ?", row.WorkspaceID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store discovery of an MCP server: %w", err)
	}
	return nil
}

// updateChanged stores when a server announced another list.
func updateChanged(ctx context.Context, db bun.IDB, row discovery) error {
	_, err := db.NewUpdate().Model(&row).Column("changed_at").
		Where("tenant_id = ?", row.TenantID).Where("workspace_id = ?", row.WorkspaceID).Where("tool_id = ?", row.ToolID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update discovery of an MCP server: %w", err)
	}
	return nil
}

// catalogRow is a list of tools as its server sent it.
type catalogRow struct {
	bun.BaseModel `bun:"table:mcp_catalogs,alias:mc"`

	ToolID      string              `bun:"tool_id,pk,type:uuid"`
	Digest      string              `bun:"digest,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	RemoteTools json.RawMessage     `bun:"remote_tools,type:jsonb"`
	CreatedAt   time.Time           `bun:"created_at"`
}

// insertCatalog stores a list, and deletes old ones of the server that no session keeps.
func insertCatalog(ctx context.Context, tx bun.IDB, row catalogRow) error {
	if _, err := tx.NewInsert().Model(&row).On("CONFLICT (tool_id, digest) DO NOTHING").Exec(ctx); err != nil {
		return fmt.Errorf("insert catalog of an MCP server: %w", err)
	}
	old := row.CreatedAt.Add(-keptTime)
	_, err := tx.NewDelete().Model((*sessionCatalog)(nil)).Where("tenant_id = ?", row.TenantID).Where("workspace_id = ?", row.WorkspaceID).
		Where("tool_id = ?", row.ToolID).Where("created_at < ?", old).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete old catalogs of sessions: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		DELETE FROM mcp_catalogs AS mc
		WHERE mc.tenant_id = ? AND mc.workspace_id = ? AND mc.tool_id = ? AND mc.digest <> ? AND mc.created_at < ?
		AND NOT EXISTS (
			SELECT FROM session_mcp_catalogs AS sc
			WHERE sc.tenant_id = mc.tenant_id AND sc.workspace_id = mc.workspace_id AND sc.tool_id = mc.tool_id AND sc.digest = mc.digest
		)`, row.TenantID, row.WorkspaceID, row.ToolID, row.Digest, old)
	if err != nil {
		return fmt.Errorf("delete old catalogs of an MCP server: %w", err)
	}
	return nil
}

// selectCatalog reads a list. It returns nil when there is none.
func selectCatalog(ctx context.Context, db bun.IDB, server Server, digest string) (json.RawMessage, error) {
	var row catalogRow
	err := db.NewSelect().Model(&row).Where("mc.tenant_id = ?", server.Ref.TenantID).
		Where("mc.workspace_id = ?", server.Ref.ID).Where("mc.tool_id = ?", server.ToolID).Where("mc.digest = ?", digest).Scan(ctx)
	if postgres.NoRows(err) {
		return nil, nil
	}
	return row.RemoteTools, err
}

// sessionCatalog is the list that a session keeps.
type sessionCatalog struct {
	bun.BaseModel `bun:"table:session_mcp_catalogs,alias:sc"`

	SessionID   string              `bun:"session_id,pk"`
	ToolID      string              `bun:"tool_id,pk,type:uuid"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Digest      string              `bun:"digest"`
	CreatedAt   time.Time           `bun:"created_at"`
}

// keepCatalog makes a session keep a list, unless it keeps one already. It returns the digest of
// the list that the session keeps.
func keepCatalog(ctx context.Context, db bun.IDB, row sessionCatalog) (string, error) {
	_, err := db.NewInsert().Model(&row).On("CONFLICT (session_id, tool_id) DO UPDATE").Set("digest = sc.digest").
		Where("sc.tenant_id = ?", row.TenantID).Where("sc.workspace_id = ?", row.WorkspaceID).Returning("digest").Exec(ctx)
	if err != nil {
		return "", fmt.Errorf("keep the catalog of a session: %w", err)
	}
	return row.Digest, nil
}

// sessionCatalogs are the digests of the lists that a session keeps, by tool id.
func sessionCatalogs(ctx context.Context, db bun.IDB, ref workspaces.Ref, sessionID string) (map[string]string, error) {
	var rows []sessionCatalog
	err := db.NewSelect().Model(&rows).Where("sc.tenant_id = ?", ref.TenantID).Where("sc.workspace_id = ?", ref.ID).
		Where("sc.session_id = ?", sessionID).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the catalogs of a session: %w", err)
	}
	out := map[string]string{}
	for _, row := range rows {
		out[row.ToolID] = row.Digest
	}
	return out, nil
}
