package tools

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// reservation is what Postgres says about a call that is about to be made.
type reservation struct {
	// Attached says that the tool exists and is on for the agent.
	Attached bool `bun:"attached"`
	// Unchanged says that the tool is the one that the turn knows.
	Unchanged bool `bun:"unchanged"`
	// Limit is the cap of the attachment; 0 for none.
	Limit int `bun:"max_calls"`
	// Counted is false when the session has made Limit calls already.
	Counted bool `bun:"counted"`
}

// reserveCall counts one call of a session, unless its tool is off, gone or changed, or the cap is
// reached. Calls without a cap are counted too, because a cap may be set later; their commit is
// asynchronous, because no promise depends on it. The lock of the row serializes concurrent calls,
// also on several nodes.
func reserveCall(ctx context.Context, db bun.IDB, p CallParams, now time.Time) (reservation, error) {
	var r reservation
	tool := p.Entry.Tool
	custom := sql.Null[ID]{V: tool.ID, Valid: tool.Bucket == BucketCustom} // a built-in tool has no row
	canBeDisabled := (tool.Bucket == BucketMemory || tool.Bucket == BucketOptIn) && !p.Entry.ofDraft
	err := db.NewRaw(`
		WITH tool AS (
		    SELECT t.updated_at = ?0 AS unchanged, ta.max_calls_per_session AS max_calls
		    FROM tools AS t
		    JOIN tool_attachments AS ta
		      ON ta.tenant_id = t.tenant_id AND ta.workspace_id = t.workspace_id AND ta.tool_id = t.id::text
		    WHERE t.tenant_id = ?1 AND t.workspace_id = ?2 AND t.id = ?3
		      AND ta.agent_id = ?4 AND ta.enabled
		    UNION ALL
		    SELECT true, ?5
		    WHERE ?6
		      AND NOT (?7 AND NOT EXISTS (
		          SELECT FROM tool_attachments AS ta
		          WHERE ta.tenant_id = ?1 AND ta.workspace_id = ?2 AND ta.agent_id = ?4 AND ta.tool_id = ?8 AND ta.enabled
		      ))
		      AND NOT (?9 AND EXISTS (
		          SELECT FROM agents AS a
		          WHERE a.tenant_id = ?1 AND a.workspace_id = ?2 AND a.id = ?4 AND jsonb_exists(a.config->'disabled_tools', ?10)
		      ))
		), counted AS (
		    INSERT INTO tool_call_counts AS counts (tenant_id, session_id, tool_id, calls, updated_at)
		    SELECT ?1, ?11, ?8, 1, ?12
		    FROM tool
		    WHERE tool.unchanged
		    ON CONFLICT (session_id, tool_id) DO UPDATE
		    SET calls = counts.calls + 1,
		        updated_at = EXCLUDED.updated_at
		    WHERE counts.tenant_id = EXCLUDED.tenant_id
		      AND ((SELECT max_calls FROM tool) = 0 OR counts.calls < (SELECT max_calls FROM tool))
		    RETURNING CASE WHEN (SELECT max_calls FROM tool) = 0 THEN set_config('synchronous_commit', 'off', true) END
		)
		SELECT EXISTS (SELECT FROM tool) AS attached,
		       EXISTS (SELECT FROM tool WHERE unchanged) AS unchanged,
		       COALESCE((SELECT max_calls FROM tool), 0) AS max_calls,
		       EXISTS (SELECT FROM counted) AS counted`,
		tool.UpdatedAt, p.Ref.TenantID, p.Ref.ID, custom, p.Entry.AgentID, p.Entry.MaxCallsPerSession, !custom.Valid,
		tool.Bucket == BucketOptIn, tool.ID, canBeDisabled, tool.Slug, p.SessionID, now).Scan(ctx, &r)
	if err != nil {
		return reservation{}, fmt.Errorf("reserve tool call: %w", err)
	}
	return r, nil
}

// callCount is how often a session has called a tool.
type callCount struct {
	ToolID ID  `bun:"tool_id"`
	Calls  int `bun:"calls"`
}

func countedCalls(ctx context.Context, db bun.IDB, ref workspaces.Ref, sessionID string) ([]callCount, error) {
	var counts []callCount
	err := db.NewSelect().TableExpr("tool_call_counts AS c").Column("c.tool_id", "c.calls").
		Where("c.tenant_id = ?", ref.TenantID).Where("c.session_id = ?", sessionID).Scan(ctx, &counts)
	if err != nil {
		return nil, fmt.Errorf("read counts of tool calls: %w", err)
	}
	return counts, nil
}

// insertCall stores a trace. A row of the same id is the same call: the answer of an earlier
// statement was lost with its connection. The commit is asynchronous, because the disk of Postgres
// takes longer than the rest of a call: if Postgres crashes, its latest traces are lost. The turn,
// which is committed synchronously, also has the calls.
//
// The trace of a call that ends after its session was deleted is not stored: the lock of the
// session's row waits for a deletion under way, and finds no row after it.
func insertCall(ctx context.Context, db *postgres.DB, row Call) error {
	// bun takes the text \\u0000 (a backslash, then u0000) for an escape of U+0000 and breaks it.
	row.Input = bytes.ReplaceAll(row.Input, []byte(`\\`), []byte(`\u005c`))
	values := db.NewValues(&row)
	columns, err := values.AppendColumns(db.QueryGen(), nil)
	if err != nil {
		return fmt.Errorf("list a call's columns: %w", err)
	}
	_, err = db.NewRaw(`
		WITH fresh (?0) AS (?1), held AS (
		    SELECT s.id
		    FROM sessions AS s
		    WHERE s.tenant_id = ?2 AND s.id = ?3
		    FOR KEY SHARE
		)
		INSERT INTO tool_calls (?0)
		SELECT *
		FROM fresh
		WHERE ?3 = ''
		   OR EXISTS (SELECT FROM held)
		   OR NOT EXISTS (SELECT FROM sessions AS s WHERE s.tenant_id = ?2 AND s.id = ?3)
		      AND NOT EXISTS (SELECT FROM tombstones AS t WHERE t.tenant_id = ?2 AND t.id = ?3)
		ON CONFLICT (id) DO NOTHING
		RETURNING set_config('synchronous_commit', 'off', true) AS id`,
		bun.Safe(columns), values, row.TenantID, row.SessionID).Exec(ctx)
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

// sweepBatch is how many rows one statement of deleteOld deletes.
const sweepBatch = 2000

const (
	// oldCalls deletes traces of calls that began before a time.
	oldCalls = `
		DELETE FROM tool_calls
		WHERE ctid = ANY (ARRAY(
		    SELECT ctid
		    FROM tool_calls
		    WHERE started_at < ?
		    LIMIT ?
		    FOR UPDATE SKIP LOCKED
		))`
	// oldCounts deletes counts that did not change since a time.
	oldCounts = `
		DELETE FROM tool_call_counts
		WHERE ctid = ANY (ARRAY(
		    SELECT ctid
		    FROM tool_call_counts
		    WHERE updated_at < ?
		    LIMIT ?
		    FOR UPDATE SKIP LOCKED
		))`
)

// deleteOld runs a statement that deletes rows of before a time until a batch is not full.
func deleteOld(ctx context.Context, db bun.IDB, statement string, before time.Time) error {
	for {
		result, err := db.NewRaw(statement, before, sweepBatch).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete old rows: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n < sweepBatch {
			return err
		}
	}
}
