// Package latency keeps how long spoken answers took to begin, and tells how long answers of an
// agent took, stage by stage.
//
//	first sound was sent ──► Record ──► turns.speech
//	turns of an agent's sessions ──► Service.Of ──► percentiles
//
// The percentiles are computed from the turns when they are asked for; nothing else is stored.
package latency

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Record notes how long the beginning of a turn's answer took. A turn that is not stored is left
// out.
func Record(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, turn sessions.TurnID, speech sessions.SpeechMetrics) error {
	_, err := db.NewUpdate().Model(&sessions.Turn{Speech: &speech}).Column("speech").
		Where("t.tenant_id = ?", tenant).Where("t.id = ?", turn).Exec(ctx)
	if err != nil {
		return fmt.Errorf("noting how long an answer took: %w", err)
	}
	return nil
}

// Service tells how long answers took.
type Service struct {
	DB     *postgres.DB
	Agents *agents.Service
	// Now is the clock.
	Now func() time.Time
}

const (
	// period is how far back answers are looked at when the caller does not say.
	period = 7 * 24 * time.Hour
	// maxAnswers bounds how many are looked at.
	maxAnswers = 10_000
)

// Params say which answers are looked at.
type Params struct {
	AgentID agents.ID
	// Since and Until bound when their sessions were created: from Since on, before Until. Zero: the
	// last seven days, and no end.
	Since, Until time.Time
	// Version is that of the agent; 0: all.
	Version int
}

// Stage is how long one stage took, in milliseconds.
type Stage struct {
	// Name is that of LatencyStage in agents.proto.
	Name string `bun:"stage"`
	// Answers is how many had it.
	Answers int `bun:"answers"`
	MinMS   int `bun:"min"`
	P50MS   int `bun:"p50"`
	P90MS   int `bun:"p90"`
	P95MS   int `bun:"p95"`
	P99MS   int `bun:"p99"`
	MaxMS   int `bun:"max"`
}

// Latency is how long answers took.
type Latency struct {
	// Answers is how many were looked at.
	Answers int
	// Stages are those that any of them had, in the order of time.
	Stages []Stage
}

// selectStages has a row without a stage first, which counts the answers.
const selectStages = `
	WITH answers AS (
	    SELECT t.metrics, t.speech, t.retrieval
	    FROM sessions AS s
	    JOIN turns AS t ON t.tenant_id = s.tenant_id AND t.session_id = s.id
	    WHERE s.tenant_id = ? AND s.workspace_id = ? AND s.agent_id = ? AND s.created_at >= ? AND s.created_at < ?
	      AND (? = 0 OR s.agent_version = ? AND s.draft_revision = 0)
	      AND t.status = 'completed' AND t.model <> ''
	    ORDER BY s.created_at DESC, s.id, t.index DESC
	    LIMIT ?
	), times AS (
	    SELECT place, stage, ms
	    FROM answers,
	    LATERAL (VALUES
	        (0, '', 0),
	        (1, 'endpointing', (speech->>'endpointing_ms')::int),
	        (2, 'transcript', (speech->>'transcript_ms')::int),
	        (3, 'first_token', (speech->>'first_token_ms')::int),
	        (4, 'first_audio', (speech->>'first_audio_ms')::int),
	        (5, 'retrieval', CASE WHEN retrieval IS NOT NULL THEN (metrics->>'retrieval_ms')::int END),
	        (6, 'model_first_token', nullif((metrics->>'model_first_token_ms')::int, 0)),
	        (7, 'tools', CASE WHEN (metrics->>'tool_rounds')::int > 0 THEN (metrics->>'tools_ms')::int END),
	        (8, 'total', (metrics->>'total_ms')::int)
	    ) AS of_answer (place, stage, ms)
	    WHERE ms IS NOT NULL
	)
	SELECT stage, count(*) AS answers, min(ms) AS min, max(ms) AS max,
	       percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) AS p50,
	       percentile_disc(0.9) WITHIN GROUP (ORDER BY ms) AS p90,
	       percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) AS p95,
	       percentile_disc(0.99) WITHIN GROUP (ORDER BY ms) AS p99
	FROM times
	GROUP BY place, stage
	ORDER BY place`

// Of tells how long answers of an agent took. Errors: NotFound (the agent).
func (s *Service) Of(ctx context.Context, ref workspaces.Ref, p Params) (Latency, error) {
	if _, err := s.Agents.Get(ctx, ref, p.AgentID); err != nil {
		return Latency{}, err
	}
	if p.Since.IsZero() {
		p.Since = s.Now().Add(-period)
	}
	if p.Until.IsZero() {
		p.Until = s.Now().Add(time.Minute) // what other nodes' clocks say
	}
	var stages []Stage
	err := s.DB.NewRaw(selectStages, ref.TenantID, ref.ID, p.AgentID, p.Since, p.Until, p.Version, p.Version, maxAnswers).Scan(ctx, &stages)
	if err != nil {
		return Latency{}, fmt.Errorf("computing how long answers took: %w", err)
	}
	if len(stages) == 0 {
		return Latency{}, nil
	}
	return Latency{Answers: stages[0].Answers, Stages: stages[1:]}, nil
}
