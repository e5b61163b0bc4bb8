package tools

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

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
	_, err := tx.NewUpdate().Model(&tool).Column("description", "config", "auth_header", "updated_at").
		Where("tenant_id = ?", tool.TenantID).Where("workspace_id = ?", tool.WorkspaceID).Where("id = ?", tool.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update tool: %w", err)
	}
	return nil
}

// selectTool reads a custom tool; lock is "", "SHARE" or "UPDATE".
func selectTool(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, lock string) (Tool, error) {
	if !idgen.ValidUUID(string(id)) {
		return Tool{}, fault.NoSuch("tool", string(id))
	}
	tool := Tool{Bucket: BucketCustom}
	query := db.NewSelect().Model(&tool).Where("t.tenant_id = ?", ref.TenantID).Where("t.workspace_id = ?", ref.ID).Where("t.id = ?", id)
	if lock != "" {
		query = query.For(lock)
	}
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Tool{}, fault.NoSuch("tool", string(id))
	}
	return tool, err
}

// listTools reads at most limit custom tools of a page.
func listTools(ctx context.Context, db bun.IDB, ref workspaces.Ref, page postgres.Page, limit int) ([]Tool, error) {
	var list []Tool
	query := db.NewSelect().Model(&list).Where("t.tenant_id = ?", ref.TenantID).Where("t.workspace_id = ?", ref.ID)
	if err := page.Apply(query).Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	for i := range list {
		list[i].Bucket = BucketCustom
	}
	return list, nil
}

