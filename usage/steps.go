package usage

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// StepsParams says of which spans of time usage is read.
type StepsParams struct {
	Filter Filter
	// Bounds are ascending: step i lasts from Bounds[i] until Bounds[i+1].
	Bounds []time.Time
	// Days is the time zone of which the steps are days; nil: they are something else.
	Days *time.Location
}

// StepRow is what was used of a meter in a step.
type StepRow struct {
	// Step is the step's number, from 0.
	Step     int    `bun:"step"`
	Meter    Meter  `bun:"meter"`
	Quantity int64  `bun:"quantity"`
	Cost     string `bun:"cost"`
}

// Steps returns usage by steps, without kb_bytes. Days of the tenant's time zone are read from the
// sums, so that they are those of Days and Month. Other steps are read from the records that these
// sums were made of, which are kept for recordLife. Errors: Invalid invalid-request (records of so
// long ago are not kept).
func (s *Service) Steps(ctx context.Context, tenant workspaces.TenantID, p StepsParams) ([]StepRow, error) {
	zone, err := zoneOf(ctx, s.db, tenant)
	if err != nil {
		return nil, err
	}
	if p.Days != nil && p.Days.String() == zone.String() {
		return s.stepsOfDays(ctx, tenant, p)
	}
	if p.Bounds[0].Before(s.moment().Add(-recordLife)) {
		return nil, fault.InvalidField("since", "range",
			"Hours, and days of another time zone than the tenant's, are known of the last %d days. Ask for days in %s.",
			int(recordLife.Hours()/24), zone)
	}
	return s.stepsOfRecords(ctx, tenant, p)
}

// stepsOfDays reads steps that are days of the tenant's time zone.
func (s *Service) stepsOfDays(ctx context.Context, tenant workspaces.TenantID, p StepsParams) ([]StepRow, error) {
	starts := p.Bounds[:len(p.Bounds)-1]
	days := make([]string, len(starts))
	for i, at := range starts {
		days[i] = at.In(p.Days).Format(time.DateOnly)
	}
	q := s.db.NewSelect().TableExpr("usage_days AS d").
		ColumnExpr("array_position(?::date[], d.day) - 1 AS step", pgdialect.Array(days)).
		Where("d.day >= ?", days[0]).Where("d.day <= ?", days[len(days)-1])
	return sumSteps(ctx, q, tenant, p.Filter)
}

// stepsOfRecords reads any steps. Records that are not summed yet are left out, as in the sums.
func (s *Service) stepsOfRecords(ctx context.Context, tenant workspaces.TenantID, p StepsParams) ([]StepRow, error) {
	q := s.db.NewSelect().TableExpr("usage_records AS d").
		ColumnExpr("width_bucket(d.at, ?::timestamptz[]) - 1 AS step", TimeArray(p.Bounds)).Where("d.counted").
		Where("d.at >= ?", p.Bounds[0]).Where("d.at < ?", p.Bounds[len(p.Bounds)-1])
	return sumSteps(ctx, q, tenant, p.Filter)
}

// sumSteps completes and runs a query that has the step of each row.
func sumSteps(ctx context.Context, q *bun.SelectQuery, tenant workspaces.TenantID, f Filter) ([]StepRow, error) {
	var rows []StepRow
	err := q.ColumnExpr("d.meter, sum(d.quantity) AS quantity, trim_scale(coalesce(sum(d.cost), 0))::text AS cost").
		Where("d.tenant_id = ?", tenant).Where("d.meter <> ?", KBBytes).Apply(f.apply).
		GroupExpr("1, d.meter").OrderExpr("1, d.meter").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read usage by steps: %w", err)
	}
	return rows, nil
}

// TimeArray is times as the SQL of a timestamptz[].
func TimeArray(times []time.Time) any {
	texts := make([]string, len(times))
	for i, at := range times {
		texts[i] = at.UTC().Format(time.RFC3339Nano)
	}
	return pgdialect.Array(texts)
}

// Zone is the time zone in which a tenant's days begin.
func (s *Service) Zone(ctx context.Context, tenant workspaces.TenantID) (*time.Location, error) {
	return zoneOf(ctx, s.db, tenant)
}

// SumCosts adds costs, which are decimal numbers or empty.
func SumCosts(costs ...string) string {
	sum := new(big.Rat)
	for _, text := range costs {
		if cost, ok := new(big.Rat).SetString(text); ok {
			sum.Add(sum, cost)
		}
	}
	return decimal(sum)
}
