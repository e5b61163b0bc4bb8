package webhooks

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// healthWindow is the time that the numbers of Health cover.
	healthWindow = 24 * time.Hour
	// healthSample bounds the rows that Health reads.
	healthSample = 10_000
	// warnAt is the part of Policy.DisableFailures at which Health warns. It does not wait for half
	// of the time without a success too, which is days.
	warnAt = 0.5
)

// HealthState sums up an endpoint's health.
type HealthState string

// The states of an endpoint's health.
const (
	HealthOK HealthState = "ok"
	// HealthWarning: at least half of the failures in a row that disable the endpoint.
	HealthWarning  HealthState = "warning"
	HealthDisabled HealthState = "disabled"
)

// Outlook says how near an endpoint is to being disabled. It needs the endpoint's row only.
type Outlook struct {
	State HealthState
	// Progress is 0 after a success, 1 when the endpoint is disabled or its next failure disables
	// it.
	Progress float64
	// NotBefore is the earliest time at which failures disable it; zero while it is disabled.
	NotBefore time.Time
}

// Health is the health of an endpoint.
type Health struct {
	Endpoint Endpoint
	Outlook
	// DisableFailures is how many failures in a row disable it.
	DisableFailures int
	// Since is the beginning of the time that the other numbers cover.
	Since time.Time
	HealthNumbers
}

// HealthNumbers are what the newest attempts of an endpoint came to.
type HealthNumbers struct {
	// Attempts counts attempts that ended, without tests.
	Attempts  int `bun:"attempts"`
	Succeeded int `bun:"succeeded"`
	// P50MS and P95MS are of all attempts, time-outs included; 0 without attempts.
	P50MS float64 `bun:"p50_ms"`
	P95MS float64 `bun:"p95_ms"`
	// Pending counts pending deliveries, Failed those since Health.Since that failed; each up to
	// healthSample.
	Pending int `bun:"pending"`
	Failed  int `bun:"failed"`
}

// Outlook applies the rule of Policy.gaveUp: enough failures in a row, and long enough without a
// success. Progress is the smaller of the two.
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
), failed AS (
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
       (SELECT count(*) FROM failed) AS failed
FROM newest`

// Health reads the health of an endpoint. Errors: NotFound.
func (s *Service) Health(ctx context.Context, ref workspaces.Ref, id EndpointID) (Health, error) {
	endpoint, err := selectEndpoint(ctx, s.db, ref, id)
	if err != nil {
		return Health{}, err
	}
	since := s.moment().Add(-healthWindow)
	var row struct {
		HealthNumbers
		Oldest time.Time `bun:"oldest,nullzero"`
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
		HealthNumbers: row.HealthNumbers,
	}, nil
}
