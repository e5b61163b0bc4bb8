package insights

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// kind is what a tally counts.
type kind string

const (
	kindSessions              kind = "sessions"
	kindFailedSessions        kind = "failed_sessions"
	kindFailedTurns           kind = "failed_turns"
	kindKnowledgeAnswers      kind = "knowledge_answers"
	kindAnswersWithoutPassage kind = "answers_without_passage"
	kindFailedToolCalls       kind = "failed_tool_calls"
	kindFailedDeliveries      kind = "failed_deliveries"
	kindSourcesReady          kind = "sources_ready"
	kindFailedSources         kind = "failed_sources"
)

// tally is how many of a kind there were in a step.
type tally struct {
	// Step counts from 0.
	Step  int   `bun:"step"`
	Kind  kind  `bun:"kind"`
	Count int64 `bun:"count"`
}

// countParams select rows. An empty WorkspaceID or AgentID selects all.
type countParams struct {
	TenantID    workspaces.TenantID
	WorkspaceID workspaces.ID
	AgentID     string
	Bounds      []time.Time
}

// The statements that count. ?0 is the tenant, ?1 and ?2 are the first and the last bound, ?3 all
// bounds, ?4 the workspace and ?5 the agent. of and ofAgent are conditions on the last two.

// countSessions counts sessions by when they were created, and failed ones by when they ended.
func countSessions(of, ofAgent string) string {
	return `
SELECT 'sessions' AS kind,
       width_bucket(x.created_at, ?3::timestamptz[]) - 1 AS step,
       count(*) AS count
FROM sessions AS x
WHERE x.tenant_id = ?0
  AND x.created_at >= ?1
  AND x.created_at < ?2` + of + ofAgent + `
GROUP BY step
UNION ALL
SELECT 'failed_sessions',
       width_bucket(x.ended_at, ?3::timestamptz[]) - 1 AS step,
       count(*)
FROM sessions AS x
WHERE x.tenant_id = ?0
  AND x.status = 'failed'
  AND x.ended_at >= ?1
  AND x.ended_at < ?2` + of + ofAgent + `
GROUP BY step`
}

// countTurns counts turns by when they ended. Each condition is that of an index. What a turn has
// recorded of its search has a model when there was something to search, and chunks that were used
// as passages. Passages that are in every prompt are citations without a search.
func countTurns(of, ofAgent string) string {
	return `
SELECT 'failed_turns' AS kind,
       width_bucket(x.ended_at, ?3::timestamptz[]) - 1 AS step,
       count(*) AS count
FROM turns AS x
WHERE x.tenant_id = ?0
  AND x.status = 'failed'
  AND x.ended_at >= ?1
  AND x.ended_at < ?2` + of + ofAgent + `
GROUP BY step
UNION ALL
SELECT 'knowledge_answers',
       width_bucket(x.ended_at, ?3::timestamptz[]) - 1 AS step,
       count(*)
FROM turns AS x
WHERE x.tenant_id = ?0
  AND x.status = 'completed'
  AND (x.retrieval ->> 'model' <> '' OR x.citations NOT IN ('[]', 'null'))
  AND x.ended_at >= ?1
  AND x.ended_at < ?2` + of + ofAgent + `
GROUP BY step
UNION ALL
SELECT 'answers_without_passage',
       width_bucket(x.ended_at, ?3::timestamptz[]) - 1 AS step,
       count(*)
FROM turns AS x
WHERE x.tenant_id = ?0
  AND x.status = 'completed'
  AND x.retrieval ->> 'model' <> ''
  AND NOT x.retrieval @> '{"chunks": [{"use": "passage"}]}'
  AND x.citations IN ('[]', 'null')
  AND x.ended_at >= ?1
  AND x.ended_at < ?2` + of + ofAgent + `
GROUP BY step`
}

// countToolCalls counts the failed calls of turns, as far as they are known to have been made; see
// sessions.ToolCall.Made. Runs by operators are no calls.
func countToolCalls(of, ofAgent string) string {
	return `
SELECT 'failed_tool_calls' AS kind,
       width_bucket(x.started_at, ?3::timestamptz[]) - 1 AS step,
       count(*) AS count
FROM workspaces AS w
JOIN tool_calls AS x ON x.tenant_id = w.tenant_id AND x.workspace_id = w.id
WHERE w.tenant_id = ?0
  AND x.session_id IS NOT NULL
  AND x.error_code <> ''
  AND x.error_code <> 'unknown'
  AND (x.attempts > 0 OR x.status_code <> 0 OR x.tool_id LIKE 'client:%' AND x.error_code <> 'timeout')
  AND x.started_at >= ?1
  AND x.started_at < ?2` + of + ofAgent + `
GROUP BY step`
}

// countDeliveries counts the deliveries that were given up by when they were made, as their meter
// counts all.
func countDeliveries(of string) string {
	return `
SELECT 'failed_deliveries' AS kind,
       width_bucket(x.created_at, ?3::timestamptz[]) - 1 AS step,
       count(*) AS count
FROM webhook_endpoints AS e
JOIN webhook_deliveries AS x ON x.tenant_id = e.tenant_id AND x.endpoint_id = e.id
WHERE e.tenant_id = ?0
  AND x.status = 'failed'
  AND x.test_body IS NULL
  AND x.created_at >= ?1
  AND x.created_at < ?2` + of + `
GROUP BY step`
}

// countSources counts sources by when their chunks were last made, and those that have failed by
// when they did.
func countSources(of string) string {
	return `
SELECT n.kind,
       width_bucket(n.at, ?3::timestamptz[]) - 1 AS step,
       count(*) AS count
FROM workspaces AS w
JOIN sources AS x ON x.tenant_id = w.tenant_id AND x.workspace_id = w.id
CROSS JOIN LATERAL (
    VALUES ('sources_ready', x.ready_at),
           ('failed_sources', CASE WHEN x.status = 'failed' THEN x.updated_at END)
) AS n (kind, at)
WHERE w.tenant_id = ?0
  AND n.at >= ?1
  AND n.at < ?2` + of + `
GROUP BY n.kind, step`
}

// count runs one statement for each table.
func (s *Service) count(ctx context.Context, p countParams) ([]tally, error) {
	of, ofAgent, ofSession := "", "", ""
	if p.WorkspaceID != "" {
		of = "\n  AND x.workspace_id = ?4"
	}
	if p.AgentID != "" {
		ofAgent = "\n  AND x.agent_id = ?5"
		ofSession = "\n  AND EXISTS (SELECT FROM sessions AS s WHERE s.tenant_id = ?0 AND s.id = x.session_id AND s.agent_id = ?5)"
	}
	statements := []string{countSessions(of, ofAgent), countTurns(of, ofSession), countToolCalls(of, ofAgent)}
	if p.AgentID == "" { // the others belong to no agent
		statements = append(statements, countDeliveries(of), countSources(of))
	}
	var all []tally
	first, last := p.Bounds[0], p.Bounds[len(p.Bounds)-1]
	for _, statement := range statements {
		var rows []tally
		err := s.DB.NewRaw(statement, p.TenantID, first, last, usage.TimeArray(p.Bounds), p.WorkspaceID, p.AgentID).Scan(ctx, &rows)
		if err != nil {
			return nil, fmt.Errorf("count what happened: %w", err)
		}
		all = append(all, rows...)
	}
	return all, nil
}
