package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// MaxAlerts bounds the alerts of a tenant.
const MaxAlerts = 100

// maxPercent bounds the part of a quota that an alert is at.
const maxPercent = 1000

// AlertID names an alert (ual_…).
type AlertID string

// Alert is an operator's own threshold.
type Alert struct {
	bun.BaseModel `bun:"table:usage_alerts,alias:a"`

	ID       AlertID             `bun:"id,pk"`
	TenantID workspaces.TenantID `bun:"tenant_id"`
	Meter    Meter               `bun:"meter"`
	// Quantity is how much of the meter in a month; 0: Percent says it.
	Quantity int64 `bun:"quantity"`
	// Percent is the part of the plan's quota; 0: Quantity says it.
	Percent   int       `bun:"percent"`
	CreatedAt time.Time `bun:"created_at"`
}

// CreateAlert stores an alert. Errors: Invalid invalid-request, Precondition usage-alerts-full.
func (s *Service) CreateAlert(ctx context.Context, tenant workspaces.TenantID, alert Alert) (Alert, error) {
	var fields []fault.Field
	if !alert.Meter.Known() || alert.Meter == InputTokens || alert.Meter == OutputTokens {
		fields = append(fields, fault.Field{Field: "meter", Code: "unknown", Message: "Alerts are at one of " + meterNames(alertable()) + "."})
	}
	if (alert.Quantity > 0) == (alert.Percent > 0) || alert.Quantity < 0 || alert.Percent < 0 || alert.Percent > maxPercent {
		fields = append(fields, fault.Field{
			Field: "quantity", Code: "one_of", Message: "Give either a quantity above 0, or a percent of the plan's quota, 1 to 1000.",
		})
	}
	if len(fields) > 0 {
		return Alert{}, fault.InvalidFields(fields...)
	}
	alert.ID, alert.TenantID, alert.CreatedAt = AlertID(idgen.In(ctx, idgen.UsageAlert)), tenant, s.moment()
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := postgres.LockTx(ctx, tx, "parlance.usage_alerts."+string(tenant)); err != nil {
			return err
		}
		n, err := tx.NewSelect().Model((*Alert)(nil)).Where("a.tenant_id = ?", tenant).Count(ctx)
		if err != nil {
			return fmt.Errorf("count alerts: %w", err)
		}
		if n >= MaxAlerts {
			return fault.New(fault.UsageAlertsFull, "A tenant can have at most %d alerts; delete some that are not needed.", MaxAlerts)
		}
		if _, err := tx.NewInsert().Model(&alert).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
			return fmt.Errorf("store alert: %w", err)
		}
		return nil
	})
	return alert, err
}

// Alerts lists the alerts of a tenant, oldest first.
func (s *Service) Alerts(ctx context.Context, tenant workspaces.TenantID) ([]Alert, error) {
	return selectAlerts(ctx, s.db, tenant)
}

// DeleteAlert deletes an alert. Errors: NotFound.
func (s *Service) DeleteAlert(ctx context.Context, tenant workspaces.TenantID, id AlertID) error {
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := postgres.Changed(tx.NewDelete().Model((*Alert)(nil)).Where("a.tenant_id = ?", tenant).Where("a.id = ?", id).Exec(ctx))
		if err != nil {
			return fmt.Errorf("delete alert: %w", err)
		}
		if !deleted {
			return s.workspaces.Gone(ctx, tx, tenant, "usage alert", string(id))
		}
		return s.workspaces.BuryAll(ctx, tx, tenant, []string{string(id)}, s.moment())
	})
}

// alertable are the meters that an alert may be at.
func alertable() []Meter {
	return slices.DeleteFunc(slices.Clone(Meters), func(m Meter) bool { return m == InputTokens || m == OutputTokens })
}

func selectAlerts(ctx context.Context, db bun.IDB, tenant workspaces.TenantID) ([]Alert, error) {
	var alerts []Alert
	if err := db.NewSelect().Model(&alerts).Where("a.tenant_id = ?", tenant).OrderExpr("a.created_at, a.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	return alerts, nil
}
