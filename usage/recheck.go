package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// recheckAtOnce bounds the tenants whose sums are read at a time.
const recheckAtOnce = 500

// recheckSQL reads the sums of the present month of some tenants, at least one row of each.
// Parameters: the time, the tenant after whom they are, the bound.
const recheckSQL = `
WITH page AS (
    SELECT t.id,
           t.plan,
           date_trunc('month', ?::timestamptz AT TIME ZONE t.timezone)::date AS month
    FROM tenants AS t
    WHERE t.id > ?
    ORDER BY t.id
    LIMIT ?
)
SELECT page.id AS tenant_id,
       page.plan,
       page.month::text AS month,
       coalesce(s.meter, '') AS meter,
       coalesce(s.workspace_id, '') AS workspace_id,
       coalesce(s.quantity, 0) AS quantity,
       EXISTS (SELECT FROM usage_alerts AS a WHERE a.tenant_id = page.id) AS has_alerts
FROM page
LEFT JOIN LATERAL (
    SELECT m.meter, '' AS workspace_id, m.quantity
    FROM usage_months AS m
    WHERE m.tenant_id = page.id AND m.month = page.month
    UNION ALL
    SELECT 'kb_bytes', w.id, w.kb_used_bytes
    FROM workspaces AS w
    WHERE w.tenant_id = page.id
) AS s ON true
ORDER BY page.id`

// recheck announces thresholds that sums have reached without growing: because a plan has become
// smaller, an alert is new, or what is stored is so in a new month.
func (s *Service) recheck(ctx context.Context, now time.Time) error {
	statement := postgres.RawForAllTenants("the usage of all tenants is compared with their quotas", recheckSQL)
	var failures []error
	for last := workspaces.TenantID(""); ctx.Err() == nil; {
		var rows []struct {
			changed
			Plan      string `bun:"plan"`
			HasAlerts bool   `bun:"has_alerts"`
		}
		if err := s.db.NewRaw(statement, now, last, recheckAtOnce).Scan(ctx, &rows); err != nil {
			return fmt.Errorf("read the usage of all tenants: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		byTenant := map[workspaces.TenantID][]changed{}
		for _, row := range rows {
			limit := Limit(s.workspaces.PlanNamed(row.Plan), row.Meter)
			if row.HasAlerts || len(reached(row.changed, limit, nil)) > 0 {
				byTenant[row.TenantID] = append(byTenant[row.TenantID], row.changed)
			}
		}
		for tenant, sums := range byTenant {
			err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
				if err := postgres.LockTx(ctx, tx, foldLock); err != nil {
					return err
				}
				return s.announce(ctx, tx, tenant, sums, now)
			})
			if err != nil {
				failures = append(failures, err)
			}
		}
		last = rows[len(rows)-1].TenantID
	}
	return errors.Join(failures...)
}
