package webhooks

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// healthWindow is what the numbers of Health are of. Source: issue 7, operator's view.
	healthWindow = 24 * time.Hour
	// healthSample bounds what one look at an endpoint reads.
	healthSample = 10_000
	// warnAt is the share of the failures in a row which disable an endpoint that health warns of, however long
	// the time without a success must be: half-way of both, as decisions has it, is days after the last success.
	warnAt = 0.5
)

// HealthState is an endpoint's health in a word.
type HealthState string

// The states of an endpoint's health.
const (
	HealthOK HealthState = "ok"
	// HealthWarning: half of the failures in a row that disable it, or more.
	HealthWarning  HealthState = "warning"
	HealthDisabled HealthState = "disabled"
)

// Outlook is how near an endpoint is to being disabled; its row alone says it.
type Outlook struct {
	State HealthState
	// Progress is 0 after a success, 1 when the endpoint is disabled or its next failure disables it.
	Progress float64
	// NotBefore is when failures begin to disable it; zero while it is disabled.
	NotBefore time.Time
}

// Health is how an endpoint does.
type Health struct {
	Endpoint Endpoint
	Outlook
	// DisableFailures is how many failures in a row it takes.
	DisableFailures int
	// Since is where the window of the other numbers begins.
	Since time.Time
	// Attempts counts those that ended, tests left out.
	Attempts  int
	Succeeded int
	// P50MS and P95MS are of all attempts, time-outs included; 0 without attempts.
	P50MS float64
	P95MS float64
	// Pending and Failed count events that wait, and those of the window that were given up, to healthSample.
	Pending int
	Failed  int
}

// Outlook says how near the endpoint is to being disabled, by the rule of gaveUp: enough failures
// in a row, and long enough without a success; the farther off of the two is what counts.
func (s *Service) Outlook(e Endpoint) Outlook { return s.policy.outlook(e, s.moment()) }

func (p Policy) outlook(e Endpoint, now time.Time) Outlook {
	if e.Status == Disabled {
		return Outlook{State: HealthDisabled, Progress: 1}
	}
	from, wait := e.LastSuccessAt, p.DisableWindow
	if from.IsZero() {
		from, wait = e.CreatedAt, p.DisableMinAge
	}
	failures := float64(e.ConsecutiveFailures) / float64(p.DisableFailures)
	o := Outlook{State: HealthOK, Progress: min(failures, float64(now.Sub(from))/float64(wait)), NotBefore: from.Add(wait)}
	o.Progress = max(0, min(o.Progress, 1))
	if failures >= warnAt {
		o.State = HealthWarning
	}
	return o
}

const healthSQL = `
WITH newest AS (
    SELECT a.status,
           a.duration_ms,
           a.started_at
    FROM webhook_attempts AS a
    JOIN webhook_deliveries AS d ON d.tenant_id = a.tenant_id AND d.id = a.delivery_id
    WHERE a.tenant_id = ?
      AND a.endpoint_id = ?
      AND a.started_at >= ?
      AND a.status IN ('succeeded', 'failed')
      AND d.test_body IS NULL
    ORDER BY a.started_at DESC
    LIMIT ?
), waiting AS (
    SELECT 1
    FROM webhook_deliveries AS d
    WHERE d.tenant_id = ?
      AND d.endpoint_id = ?
      AND d.status = 'pending'
    LIMIT ?
), given_up AS (
    SELECT 1
    FROM webhook_deliveries AS d
    WHERE d.tenant_id = ?
      AND d.endpoint_id = ?
      AND d.status = 'failed'
      AND d.test_body IS NULL
      AND d.created_at >= ?
    LIMIT ?
)
SELECT count(*) AS attempts,
       count(*) FILTER (WHERE status = 'succeeded') AS succeeded,
       coalesce(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms)::numeric, 1), 0)::float8 AS p50_ms,
       coalesce(round(percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms)::numeric, 1), 0)::float8 AS p95_ms,
       min(started_at) AS oldest,
       (SELECT count(*) FROM waiting) AS pending,
       (SELECT count(*) FROM given_up) AS failed
FROM newest`

// Health reads how an endpoint does. Errors: NotFound.
func (s *Service) Health(ctx context.Context, ref workspaces.Ref, id EndpointID) (Health, error) {
	endpoint, err := selectEndpoint(ctx, s.db, ref, id)
	if err != nil {
		return Health{}, err
	}
	since := s.moment().Add(-healthWindow)
	var row struct {
		Attempts  int       `bun:"attempts"`
		Succeeded int       `bun:"succeeded"`
		P50MS     float64   `bun:"p50_ms"`
		P95MS     float64   `bun:"p95_ms"`
		Oldest    time.Time `bun:"oldest,nullzero"`
		Pending   int       `bun:"pending"`
		Failed    int       `bun:"failed"`
	}
	err = s.db.NewRaw(healthSQL,
		endpoint.TenantID, endpoint.ID, since, healthSample,
		endpoint.TenantID, endpoint.ID, healthSample,
		endpoint.TenantID, endpoint.ID, since, healthSample).Scan(ctx, &row)
	if err != nil {
		return Health{}, postgres.MapError(fmt.Errorf("read the health of a webhook endpoint: %w", err))
	}
	if row.Attempts == healthSample {
		since = row.Oldest
	}
	return Health{
		Endpoint: endpoint, Outlook: s.Outlook(endpoint), DisableFailures: s.policy.DisableFailures, Since: since,
		Attempts: row.Attempts, Succeeded: row.Succeeded, P50MS: row.P50MS, P95MS: row.P95MS, Pending: row.Pending, Failed: row.Failed,
	}, nil
}
