package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// planPercents are the parts of a plan's quota that are announced.
var planPercents = []int{50, 80, 100}

// crossing is a threshold of a month that was reached.
type crossing struct {
	bun.BaseModel `bun:"table:usage_crossings,alias:c"`

	TenantID workspaces.TenantID `bun:"tenant_id,pk"`
	Month    string              `bun:"month,pk"`
	Meter    Meter               `bun:"meter,pk"`
	// WorkspaceID is empty but for KBBytes.
	WorkspaceID workspaces.ID `bun:"workspace_id,pk"`
	// AlertID is empty for a threshold of the plan.
	AlertID AlertID `bun:"alert_id,pk"`
	Percent int     `bun:"percent,pk"`
	// Quota is what Percent is a part of.
	Quota     int64     `bun:"quota"`
	CrossedAt time.Time `bun:"crossed_at"`

	value int64
}

// announce appends usage.threshold for each threshold of a tenant that its sums have reached, once
// a month, and again when the quota was raised since.
func (s *Service) announce(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, sums []changed, now time.Time) error {
	plan, zone, err := s.planOf(ctx, tx, tenant)
	if err != nil {
		return err
	}
	alerts, err := selectAlerts(ctx, tx, tenant)
	if err != nil {
		return err
	}
	for _, sum := range sums {
		for _, one := range reached(sum, Limit(plan, sum.Meter), alerts) {
			one.CrossedAt = now
			isNew, err := upsertCrossing(ctx, tx, one)
			if err != nil {
				return err
			}
			if !isNew {
				continue
			}
			forecast := ""
			if sum.Meter != KBBytes { // what is stored does not begin anew each month
				forecast = Forecast{Value: one.value, Limit: one.Quota, Month: sum.Month}.ReachedOn(now.In(zone))
			}
			_, err = events.Append(ctx, tx, events.Event{
				TenantID: string(tenant), Type: events.UsageThreshold, Subject: string(sum.Meter), CreatedAt: now,
				Payload: &events.UsageThresholdData{
					Meter: string(sum.Meter), Period: sum.Month, Value: float64(one.value), Limit: float64(one.Quota),
					ThresholdPercent: float64(one.Percent), AlertId: string(one.AlertID), WorkspaceId: string(sum.WorkspaceID),
					LimitReachedOn: forecast,
				},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// upsertCrossing stores a crossing, and reports whether it is a new one: the first of its month, or
// the first since the quota was raised.
func upsertCrossing(ctx context.Context, tx bun.Tx, one crossing) (bool, error) {
	stored, err := postgres.Changed(tx.NewInsert().Model(&one).
		On("CONFLICT (tenant_id, month, meter, workspace_id, alert_id, percent) DO UPDATE").
		Set("quota = EXCLUDED.quota").Set("crossed_at = EXCLUDED.crossed_at").Where("c.quota < EXCLUDED.quota").Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("note a threshold of usage: %w", err)
	}
	return stored, nil
}

// reached returns the thresholds that a sum has reached. limit is the plan's; 0: none.
func reached(sum changed, limit int64, alerts []Alert) (all []crossing) {
	add := func(alert AlertID, percent int, limit int64) {
		if limit > 0 && sum.Quantity >= (limit*int64(percent)+99)/100 {
			all = append(all, crossing{
				TenantID: sum.TenantID, Month: sum.Month, Meter: sum.Meter, WorkspaceID: sum.WorkspaceID, AlertID: alert,
				Percent: percent, Quota: limit, value: sum.Quantity,
			})
		}
	}
	for _, percent := range planPercents {
		add("", percent, limit)
	}
	for _, alert := range alerts {
		switch {
		case alert.Meter != sum.Meter:
		case alert.Quantity > 0:
			add(alert.ID, 100, alert.Quantity)
		case !slices.Contains(planPercents, alert.Percent):
			add(alert.ID, alert.Percent, limit)
		}
	}
	return all
}

// Forecast says when a limit is reached if a month goes on as it has gone so far.
type Forecast struct {
	Value, Limit int64
	// Month is its first day, 2006-01-02.
	Month string
}

// ReachedOn returns the day, 2006-01-02, on which the limit is reached at the pace of the month up
// to now, which is in the tenant's time zone. It is empty when there is no limit, or the month is
// over before.
func (f Forecast) ReachedOn(now time.Time) string {
	begun, err := time.ParseInLocation(time.DateOnly, f.Month, now.Location())
	elapsed := now.Sub(begun)
	if err != nil || f.Limit <= 0 || f.Value <= 0 || elapsed <= 0 {
		return ""
	}
	if f.Value >= f.Limit {
		return now.Format(time.DateOnly)
	}
	on := begun.Add(time.Duration(float64(elapsed) * float64(f.Limit) / float64(f.Value)))
	if !on.Before(begun.AddDate(0, 1, 0)) || on.Before(begun) { // before: the duration was too large
		return ""
	}
	return on.Format(time.DateOnly)
}

// AtEnd returns what is used at the end of the month at the pace up to now.
func (f Forecast) AtEnd(now time.Time) int64 {
	begun, err := time.ParseInLocation(time.DateOnly, f.Month, now.Location())
	elapsed := now.Sub(begun)
	whole := begun.AddDate(0, 1, 0).Sub(begun)
	if err != nil || elapsed <= 0 || elapsed >= whole {
		return f.Value
	}
	return int64(float64(f.Value) * float64(whole) / float64(elapsed))
}
