package privacy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// doExport writes the file, then stores that it is ready and announces it.
func (s *Service) doExport(ctx context.Context, request Request) error {
	request.FileKey = "privacy/" + string(request.WorkspaceID) + "/" + string(request.ID) + ".zip"
	request.ExpiresAt = s.now().Add(fileLife)
	// The file is known before it is there, so that it is deleted whatever happens.
	err := noteFile(ctx, s.DB, file{Key: request.FileKey, TenantID: request.TenantID, RequestID: request.ID, ExpiresAt: request.ExpiresAt})
	if err != nil {
		return err
	}
	if err := update(ctx, s.DB, request, "file_key", "expires_at"); err != nil {
		return err
	}
	if err := s.writeFile(ctx, &request); err != nil {
		return err
	}
	request.Status, request.FinishedAt, request.Error = Ready, s.now(), ""
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if err := update(ctx, tx, request, "status", "finished_at", "counts", "size_bytes", "sha256", "error"); err != nil {
			return err
		}
		_, err := events.Append(ctx, tx, events.Event{
			TenantID: string(request.TenantID), WorkspaceID: string(request.WorkspaceID), Type: events.DSARReady,
			Subject: string(request.ID), CreatedAt: request.FinishedAt,
			Payload: &events.DSARReadyData{
				RequestId: string(request.ID), UserId: request.UserID, Kind: string(request.Kind),
				DownloadUrl: s.Links.URL(request.ID, request.ExpiresAt), ExpiresAt: timestamppb.New(request.ExpiresAt),
				SizeBytes: float64(request.SizeBytes),
			},
		})
		return err
	})
	if errors.Is(err, errTaken) { // the user was erased meanwhile
		return errors.Join(err, s.Bucket.Delete(context.WithoutCancel(ctx), request.FileKey))
	}
	return err
}

// writeFile streams the archive into the bucket, from one snapshot of the database.
func (s *Service) writeFile(ctx context.Context, request *Request) error {
	reader, writer := io.Pipe()
	written := make(chan error, 1)
	var counts Counts
	go func() {
		err := postgres.InSnapshot(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
			counts, err = s.writeArchive(ctx, tx, *request, writer)
			return err
		})
		_ = writer.CloseWithError(err) // a pipe returns no error
		written <- err
	}()
	size, sum, err := s.Bucket.Put(ctx, request.FileKey, reader)
	_ = reader.CloseWithError(err) // has the writer stop; a pipe returns no error
	if err := errors.Join(<-written, err); err != nil {
		return fmt.Errorf("write an export: %w", err)
	}
	request.SizeBytes, request.SHA256, request.Counts = size, sum, counts
	return nil
}

// part is a file of the archive whose content is an array of rows.
type part struct {
	name string
	// rows selects one column with the JSON of each row. Its parameters are tenant, workspace and
	// user.
	rows string
}

// parts are the files besides the sessions'.
var parts = []part{
	{"memory.json", `
SELECT to_json(x)
FROM (
    SELECT m.id, m.kind, m.status, m.text, m.category, m.attribute, m.tags, m.confidence, m.created_by, m.agent_id, m.session_id, m.turn_id,
           m.superseded_by, m.expires_at, m.created_at, m.updated_at
    FROM memories AS m
    WHERE m.tenant_id = ? AND m.workspace_id = ? AND m.user_id = ?
    ORDER BY m.created_at, m.id
) AS x`},
	{"callbacks.json", `
SELECT to_json(x)
FROM (
    SELECT cb.id, cb.agent_id, cb.phone_number, cb.timezone, cb.reason, cb.status, cb.end_reason, cb.created_by, cb.origin_session_id,
           cb.schedule_id, cb.batch_id, cb.session_id, cb.attempts, cb.dynamic_variables, cb.at, cb.created_at, cb.ended_at
    FROM callbacks AS cb
    WHERE cb.tenant_id = ? AND cb.workspace_id = ? AND cb.user_id = ?
    ORDER BY cb.at, cb.id
) AS x`},
	{"callback_schedules.json", `
SELECT to_json(x)
FROM (
    SELECT cs.id, cs.agent_id, cs.phone_number, cs.cron, cs.timezone, cs.reason, cs.starts_at, cs.ends_at, cs.exceptions, cs.enabled,
           cs.dynamic_variables, cs.created_at
    FROM callback_schedules AS cs
    WHERE cs.tenant_id = ? AND cs.workspace_id = ? AND cs.user_id = ?
    ORDER BY cs.created_at, cs.id
) AS x`},
	{"calls.json", `
SELECT to_json(x)
FROM (
    SELECT pc.id, pc.agent_id, pc.direction, pc.from_number AS "from", pc.to_number AS "to", pc.status, pc.end_reason, pc.session_id,
           pc.callback_id, pc.answered_by, pc.transfer_status, pc.transfer_summary, pc.created_at, pc.answered_at, pc.ended_at,
           pc.duration_seconds
    FROM phone_calls AS pc
    WHERE pc.tenant_id = ? AND pc.workspace_id = ? AND pc.user_id = ?
    ORDER BY pc.created_at, pc.id
) AS x`},
	{"call_consent.json", `
SELECT to_json(x)
FROM (
    SELECT cc.granted, cc.note, cc.recorded_at
    FROM call_consents AS cc
    WHERE cc.tenant_id = ? AND cc.workspace_id = ? AND cc.user_id = ?
) AS x`},
	{"usage.json", `
SELECT to_json(x)
FROM (
    SELECT to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS sessions, sum(s.turn_count) AS turns,
           sum(s.input_tokens) AS input_tokens, sum(s.output_tokens) AS output_tokens, sum(s.tool_calls) AS tool_calls,
           round(sum(extract(epoch FROM s.last_activity_at - s.started_at))) AS seconds
    FROM sessions AS s
    WHERE s.tenant_id = ? AND s.workspace_id = ? AND s.user_id COLLATE "C" = ?
    GROUP BY 1
    ORDER BY 1
) AS x`},
	{"fatigue_alerts.json", `
SELECT to_json(x)
FROM (
    SELECT f.agent_id, f.window_seconds, f.measure, f.fired_at
    FROM fatigue_alerts AS f
    WHERE f.tenant_id = ? AND f.workspace_id = ? AND f.user_id = ?
    ORDER BY f.fired_at
) AS x`},
	{"privacy_requests.json", `
SELECT to_json(x)
FROM (
    SELECT p.id, p.kind, p.status, p.created_at, p.finished_at
    FROM privacy_requests AS p
    WHERE p.tenant_id = ? AND p.workspace_id = ? AND p.user_id = ?
    ORDER BY p.created_at
) AS x`},
}

