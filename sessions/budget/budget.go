// Package budget compares what conversations with an agent have used with the budgets of the agent.
//
//	a turn begins     ──► Look ──► nearly used up: a cheaper model answers; used up: the session ends
//	a session is made ──► Refusal ──► used up: 402
//
// Sessions have their tokens and cost in their row; those of an agent's month are in the sums of
// package usage, which are a few seconds old.
package budget

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// userWindow is how long a session counts for its user's budget.
const userWindow = 24 * time.Hour

// Spender is whose budgets are looked at.
type Spender struct {
	Ref     workspaces.Ref
	AgentID agents.ID
	UserID  string
	// SessionID is empty for a session that is not there yet.
	SessionID string
}

// Use is how far a limit of a budget is used.
type Use struct {
	agents.Budget

	// Measure is tokens or cost.
	Measure     string
	Used, Limit float64
}

// Percent is the used share of the limit.
func (u Use) Percent() float64 { return u.Used / u.Limit * 100 }

// UsedUp reports whether nothing is left.
func (u Use) UsedUp() bool { return u.Used >= u.Limit }

// Rule names the limit, such as "user:tokens".
func (u Use) Rule() string { return u.Per + ":" + u.Measure }

// selectSpent has a row for each budget that is asked for.
const selectSpent = `
	SELECT 'session' AS per, s.input_tokens + s.output_tokens AS tokens, coalesce(s.cost, 0)::double precision AS cost
	FROM sessions AS s
	WHERE s.tenant_id = ?0 AND s.id = ?1
	UNION ALL
	SELECT 'user', coalesce(sum(s.input_tokens + s.output_tokens), 0), coalesce(sum(s.cost), 0)::double precision
	FROM sessions AS s
	WHERE ?2 AND s.tenant_id = ?0 AND s.workspace_id = ?3 AND s.agent_id = ?4 AND s.user_id = ?5 AND s.created_at > ?6
	UNION ALL
	SELECT 'agent',
	       coalesce(sum(d.quantity) FILTER (WHERE d.meter IN ('input_tokens', 'output_tokens')), 0),
	       coalesce(sum(d.cost), 0)::double precision
	FROM tenants AS t
	JOIN usage_days AS d ON d.tenant_id = t.id AND d.agent_id = ?4 AND d.agent_id <> ''
	    AND d.day >= date_trunc('month', ?7::timestamptz AT TIME ZONE t.timezone)::date
	WHERE ?8 AND t.id = ?0`

// Look returns the limit of which the greatest share is used; nil: there are no budgets.
func Look(ctx context.Context, db bun.IDB, of Spender, budgets []agents.Budget, now time.Time) (*Use, error) {
	if len(budgets) == 0 {
		return nil, nil //nolint:nilnil // nil is the documented value
	}
	asked := map[string]bool{}
	for _, b := range budgets {
		asked[b.Per] = true
	}
	var rows []struct {
		Per    string  `bun:"per"`
		Tokens float64 `bun:"tokens"`
		Cost   float64 `bun:"cost"`
	}
	err := db.NewRaw(selectSpent, of.Ref.TenantID, of.SessionID, asked[agents.PerUser], of.Ref.ID, of.AgentID, of.UserID,
		now.Add(-userWindow), now, asked[agents.PerAgent]).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read what was spent: %w", err)
	}
	var most *Use
	for _, b := range budgets {
		for _, row := range rows {
			if row.Per != b.Per {
				continue
			}
			for _, use := range []Use{{b, "tokens", row.Tokens, float64(b.MaxTokens)}, {b, "cost", row.Cost, b.MaxCost}} {
				if use.Limit > 0 && (most == nil || use.Percent() > most.Percent()) {
					most = &use
				}
			}
		}
	}
	return most, nil
}

// Refusal is why no session is made: a budget of the user or of the agent is used up. nil: there is
// no reason. Errors: QuotaExceeded quota-exceeded-budget, and those of Postgres.
func Refusal(ctx context.Context, db bun.IDB, of Spender, budgets []agents.Budget, now time.Time) error {
	most, err := Look(ctx, db, of, budgets, now)
	if err != nil || most == nil || !most.UsedUp() {
		return err
	}
	refusal := fault.New(fault.QuotaBudget,
		"The agent's budget per %s is used up: %g of %g %s %s. Raise the budget, or begin a session later.",
		most.Per, most.Used, most.Limit, most.Measure, spans[most.Per])
	refusal.Meta = map[string]string{
		"per": most.Per, "measure": most.Measure,
		"limit": strconv.FormatFloat(most.Limit, 'f', -1, 64), "used": strconv.FormatFloat(most.Used, 'f', -1, 64),
	}
	return refusal
}

// spans are the times of budgets in words.
var spans = map[string]string{agents.PerUser: "in sessions of the last 24 hours", agents.PerAgent: "in this month"}
