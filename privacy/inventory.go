package privacy

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// Where data about a user are, by the table that has them. Every table with a column session_id or
// user_id is in one of these lists; the test of this file says which is missing.
var (
	// ofSessions are the tables without a foreign key to sessions whose rows are deleted by their
	// session_id.
	ofSessions = []string{"phone_calls", "tool_calls", "tool_call_counts", "session_mcp_catalogs"}
	// withSessions are the tables whose rows go with the row of their session, by a foreign key.
	withSessions = []string{"turns", "session_connections", "session_analyses", "session_summaries", "call_approvals", "recording_parts"}
	// ofUsers are the tables whose rows are deleted by their user_id.
	ofUsers = []string{"fatigue_alerts", "phone_calls", "callback_schedules", "call_consents"}
	// elsewhere are the tables that are handled by their noun, or below in words.
	elsewhere = map[string]string{
		"sessions":              "deleted last, with a tombstone",
		"memories":              "memory.Erase",
		"memory_users":          "memory.Erase",
		"memory_vectors":        "memory.Erase, by a foreign key",
		"memory_embeddings_due": "memory.Erase, by a foreign key",
		"recording_segments":    "recordings.Erase, with their files in the bucket",
		"callbacks":             "callbacks.EraseUserTx and EraseSessionsTx, which complete batches",
		"events":                "events.Erase, with the deliveries in webhooks.Erase",
		"idempotency_keys":      "idempotency.Erase",
		"audit_entries":         "stay: they name users by a keyed hash and hold nothing that was said",
		"privacy_requests":      "their files are deleted and their user_id is emptied",
	}
)

// count counts what is kept about a user.
func (s *Service) count(ctx context.Context, db bun.IDB, ref workspaces.Ref, userID string) (Counts, error) {
	var counts struct {
		Sessions   int `bun:"sessions"`
		Turns      int `bun:"turns"`
		ToolCalls  int `bun:"tool_calls"`
		Memories   int `bun:"memories"`
		Exports    int `bun:"exports"`
		Answers    int `bun:"answers"`
		Recordings int `bun:"recordings"`
		Callbacks  int `bun:"callbacks"`
	}
	about := events.About{TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), UserID: userID}
	err := db.NewRaw(`
WITH own AS (
    SELECT s.id
    FROM sessions AS s
    WHERE s.tenant_id = ?
      AND s.workspace_id = ?
      AND s.user_id COLLATE "C" = ?
)
SELECT (SELECT count(*) FROM own) AS sessions,
       (SELECT count(*) FROM own JOIN turns AS t ON t.tenant_id = ? AND t.session_id = own.id) AS turns,
       (SELECT count(*) FROM own JOIN tool_calls AS c ON c.tenant_id = ? AND c.session_id = own.id) AS tool_calls,
       (SELECT count(DISTINCT own.id)
        FROM own
        JOIN recording_parts AS r ON r.tenant_id = ? AND r.session_id = own.id AND r.erased_at IS NULL) AS recordings,
       (SELECT count(*)
        FROM own
        JOIN idempotency_keys AS k ON k.tenant_id = ? AND k.session_id = own.id AND k.user_hash IS NULL) AS answers,
       (SELECT count(*) FROM memories AS m WHERE m.tenant_id = ? AND m.workspace_id = ? AND m.user_id = ?) AS memories,
       (SELECT count(*) FROM callbacks AS cb WHERE cb.tenant_id = ? AND cb.workspace_id = ? AND cb.user_id = ?)
           + (SELECT count(*) FROM callback_schedules AS cs WHERE cs.tenant_id = ? AND cs.workspace_id = ? AND cs.user_id = ?) AS callbacks,
       (SELECT count(*)
        FROM privacy_requests AS p
        WHERE p.tenant_id = ? AND p.workspace_id = ? AND p.user_id = ? AND p.file_key <> '' AND p.status = 'ready') AS exports`,
		ref.TenantID, ref.ID, userID, ref.TenantID, ref.TenantID, ref.TenantID, ref.TenantID,
		ref.TenantID, ref.ID, userID, ref.TenantID, ref.ID, userID, ref.TenantID, ref.ID, userID, ref.TenantID, ref.ID, userID).
		Scan(ctx, &counts)
	if err != nil {
		return Counts{}, fmt.Errorf("count a user's data: %w", err)
	}
	found := Counts{
		Sessions: counts.Sessions, Turns: counts.Turns, ToolCalls: counts.ToolCalls, Memories: counts.Memories, Exports: counts.Exports,
		Recordings: counts.Recordings, Callbacks: counts.Callbacks,
	}
	if found.Events, err = events.CountAbout(ctx, db, about); err != nil {
		return Counts{}, err
	}
	if found.Undelivered, err = s.Webhooks.CountUndelivered(ctx, db, ref, about); err != nil {
		return Counts{}, err
	}
	answers, err := s.Answers.CountAbout(ctx, db, ref.TenantID, idempotency.About{UserID: userID})
	found.Answers = counts.Answers + answers
	return found, err
}

// deleteSessions deletes the rows of sessions that the transaction has locked, and all rows of
// theirs.
func deleteSessions(ctx context.Context, tx bun.Tx, ref workspaces.Ref, ids []sessions.ID, now time.Time) (Counts, error) {
	var counts Counts
	array := pgdialect.Array(ids)
	err := tx.NewRaw("SELECT count(*) FROM turns WHERE tenant_id = ? AND session_id = ANY (?)", ref.TenantID, array).Scan(ctx, &counts.Turns)
	if err != nil {
		return Counts{}, fmt.Errorf("count turns: %w", err)
	}
	for _, table := range ofSessions {
		n, err := deleteRows(ctx, tx, "DELETE FROM ? WHERE tenant_id = ? AND session_id = ANY (?)", bun.Ident(table), ref.TenantID, array)
		if err != nil {
			return Counts{}, err
		}
		if table == "tool_calls" {
			counts.ToolCalls = n
		}
	}
	if counts.Callbacks, err = callbacks.EraseSessionsTx(ctx, tx, ref, ids, now); err != nil {
		return Counts{}, err
	}
	counts.Sessions, err = deleteRows(ctx, tx, "DELETE FROM sessions WHERE tenant_id = ? AND workspace_id = ? AND id = ANY (?)",
		ref.TenantID, ref.ID, array)
	return counts, err
}

func deleteRows(ctx context.Context, tx bun.Tx, statement string, args ...any) (int, error) {
	done, err := tx.NewRaw(statement, args...).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("delete rows: %w", err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("count deleted rows: %w", err)
	}
	return int(n), nil
}