// deleteTool removes a tool with its attachments, which have no foreign key because built-ins
// are attached too.
func deleteTool(ctx context.Context, tx bun.IDB, ref workspaces.Ref, id ID) (bool, error) {
	if !idgen.ValidUUID(string(id)) {
		return false, nil
	}
	result, err := tx.NewDelete().Model((*Tool)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx)
	if deleted, err := changed(result, err); err != nil || !deleted {
		return false, err
	}
	_, err = tx.NewDelete().Model((*Attachment)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("tool_id = ?", id).Exec(ctx)
	return true, err
}

// changed says whether a statement found its row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// upsertAttachment stores the attachment and reads back since when there is one, and its cap.
func upsertAttachment(ctx context.Context, tx bun.IDB, a *Attachment, keepCap bool) error {
	query := tx.NewInsert().Model(a).On("CONFLICT (agent_id, tool_id) DO UPDATE").
		Set("enabled = EXCLUDED.enabled").Set("updated_at = EXCLUDED.updated_at")
	if !keepCap {
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

// listAttachments reads an agent's attachments, oldest first.
func listAttachments(ctx context.Context, db bun.IDB, ref workspaces.Ref, agentID agents.ID) ([]Attachment, error) {
	var list []Attachment
	err := db.NewSelect().Model(&list).Where("ta.tenant_id = ?", ref.TenantID).Where("ta.workspace_id = ?", ref.ID).
		Where("ta.agent_id = ?", agentID).OrderExpr("ta.created_at, ta.tool_id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list attachments: %w", err)
	}
	return list, nil
}

// hasAttachments asks whether an agent has any.
const hasAttachments = "SELECT EXISTS (SELECT FROM tool_attachments AS ta WHERE ta.tenant_id = $1 AND ta.workspace_id = $2 AND ta.agent_id = $3)"

// attachedTools reads the custom tools among the attached ones.
func attachedTools(ctx context.Context, db bun.IDB, ref workspaces.Ref, attachments []Attachment) (map[ID]Tool, error) {
	var ids []ID
	for _, a := range attachments {
		if idgen.ValidUUID(string(a.ToolID)) {
			ids = append(ids, a.ToolID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
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

// takeCall counts one call of a session against limit; false when none is left. Concurrent
// calls and other nodes are counted one after the other by the row's lock.
func takeCall(ctx context.Context, db bun.IDB, ref workspaces.Ref, sessionID string, id ID, limit int, now time.Time) (bool, error) {
	result, err := db.ExecContext(ctx, `
		INSERT INTO tool_call_counts AS counts (tenant_id, session_id, tool_id, calls, updated_at)
		VALUES (?, ?, ?, 1, ?)
		ON CONFLICT (session_id, tool_id) DO UPDATE
		SET calls = counts.calls + 1,
		    updated_at = EXCLUDED.updated_at
		WHERE counts.calls < ?
		  AND counts.tenant_id = EXCLUDED.tenant_id`, ref.TenantID, sessionID, id, now, limit)
	return changed(result, err)
}

// insertCall writes a trace down once: an id names one call, so a row that is there is this one, of a
// statement whose answer was lost with its connection. It does not wait until the trace is on
// Postgres's disk, which takes longer than the rest of a call: when Postgres itself crashes, the
// traces of its last moments are lost. What was said and called is in the turn, which is waited for.
func insertCall(ctx context.Context, db bun.IDB, row Call) error {
	_, err := db.NewInsert().Model(&row).On("CONFLICT (id) DO NOTHING").
		Returning("set_config('synchronous_commit', 'off', true) AS id").Exec(ctx)
	if err != nil && !postgres.NoRows(err) {
		return fmt.Errorf("insert tool call: %w", err)
	}
	return nil
}

func selectCalls(ctx context.Context, db bun.IDB, ref workspaces.Ref, f CallFilter, page postgres.Page) ([]Call, string, error) {
	var list []Call
	query := db.NewSelect().Model(&list).Where("tc.tenant_id = ?", ref.TenantID).Where("tc.workspace_id = ?", ref.ID)
	query = narrow(query, f)
	query = page.ApplyTo(query, postgres.Columns{CreatedAt: "tc.started_at", ID: "tc.id"})
	if err := query.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list tool calls: %w", err)
	}
	list, next := postgres.Cut(page, list, func(c Call) postgres.Key {
		return postgres.Key{CreatedAt: c.StartedAt, ID: c.ID}
	})
	return list, next, nil
}

// narrow adds the conditions of a filter.
func narrow(query *bun.SelectQuery, f CallFilter) *bun.SelectQuery {
	for _, equal := range []struct{ condition, value string }{
		{"tc.tool_id = ?", string(f.ToolID)},
		{"tc.session_id = ?", f.SessionID},
		{"tc.agent_id = ?", string(f.AgentID)},
		{"tc.error_code = ?", string(f.ErrorCode)},
	} {
		if equal.value != "" {
			query = query.Where(equal.condition, equal.value)
		}
	}
	switch f.Status {
	case CallSucceeded:
		query = query.Where("tc.error_code = ''")
	case CallFailed:
		query = query.Where("tc.error_code <> ''")
	}
	if !f.StartedAfter.IsZero() {
		query = query.Where("tc.started_at >= ?", f.StartedAfter)
	}
	if !f.StartedBefore.IsZero() {
		query = query.Where("tc.started_at < ?", f.StartedBefore)
	}
	return query
}

// deleteCalls deletes up to limit traces of calls that began before a time and says how many.
func deleteCalls(ctx context.Context, db bun.IDB, before time.Time, limit int) (int, error) {
	return deleted(db.NewRaw(postgres.RawForAllTenants("the sweep of old traces", `
		DELETE FROM tool_calls
		WHERE ctid = ANY (ARRAY(
		    SELECT ctid
		    FROM tool_calls
		    WHERE started_at < ?
		    LIMIT ?
		    FOR UPDATE SKIP LOCKED
		))`), before, limit).Exec(ctx))
}

// deleteCounts deletes up to limit counts that have been still since before a time and says how many.
func deleteCounts(ctx context.Context, db bun.IDB, before time.Time, limit int) (int, error) {
	return deleted(db.NewRaw(postgres.RawForAllTenants("the sweep of ended sessions' counts", `
		DELETE FROM tool_call_counts
		WHERE ctid = ANY (ARRAY(
		    SELECT ctid
		    FROM tool_call_counts
		    WHERE updated_at < ?
		    LIMIT ?
		    FOR UPDATE SKIP LOCKED
		))`), before, limit).Exec(ctx))
}

func deleted(result sql.Result, err error) (int, error) {
	if err != nil {
		return 0, fmt.Errorf("delete old rows: %w", err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}
