package audit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// rule is an invariant within the database.
type rule struct {
	name string
	// of counts what the rule is about.
	of string
	// broken selects one text for each violation.
	broken string
}

// rules hold once everything has come to rest. What the schema enforces itself is left out.
var rules = []rule{
	{"the outbox is empty", "events", `
		SELECT event_id FROM events WHERE relayed_at IS NULL`},
	{"public events have places in the feed, each its own", "events", `
		SELECT min(event_id) || ' and others share ' || coalesce(position::text, 'none') FROM events
		WHERE left(type, 1) <> '_' GROUP BY tenant_id, position HAVING count(*) > 1 OR position IS NULL`},
	{"deliveries agree with their attempts", "webhook_deliveries", `
		SELECT d.id || ' is at attempt ' || d.attempt || ' and has ' || count(a.id)
		FROM webhook_deliveries AS d LEFT JOIN webhook_attempts AS a ON a.delivery_id = d.id
		-- The row of an attempt is written when it has ended, or its lease has and the next one begins.
		GROUP BY d.id HAVING coalesce(max(a.attempt), 0) NOT IN (d.attempt, d.attempt - (d.lease_until IS NOT NULL)::integer)
		    OR count(a.id) <> coalesce(max(a.attempt), 0) OR coalesce(min(a.attempt), 1) <> 1`},
	{"no attempt is left open", "webhook_attempts", `
		SELECT a.id || ' of delivery ' || a.delivery_id FROM webhook_attempts AS a JOIN webhook_deliveries AS d ON d.id = a.delivery_id
		WHERE a.status = 'pending' AND (d.status <> 'pending' OR d.lease_until < now())`},
	{"deliveries end as their attempts did", "webhook_deliveries", `
		SELECT d.id || ' is ' || d.status FROM webhook_deliveries AS d
		WHERE (d.status = 'succeeded') <> EXISTS (SELECT FROM webhook_attempts AS a WHERE a.delivery_id = d.id AND a.status = 'succeeded')`},
	{"what is pending is due", "webhook_deliveries", `
		SELECT d.id::text FROM webhook_deliveries AS d JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
		WHERE d.status = 'pending' AND e.status = 'enabled' AND d.event_type = ANY (e.events) AND d.next_at IS NULL`},
	{"nothing is sent again after a success", "webhook_attempts", `
		SELECT s.delivery_id || ': attempt ' || a.attempt || ' began ' || (a.started_at - s.started_at)::text || ' after ' ||
			s.attempt || ', which succeeded'
		FROM webhook_attempts AS s JOIN webhook_attempts AS a ON a.delivery_id = s.delivery_id AND a.attempt > s.attempt
		-- A lease is 30 s at least: later, its holder had been taken for dead.
		WHERE s.status = 'succeeded' AND a.started_at < s.started_at + interval '30 s'`},
	{"sources have come to an end", "sources", `
		SELECT id || ' is ' || status || ', attempt ' || attempt FROM sources WHERE status IN ('queued', 'processing')`},
	{"good sources do not fail", "sources", `
		SELECT id || ': ' || error_code || ' ' || error_message FROM sources WHERE status = 'failed'`},
	{"a source has one set of chunks, without a gap", "sources", `
		SELECT s.id || ' says ' || s.chunk_count || ' and has ' || count(c.id)
		FROM sources AS s LEFT JOIN chunks AS c ON c.source_id = s.id
		WHERE s.status = 'ready' GROUP BY s.id
		HAVING s.chunk_count = 0 OR s.chunk_count <> count(c.id) OR max(c.index) + 1 <> count(c.id) OR count(DISTINCT c.model) <> 1`},
	{"a ready source has been announced, once", "sources", `
		SELECT s.id || ' was announced ' || count(e.seq) || ' times' FROM sources AS s
		LEFT JOIN events AS e ON e.tenant_id = s.tenant_id AND e.type = 'kb.source_ingested' AND e.subject = s.id
		WHERE s.status = 'ready' GROUP BY s.id HAVING count(e.seq) <> 1`},
	{"storage is counted right", "workspaces", `
		SELECT w.id || ' counts ' || w.kb_used_bytes || ' and holds ' || coalesce(sum(s.size_bytes + s.previous_size_bytes), 0)
		FROM workspaces AS w LEFT JOIN sources AS s ON s.workspace_id = w.id
		GROUP BY w.id HAVING w.kb_used_bytes <> coalesce(sum(s.size_bytes + s.previous_size_bytes), 0)`},
	{"what is stored is not held for any more", "sources", `
		SELECT h.key FROM upload_holds AS h JOIN sources AS s ON s.blob_key = h.key`},
	{"sessions are in states they can be in", "sessions", `
		SELECT id || ' is ' || status || ' (' || end_reason || ')' FROM sessions
		WHERE (status = 'pending') AND started_at IS NOT NULL
		   OR status = 'in_progress' AND started_at IS NULL
		   OR started_at < created_at OR ended_at < coalesce(started_at, created_at)
		   OR status IN ('completed', 'failed') AND (end_reason = '' OR running_turn_id IS NOT NULL OR dropped_at IS NOT NULL)`},
	{"no session is owned by the dead", "sessions", `
		SELECT id || ' runs ' || coalesce(running_turn_id, 'nothing') || ' until ' || coalesce(running_until::text, '') FROM sessions
		WHERE running_until < now() - interval '15 s' OR ending_at < now() - interval '15 s' AND ended_at IS NULL
		   OR status = 'in_progress' AND dropped_at < now() - interval '130 s'
		   OR status = 'pending' AND token_expires_at < now() - interval '10 s'`},
	{"closed sessions have no socket", "sessions", `
		SELECT s.id FROM sessions AS s JOIN session_connections AS c ON c.session_id = s.id WHERE s.ended_at IS NOT NULL`},
	{"turns are counted right and stand in order", "sessions", `
		SELECT s.id || ' counts ' || s.turn_count || ' and has ' || count(t.id)
		FROM sessions AS s LEFT JOIN turns AS t ON t.session_id = s.id
		GROUP BY s.id HAVING s.turn_count <> count(t.id) OR coalesce(max(t.index) + 1, 0) <> count(t.id)`},
	{"tokens are counted right", "sessions", `
		SELECT s.id || ' counts ' || s.input_tokens || ' and ' || s.output_tokens FROM sessions AS s
		LEFT JOIN turns AS t ON t.session_id = s.id
		LEFT JOIN (SELECT session_id, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens FROM session_analyses
		           WHERE status <> 'pending' GROUP BY session_id) AS n ON n.session_id = s.id
		LEFT JOIN session_summaries AS m ON m.session_id = s.id
		GROUP BY s.id, n.input_tokens, n.output_tokens, m.session_id
		HAVING s.input_tokens <> coalesce(sum(t.input_tokens), 0) + coalesce(n.input_tokens, 0) + coalesce(m.input_tokens, 0)
		    OR s.output_tokens <> coalesce(sum(t.output_tokens), 0) + coalesce(n.output_tokens, 0) + coalesce(m.output_tokens, 0)`},
	{"no analysis waits beyond its time", "sessions", `
		SELECT session_id || ' waits since ' || created_at FROM session_analyses WHERE status = 'pending'
			AND deadline_at < now() - interval '10 s'`},
	{"turns are finished where nobody runs them", "turns", `
		SELECT t.id || ' of ' || s.id || ', which is ' || s.status FROM turns AS t JOIN sessions AS s ON s.id = t.session_id
		WHERE t.status = 'in_progress' AND (s.ended_at IS NOT NULL OR t.user_text = '' AND NOT t.wanted
			AND s.running_turn_id IS DISTINCT FROM t.id)
		   OR t.status <> 'in_progress' AND t.ended_at IS NULL`},
	{"a finished turn has a receipt that nobody has changed", "turns", `
		SELECT t.id || ' has the hash ' || t.receipt_hash FROM turns AS t
		WHERE t.status <> 'in_progress' AND (t.receipt IS NULL OR encode(sha256(convert_to(t.receipt::text, 'UTF8')), 'hex') <> t.receipt_hash)`},
	{"a conversation's end is announced once, after its last turn", "sessions", `
		SELECT s.id || ' was announced ' || count(e.seq) || ' times' FROM sessions AS s
		LEFT JOIN events AS e ON e.tenant_id = s.tenant_id AND e.type = 'post_call_transcription' AND e.subject = s.id
		GROUP BY s.id
		HAVING count(e.seq) <> CASE WHEN s.ended_at IS NOT NULL AND s.started_at IS NOT NULL
		        AND NOT EXISTS (SELECT FROM session_analyses AS n WHERE n.session_id = s.id AND n.status = 'pending') THEN 1 ELSE 0 END
		    OR min(e.created_at) < (SELECT max(t.ended_at) FROM turns AS t WHERE t.session_id = s.id)`},
	{"tool calls are counted right", "tool_call_counts", `
		SELECT c.session_id || ' counts ' || c.calls || ' of ' || c.tool_id FROM tool_call_counts AS c
		WHERE c.calls < (SELECT count(*) FROM tool_calls AS t WHERE t.session_id = c.session_id AND t.tool_id = c.tool_id AND t.attempts > 0)`},
	{"traces belong to calls of their turn", "tool_calls", `
		SELECT c.id FROM tool_calls AS c WHERE c.turn_id IS NOT NULL
		AND NOT EXISTS (SELECT FROM turns AS t WHERE t.id = c.turn_id AND t.session_id = c.session_id
			AND t.messages::text LIKE '%' || c.id || '%')`},
	{"an agent is its newest version, and none is missing", "agents", `
		SELECT a.id || ' is at version ' || a.version || ' of ' || count(v.version) FROM agents AS a
			LEFT JOIN agent_versions AS v ON v.agent_id = a.id
		GROUP BY a.id HAVING a.version <> count(v.version) OR a.version <> max(v.version)
		    OR NOT EXISTS (SELECT FROM agent_versions AS l WHERE l.agent_id = a.id AND l.version = a.version
			AND l.config = a.config AND l.name = a.name)`},
	{"every id that a row names exists", "tombstones", `
		SELECT 'attachment of tool ' || tool_id FROM tool_attachments WHERE tool_id ~ '^[0-9a-f-]{36}$'
			AND NOT EXISTS (SELECT FROM tools WHERE id::text = tool_id)
		UNION ALL SELECT 'count of session ' || session_id FROM tool_call_counts AS c
			WHERE NOT EXISTS (SELECT FROM sessions AS s WHERE s.id = c.session_id)
		UNION ALL SELECT 'trace of session ' || session_id FROM tool_calls AS c WHERE session_id IS NOT NULL
			AND NOT EXISTS (SELECT FROM sessions AS s WHERE s.id = c.session_id)
		UNION ALL SELECT 'attempt at endpoint ' || endpoint_id FROM webhook_attempts AS a
			WHERE NOT EXISTS (SELECT FROM webhook_deliveries AS d WHERE d.id = a.delivery_id AND d.endpoint_id = a.endpoint_id)
		UNION ALL SELECT 'event of workspace ' || workspace_id FROM events AS e WHERE workspace_id <> ''
			AND NOT EXISTS (SELECT FROM workspaces AS w WHERE w.id = e.workspace_id)
		UNION ALL SELECT 'session of agent ' || agent_id FROM sessions AS s WHERE NOT EXISTS (SELECT FROM agents AS a
			WHERE a.id = s.agent_id) AND NOT EXISTS (SELECT FROM tombstones AS d WHERE d.id = s.agent_id)`},
	{"the buried are gone", "tombstones", `
		SELECT t.id FROM tombstones AS t WHERE EXISTS (
			SELECT FROM agents WHERE id = t.id UNION ALL SELECT FROM tools WHERE id::text = t.id UNION ALL SELECT FROM sources WHERE id = t.id
			UNION ALL SELECT FROM webhook_endpoints WHERE id = t.id UNION ALL SELECT FROM api_keys WHERE id = t.id)`},
	{"no request with a key is left without an answer", "idempotency_keys", `
		SELECT encode(key_hash, 'hex') || ', silent since ' || (lease_until - interval '60 s')::text FROM idempotency_keys WHERE answer IS NULL`},
}

// checkRows asks every rule.
func (a *auditor) checkRows(ctx context.Context) error {
	for _, one := range rules {
		var n int
		if err := a.conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{one.of}.Sanitize()).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", one.of, err)
		}
		a.looked(one.name, n)
		rows, err := a.conn.Query(ctx, one.broken)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		broken, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		for _, what := range broken {
			a.found(one.name, "%s", what)
		}
	}
	return nil
}
