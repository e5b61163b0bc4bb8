package main

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/figures"
	metered "parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

const (
	// busyTurns is how many turns the busy tenant takes in the month, busyAgents by how many agents.
	busyTurns, busyAgents = 300_000, 50
	// monthsARound are read one after the other in a round.
	monthsARound = 50
)

// fillMonth stores what turns of the month have left: records that were summed, and the sums.
const fillMonth = `
WITH turns AS (
    SELECT n, 'agt_' || n %% %[2]d AS agent_id, date_trunc('month', now()) + (n %% 28) * interval '1 day' AS at
    FROM generate_series(1, %[1]d) AS n
),
recorded AS (
    INSERT INTO usage_records (tenant_id, workspace_id, agent_id, source, meter, model, quantity, cost, at, counted)
    SELECT ?0, ?1, agent_id, 'turn_' || n, meter, '', 100, 0.01, at, true
    FROM turns
    CROSS JOIN unnest(ARRAY['turns', 'input_tokens', 'output_tokens']) AS meter
    RETURNING agent_id, meter, quantity, cost, at
),
days AS (
    INSERT INTO usage_days (tenant_id, day, workspace_id, agent_id, meter, model, quantity, cost)
    SELECT ?0, at::date, ?1, agent_id, meter, '', sum(quantity), sum(cost)
    FROM recorded
    GROUP BY at::date, agent_id, meter
)
INSERT INTO usage_months (tenant_id, month, meter, quantity, cost)
SELECT ?0, date_trunc('month', now())::date, meter, sum(quantity), sum(cost)
FROM recorded
GROUP BY meter`

// months measures reading a busy tenant's month, as GET /v1/usage does, in this process, and beside
// it adding up the same month from what its turns have left.
func months(ctx context.Context, w *world) ([]figures.Row, error) {
	db, err := postgres.Open(ctx, postgres.Config{URL: w.Stack.DatabaseURL})
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // the databases end
	tenancy := workspaces.New(workspaces.Deps{DB: db})
	made, err := tenancy.CreateTenant(ctx, "busy", "enterprise")
	if err != nil {
		return nil, err
	}
	fill := fmt.Sprintf(fillMonth, busyTurns, busyAgents)
	if _, err := db.NewRaw(fill, made.Tenant.ID, made.Workspace.ID).Exec(ctx); err != nil {
		return nil, fmt.Errorf("filling a month: %w", err)
	}
	if _, err := db.NewRaw("ANALYZE usage_records, usage_days, usage_months").Exec(ctx); err != nil {
		return nil, fmt.Errorf("analysing: %w", err)
	}
	service := metered.New(metered.Deps{DB: db, Workspaces: tenancy, Now: time.Now})
	read := func(of metered.Filter) func() error {
		return func() error {
			month, err := service.Month(ctx, made.Tenant.ID, "", of)
			if err == nil && month.Sums[1].Quantity == 0 {
				err = fmt.Errorf("the month is empty: %+v", month.Sums)
			}
			return err
		}
	}
	add := func() error {
		var total int64
		return db.NewRaw("SELECT sum(quantity) FROM usage_records WHERE tenant_id = ? AND at >= date_trunc('month', now())",
			made.Tenant.ID).Scan(ctx, &total)
	}
	var whole, ofAgent, added []float64
	for range rounds {
		for _, one := range []struct {
			into *[]float64
			n    int
			do   func() error
		}{{&whole, monthsARound, read(metered.Filter{})}, {&ofAgent, monthsARound, read(metered.Filter{AgentID: "agt_7"})}, {&added, 2, add}} {
			times, err := each(one.n, one.do)
			if err != nil {
				return nil, err
			}
			*one.into = append(*one.into, millis(percentile(times, 50)))
		}
	}
	note := fmt.Sprintf("a month of %d turns of %d agents; the floor adds up what the turns have left", busyTurns, busyAgents)
	row := func(name string, values []float64) figures.Row {
		value := figures.Round(figures.Median(values))
		return figures.Row{Name: name, Value: value, Unit: "ms", Better: "lower", Note: note}.Against(figures.Median(added))
	}
	return []figures.Row{
		row("Month of a busy tenant", whole), row("Month of one of its agents", ofAgent),
	}, nil
}
