package tools

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

func insertTool(ctx context.Context, tx bun.IDB, tool Tool) error {
	if _, err := tx.NewInsert().Model(&tool).Exec(ctx); err != nil {
		return fmt.Errorf("insert tool: %w", err)
	}
	return nil
}

func updateTool(ctx context.Context, tx bun.IDB, tool Tool) error {
	_, err := tx.NewUpdate().Model(&tool).
		Column("description", "config", "auth_header", "secret_headers", "secret_header_names", "updated_at").
		Where("tenant_id = ?", tool.TenantID).Where("workspace_id = ?", tool.WorkspaceID).Where("id = ?", tool.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update tool: %w", err)
	}
	return nil
}

// rowLock is the lock that a SELECT takes.
type rowLock string

const (
	noLock        rowLock = ""
	lockForShare  rowLock = "SHARE"
	lockForUpdate rowLock = "UPDATE"
)

// selectTool reads a custom tool.
func selectTool(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, lock rowLock) (Tool, error) {
	if !idgen.ValidUUID(string(id)) {
		return Tool{}, fault.NoSuch("tool", string(id))
	}
	tool := Tool{Bucket: BucketCustom}
	query := db.NewSelect().Model(&tool).Where("t.tenant_id = ?", ref.TenantID).Where("t.workspace_id = ?", ref.ID).Where("t.id = ?", id)
	if lock != noLock {
		query = query.For(string(lock))
	}
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Tool{}, fault.NoSuch("tool", string(id))
	}
	return tool, err
}

// catalogColumns are the columns that the catalog is ordered by. In the order of names the id is
// text, because the page before may have ended with a built-in tool.
func catalogColumns(page postgres.Page) postgres.Columns {
	columns := postgres.Columns{CreatedAt: "t.created_at", UpdatedAt: "t.updated_at", Name: "t.slug", ID: "t.id"}
	if page.ByName() {
		columns.ID = `t.id::text COLLATE "C"`
	}
	return columns
}

// listTools reads at most limit custom tools of a page whose slug or description contains text.
func listTools(ctx context.Context, db bun.IDB, ref workspaces.Ref, page postgres.Page, text string, limit int) ([]Tool, error) {
	var list []Tool
	query := db.NewSelect().Model(&list).Where("t.tenant_id = ?", ref.TenantID).Where("t.workspace_id = ?", ref.ID)
	query = postgres.Containing(query, text, "t.slug", "t.description")
	if err := page.ApplyTo(query, catalogColumns(page)).Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	for i := range list {
		list[i].Bucket = BucketCustom
	}
	return list, nil
}

// selectTools returns the custom tools of these slugs, which are in lower case.
func selectTools(ctx context.Context, db bun.IDB, ref workspaces.Ref, slugs []string) ([]Tool, error) {
	if len(slugs) == 0 {
		return nil, nil
	}
	var list []Tool
	err := db.NewSelect().Model(&list).Where("t.tenant_id = ?", ref.TenantID).Where("t.workspace_id = ?", ref.ID).
		Where("lower(t.slug) = ANY (?)", pgdialect.Array(slugs)).Order("t.created_at", "t.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("select tools by their slugs: %w", err)
	}
	return list, nil
}

// deleteTool deletes a tool and its attachments. Attachments have no foreign key, because built-ins
// are attached too.
func deleteTool(ctx context.Context, tx bun.IDB, ref workspaces.Ref, id ID) (bool, error) {
	if !idgen.ValidUUID(string(id)) {
		return false, nil
	}
	result, err := tx.NewDelete().Model((*Tool)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx)
	if deleted, err := postgres.Changed(result, err); err != nil || !deleted {
		return false, err
	}
	_, err = tx.NewDelete().Model((*Attachment)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("tool_id = ?", id).Exec(ctx)
	return true, err
}

// upsertAttachment stores an attachment, and reads back its created_at and its cap. A nil cap keeps
// the one that is stored.
func upsertAttachment(ctx context.Context, tx bun.IDB, a *Attachment, maxCalls *int) error {
	if maxCalls != nil {
		a.MaxCallsPerSession = *maxCalls
	}
	query := tx.NewInsert().Model(a).On("CONFLICT (agent_id, tool_id) DO UPDATE").
		Set("enabled = EXCLUDED.enabled").Set("updated_at = EXCLUDED.updated_at")
	if maxCalls != nil {
		query = query.Set("max_calls_per_session = EXCLUDED.max_calls_per_session")
	}
	_, err := query.Where("ta.workspace_id = EXCLUDED.workspace_id").Returning("created_at, max_calls_per_session").Exec(ctx)
	if err != nil {
		return fmt.Errorf("attach tool: %w", err)
	}
	return nil
}

func deleteAttachment(ctx context.Context, db bun.IDB, ref workspaces.Ref, agentID agents.ID, id ID) error {
	_, err := db.NewDelete().Model((*Attachment)(nil)).Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).
		Where("agent_id = ?", agentID).Where("tool_id = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("detach tool: %w", err)
	}
	return nil
}

// listAttachments reads the attachments of an agent, oldest first.
func listAttachments(ctx context.Context, db bun.IDB, ref workspaces.Ref, agentID agents.ID) ([]Attachment, error) {
	var list []Attachment
	err := db.NewSelect().Model(&list).Where("ta.tenant_id = ?", ref.TenantID).Where("ta.workspace_id = ?", ref.ID).
		Where("ta.agent_id = ?", agentID).OrderExpr("ta.created_at, ta.tool_id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list attachments: %w", err)
	}
	return list, nil
}

// agentToolSettings asks whether an agent has attachments, and for its disabled_tools, which are
// NULL when there is no such agent.
const agentToolSettings = `
	SELECT EXISTS (
	    SELECT FROM tool_attachments AS ta
	    WHERE ta.tenant_id = $1
	      AND ta.workspace_id = $2
	      AND ta.agent_id = $3
	), (
	    SELECT COALESCE(NULLIF(a.config->'disabled_tools', 'null'), '[]')
	    FROM agents AS a
	    WHERE a.tenant_id = $1
	      AND a.workspace_id = $2
	      AND a.id = $3
	)`

// attachedTools reads the custom tools among the attachments.
func attachedTools(ctx context.Context, db bun.IDB, ref workspaces.Ref, attachments []Attachment) (map[ID]Tool, error) {
	var ids []ID
	for _, a := range attachments {
		if idgen.ValidUUID(string(a.ToolID)) {
			ids = append(ids, a.ToolID)
		}
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // no tools are attached
	}
	var list []Tool
	err := db.NewSelect().Model(&list).Where("t.tenant_id = ?", ref.TenantID).Where("t.workspace_id = ?", ref.ID).
		Where("t.id IN (?)", bun.List(ids)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read attached tools: %w", err)
	}
	byID := make(map[ID]Tool, len(list))
	for _, tool := range list {
		tool.Bucket = BucketCustom
		byID[tool.ID] = tool
	}
	return byID, nil
}
