package insights_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// fillSQL makes sessions with one turn each, spread over the 30 days before a time, of ten agents,
// of which half have knowledge, and what the turns have used. ?0 is the tenant, ?1 the workspace,
// ?2 the number of sessions, ?3 the time.
var fillSQL = []string{
	`INSERT INTO sessions (id, tenant_id, workspace_id, agent_id, agent_version, user_id, modality, status, config, overrides,
    voice_stack_override, dynamic_variables, variables_hash, token_expires_at, max_duration_seconds, idle_timeout_seconds, created_at,
    started_at, last_activity_at, ended_at)
SELECT 'ses_' || ?0 || n, ?0, ?1, 'agt_' || n % 10, 1, 'u' || n % 1000, 'text', CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'completed' END,
    jsonb_build_object('instructions', repeat(md5(n::text), 20)), '{}', '{}', '{}', '',
    at, 3600, 60, at, at, at, at + interval '1 minute'
FROM (SELECT n, ?3::timestamptz - (?2 - n) * interval '30 days' / ?2 AS at FROM generate_series(1, ?2) AS n) AS s`,
	`INSERT INTO turns (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations, metrics,
    started_at, ended_at, retrieval, receipt)
SELECT 'trn_' || ?0 || n, ?0, ?1, 'ses_' || ?0 || n, 0, 'u', 'a', CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'completed' END,
    json_build_array(repeat(md5(n::text), 30)),
    CASE WHEN n % 10 < 5 OR n % 7 = 0 THEN '[]' ELSE '[{"source_id": "s"}]'::jsonb END, '{}', at, at,
    jsonb_build_object('ranking', 'hybrid', 'model', CASE WHEN n % 10 < 5 THEN '' ELSE 'm' END, 'chunks', jsonb_build_array(
        jsonb_build_object('chunk_id', md5(n::text), 'use', CASE WHEN n % 7 = 0 THEN 'below_floor' ELSE 'passage' END))),
    json_build_object('model_calls', repeat(md5(n::text), 30))
FROM (SELECT n, ?3::timestamptz - (?2 - n) * interval '30 days' / ?2 AS at FROM generate_series(1, ?2) AS n) AS s`,
	`INSERT INTO usage_records (tenant_id, workspace_id, agent_id, source, meter, model, quantity, cost, at)
SELECT ?0, ?1, 'agt_' || n % 10, 'trn_' || n, m, CASE WHEN m = 'turns' THEN '' ELSE 'openai/gpt' END, 1, 0.001, at
FROM (SELECT n, ?3::timestamptz - (?2 - n) * interval '30 days' / ?2 AS at FROM generate_series(1, ?2) AS n) AS s,
    unnest(ARRAY['turns', 'input_tokens', 'output_tokens']) AS m`,
}

// BenchmarkActivity counts 30 days of a tenant that has had 200,000 sessions and turns in them.
func BenchmarkActivity(b *testing.B) {
	db, now := pgtest.Open(b), time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	tenancy := workspaces.New(workspaces.Deps{DB: db, Plans: workspaces.Plans{"p": {Name: "p"}}})
	used := usage.New(usage.Deps{DB: db, Workspaces: tenancy, Now: func() time.Time { return now }})
	service := insights.New(insights.Deps{DB: db, Workspaces: tenancy, Usage: used, Currency: "EUR", Now: func() time.Time { return now }})
	var caller workspaces.Principal
	var workspace workspaces.ID
	for range 2 { // the first has as much, and must not be read
		made, err := tenancy.CreateTenant(b.Context(), "T", "p")
		if err != nil {
			b.Fatal(err)
		}
		caller.TenantID, workspace = made.Tenant.ID, made.Workspace.ID
		for _, statement := range fillSQL {
			raw := postgres.RawForAllTenants("a test fills the tables", statement)
			if _, err := db.NewRaw(raw, made.Tenant.ID, made.Workspace.ID, 200_000, now).Exec(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := used.Fold(b.Context(), now); err != nil {
		b.Fatal(err)
	}
	if _, err := db.ExecContext(b.Context(), "VACUUM ANALYZE"); err != nil {
		b.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		params insights.ActivityParams
	}{
		{"Days", insights.ActivityParams{Since: now.AddDate(0, 0, -30)}},
		{"DaysOfAgent", insights.ActivityParams{Since: now.AddDate(0, 0, -30), AgentID: "agt_7"}},
		{"ThreeDaysByHour", insights.ActivityParams{Since: now.AddDate(0, 0, -3)}},
		{"DaysOfWorkspace", insights.ActivityParams{Since: now.AddDate(0, 0, -30), WorkspaceID: workspace}},
		{"Hours", insights.ActivityParams{Since: now.AddDate(0, 0, -30), Step: insights.Hour}},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := service.Activity(b.Context(), caller, row.params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
