package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
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
	// AlertID is empty for a threshold of the plan.
	AlertID   AlertID   `bun:"alert_id,pk"`
	Percent   int       `bun:"percent,pk"`
	CrossedAt time.Time `bun:"crossed_at"`

	limit, value int64
}

// announce appends usage.threshold for each threshold of a tenant that its sums have reached, once
// a month.
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
		if err := s.rearm(ctx, tx, sum, Limit(plan, sum.Meter)); err != nil {
			return err
		}
		for _, one := range reached(sum, Limit(plan, sum.Meter), alerts) {
			one.CrossedAt = now
			result, err := tx.NewInsert().Model(&one).On("CONFLICT DO NOTHING").Exec(ctx)
			if err != nil {
				return fmt.Errorf("note a threshold of usage: %w", err)
			}
			if n, err := result.RowsAffected(); err != nil || n == 0 {
				continue
			}
			forecast := ""
			if sum.Meter != KBBytes { // what is stored does not begin anew each month
				forecast = Forecast{Value: one.value, Limit: one.limit, Month: sum.Month}.ReachedOn(now.In(zone))
			}
			_, err = events.Append(ctx, tx, events.Event{
				TenantID: string(tenant), Type: events.UsageThreshold, Subject: string(sum.Meter), CreatedAt: now,
				Payload: &events.UsageThresholdData{
					Meter: string(sum.Meter), Period: sum.Month, Value: float64(one.value), Limit: float64(one.limit),
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

// rearm forgets the thresholds of a quota that a sum has not reached any more, because the quota
// was raised: they are announced again. What is stored goes up and down, and is announced once.
func (s *Service) rearm(ctx context.Context, tx bun.Tx, sum changed, limit int64) error {
	if sum.Meter == KBBytes || limit == 0 {
		return nil
	}
	_, err := tx.NewRaw(`
DELETE FROM usage_crossings AS c
WHERE c.tenant_id = ? AND c.month = ? AND c.meter = ? AND c.percent::numeric * ? > ?::numeric * 100
  AND (c.alert_id = '' OR EXISTS (SELECT FROM usage_alerts AS a WHERE a.tenant_id = c.tenant_id AND a.id = c.alert_id AND a.percent > 0))`,
		sum.TenantID, sum.Month, sum.Meter, limit, sum.Quantity).Exec(ctx)
	if err != nil {
		return fmt.Errorf("rearm thresholds of usage: %w", err)
	}
	return nil
}

// reached returns the thresholds that a sum has reached. limit is the plan's; 0: none.
func reached(sum changed, limit int64, alerts []Alert) (all []crossing) {
	add := func(alert AlertID, percent int, limit int64) {
		if limit > 0 && sum.Quantity >= (limit*int64(percent)+99)/100 {
			all = append(all, crossing{
				TenantID: sum.TenantID, Month: sum.Month, Meter: sum.Meter, AlertID: alert, Percent: percent, limit: limit, value: sum.Quantity,
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