// eventsPart is the list of webhook events; their contents are the conversations'.
const eventsPart = "events.json"

// sessionSQL selects the JSON of a session's own row. Variables named secret__ are sealed in a
// column that is not read.
const sessionSQL = `
SELECT to_json(x)
FROM (
    SELECT s.id, s.agent_id, s.agent_version, s.draft_revision, s.user_id, s.modality, s.status, s.end_reason, s.language,
           s.created_at, s.started_at, s.ended_at, s.last_activity_at,
           CASE WHEN s.sealed THEN '{}' ELSE s.dynamic_variables END AS dynamic_variables,
           CASE WHEN s.sealed THEN '{}' ELSE s.assigned_variables END AS assigned_variables,
           s.handover_status, CASE WHEN s.sealed THEN '' ELSE s.handover_reason END AS handover_reason,
           CASE WHEN s.sealed THEN '' ELSE s.handover_summary END AS handover_summary, s.handover_operator,
           s.overrides, s.voice_stack_override,
           s.turn_count, s.input_tokens, s.output_tokens, s.tool_calls, s.likes, s.dislikes, s.item_edits
    FROM sessions AS s
    WHERE s.tenant_id = ? AND s.id = ?
) AS x`

// sessionParts are the arrays in the file of a session, by their member. Parameters: tenant and
// session.
var sessionParts = []part{
	{"turns", `
SELECT to_json(x)
FROM (
    SELECT t.id, t.index, t.status, t.user_text, t.agent_text,
           CASE WHEN s.sealed THEN ` + unsealedMessages + ` ELSE t.messages END AS messages,
           t.citations, t.retrieval, t.model, t.input_tokens, t.output_tokens, t.metrics, t.feedback, t.error_code, t.error_message,
           t.started_at, t.ended_at, t.receipt, t.receipt_hash
    FROM turns AS t
    JOIN sessions AS s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
    WHERE t.tenant_id = ? AND t.session_id = ?
    ORDER BY t.index
) AS x`},
	{"tool_calls", `
SELECT to_json(x)
FROM (
    SELECT c.id, c.turn_id, c.tool_id, c.slug, c.input, c.output, c.status_code, c.latency_ms, c.attempts, c.error_code, c.error_message,
           c.started_at
    FROM tool_calls AS c
    WHERE c.tenant_id = ? AND c.session_id = ?
    ORDER BY c.started_at, c.id
) AS x`},
	{"approvals", `
SELECT to_json(x)
FROM (
    SELECT a.id, a.turn_id, a.slug, a.arguments, a.status, a.reason, a.created_at, a.decided_at
    FROM call_approvals AS a
    WHERE a.tenant_id = ? AND a.session_id = ?
    ORDER BY a.created_at, a.id
) AS x`},
	{"analyses", `
SELECT to_json(x)
FROM (
    SELECT n.kind, n.status, n.result, n.model, n.input_tokens, n.output_tokens, n.created_at, n.ended_at
    FROM session_analyses AS n
    WHERE n.tenant_id = ? AND n.session_id = ?
    ORDER BY n.kind
) AS x`},
	{"recording", `
SELECT to_json(x)
FROM (
    SELECT r.started_at, r.offset_ms, r.ended_at, r.incomplete, r.erased_at,
           (SELECT coalesce(json_agg(m.value ORDER BY g.number, m.ordinality), '[]')
            FROM recording_segments AS g
            CROSS JOIN LATERAL jsonb_array_elements(g.marks) WITH ORDINALITY AS m
            WHERE g.tenant_id = r.tenant_id AND g.part_id = r.id AND g.due_at IS NULL) AS marks
    FROM recording_parts AS r
    WHERE r.tenant_id = ? AND r.session_id = ?
    ORDER BY r.started_at, r.id
) AS x`},
	{"summaries", `
SELECT to_json(x)
FROM (
    SELECT y.text, y.turns, y.model, y.updated_at
    FROM session_summaries AS y
    WHERE y.tenant_id = ? AND y.session_id = ?
) AS x`},
}

// manifest is the last file of an archive.
type manifest struct {
	Format      string              `json:"format"`
	RequestID   ID                  `json:"request_id"`
	TenantID    workspaces.TenantID `json:"tenant_id"`
	WorkspaceID workspaces.ID       `json:"workspace_id"`
	UserID      string              `json:"user_id"`
	// AsOf is the moment of the database that the archive shows.
	AsOf   time.Time `json:"as_of"`
	Counts Counts    `json:"counts"`
	Files  []entry   `json:"files"`
}

// format names the layout of archives.
const format = "parlance-export/1"

// entry is a file of an archive.
type entry struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
	// Rows is how many records are in the file.
	Rows int `json:"rows"`
}
