package workspaces

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/postgres"
)

// utc is the time zone of tenants that have set none.
const utc = "UTC"

// TenantChange has the new values of a tenant; nil keeps the present one.
type TenantChange struct {
	Name *string
	// Timezone is an IANA time zone. Empty means UTC.
	Timezone *string
	// StripeCustomerID is a customer at Stripe. Empty means none.
	StripeCustomerID *string
}

// CustomerFunc does what follows when a tenant has got or lost its customer, in the transaction
// that changed it.
type CustomerFunc func(ctx context.Context, tx bun.Tx, tenant TenantID, now time.Time) error

// OnCustomer sets the function that is called when UpdateTenant has changed the customer. Call it
// before the service is used.
func (s *Service) OnCustomer(fn CustomerFunc) { s.onCustomer = fn }

// UpdateTenant changes the caller's tenant. Errors: Forbidden auth-scope for a key restricted to
// one workspace, Invalid invalid-request (an empty name, an unknown time zone), Aborted conflict
// (another tenant has the customer).
func (s *Service) UpdateTenant(ctx context.Context, p Principal, change TenantChange) (Tenant, error) {
	if err := p.RequireWholeTenant(); err != nil {
		return Tenant{}, err
	}
	if err := change.check(); err != nil {
		return Tenant{}, err
	}
	if err := s.checkZone(ctx, change.Timezone); err != nil {
		return Tenant{}, err
	}
	now := s.timestamp()
	var tenant Tenant
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if err := s.updateTenantTx(ctx, tx, p.TenantID, change, now); err != nil {
			return err
		}
		tenant, err = selectTenant(ctx, tx, p.TenantID)
		return err
	})
	if postgres.IsUnique(err, "tenants_stripe_customer") {
		return Tenant{}, fault.New(fault.Conflict, "The Stripe customer is taken: it cannot be set here.")
	}
	return tenant, err
}

// check checks the values, and fills in what an empty time zone means.
func (c *TenantChange) check() error {
	if c.Name != nil && strings.TrimSpace(*c.Name) == "" {
		return errNoName()
	}
	if c.Timezone == nil {
		return nil
	}
	if *c.Timezone == "" {
		c.Timezone = new(utc)
	}
	if _, known := localtime.Zone(*c.Timezone); !known || !zoneName.MatchString(*c.Timezone) {
		return errZone()
	}
	return nil
}

// zoneName matches the names that are the same everywhere: not those of the machine's own zone
// ("Local", "localtime"), and not those of other clocks ("right/…").
var zoneName = regexp.MustCompile(`^(UTC|GMT|((Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/.+))$`)

// checkZone refuses a time zone that Postgres, which computes with it, does not know.
func (s *Service) checkZone(ctx context.Context, name *string) error {
	if name == nil {
		return nil
	}
	var now time.Time
	err := s.db.NewRaw("SELECT now() AT TIME ZONE ?", *name).Scan(ctx, &now)
	if postgres.IsInvalidParameter(err) {
		return errZone()
	}
	return err
}

func errZone() error {
	return fault.InvalidField("timezone", "unknown", "Use a name of the IANA time zone database, such as Europe/Berlin or UTC.")
}

func (s *Service) updateTenantTx(ctx context.Context, tx bun.Tx, id TenantID, change TenantChange, now time.Time) error {
	if change == (TenantChange{}) {
		return nil
	}
	if customer := change.StripeCustomerID; customer != nil && *customer != "" {
		if err := lockCustomer(ctx, tx, *customer); err != nil {
			return err
		}
	}
	if err := updateTenant(ctx, tx, id, change, now); err != nil {
		return err
	}
	if change.StripeCustomerID == nil || s.onCustomer == nil {
		return nil
	}
	return s.onCustomer(ctx, tx, id, now)
}

// lockCustomer keeps others from giving the customer to a tenant, and from looking whose it is,
// until tx ends. Take it before the lock of a tenant.
func lockCustomer(ctx context.Context, tx bun.Tx, customerID string) error {
	return postgres.LockTx(ctx, tx, "parlance.stripe_customer."+customerID)
}

// TenantOfCustomer returns the tenant that has a customer at Stripe; empty: none has, and none gets
// it until tx ends.
func (s *Service) TenantOfCustomer(ctx context.Context, tx bun.Tx, customerID string) (TenantID, error) {
	if err := lockCustomer(ctx, tx, customerID); err != nil {
		return "", err
	}
	return selectTenantOfCustomer(ctx, tx, customerID)
}

// LockTenant reads a tenant and keeps others from changing it until tx ends. Errors: NotFound.
func (s *Service) LockTenant(ctx context.Context, tx bun.Tx, id TenantID) (Tenant, error) {
	var tenant Tenant
	// Rows that refer to the tenant can be inserted meanwhile, which FOR UPDATE would keep waiting.
	err := tx.NewSelect().Model(&tenant).Where("t.id = ?", id).For("NO KEY UPDATE").Scan(ctx)
	return tenant, postgres.OrNoSuch(err, "tenant", string(id))
}

// SetCustomer gives a customer at Stripe to a tenant. The caller has asked TenantOfCustomer in the
// same transaction.
func (s *Service) SetCustomer(ctx context.Context, tx bun.Tx, id TenantID, customerID string, now time.Time) error {
	return updateTenant(ctx, tx, id, TenantChange{StripeCustomerID: &customerID}, now)
}

// SetPlanByBilling is SetPlan as a subscription asks for it, or the end of one.
func (s *Service) SetPlanByBilling(ctx context.Context, tx bun.Tx, id TenantID, plan string, now time.Time) error {
	_, err := tx.NewUpdate().Model((*Tenant)(nil)).Set("plan = ?", plan).Set("plan_by_billing = true").Set(planSince, plan, now).
		Set("updated_at = ?", now).
		Where("id = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("set the plan of a tenant: %w", err)
	}
	return nil
}

func updateTenant(ctx context.Context, tx bun.Tx, id TenantID, change TenantChange, now time.Time) error {
	update := tx.NewUpdate().Model((*Tenant)(nil)).Set("updated_at = ?", now).Where("id = ?", id)
	if change.Name != nil {
		update = update.Set("name = ?", *change.Name)
	}
	if change.Timezone != nil {
		update = update.Set("timezone = ?", *change.Timezone)
	}
	if change.StripeCustomerID != nil {
		update = update.Set("stripe_customer_id = nullif(?, '')", *change.StripeCustomerID)
	}
	if _, err := update.Exec(ctx); err != nil {
		return fmt.Errorf("change a tenant: %w", err)
	}
	return nil
}

func selectTenantOfCustomer(ctx context.Context, tx bun.Tx, customerID string) (TenantID, error) {
	var id TenantID
	err := tx.NewSelect().Model((*Tenant)(nil)).Comment(postgres.AllTenants("the payment provider names a customer only")).
		Column("id").Where("t.stripe_customer_id = ?", customerID).Scan(ctx, &id)
	if postgres.NoRows(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find the tenant of a customer: %w", err)
	}
	return id, nil
}

// FindTenant returns a tenant by its id or name; empty: the only one there is. Errors: NotFound,
// Invalid invalid-request when there are several of them.
func (s *Service) FindTenant(ctx context.Context, idOrName string) (Tenant, error) {
	found, err := selectTenants(ctx, s.db, idOrName)
	switch {
	case err != nil:
		return Tenant{}, err
	case len(found) == 0:
		return Tenant{}, fault.NoSuch("tenant", idOrName)
	case len(found) > 1 && idOrName == "":
		return Tenant{}, fault.New(fault.InvalidRequest, "There are several tenants: name one of them.")
	case len(found) > 1:
		return Tenant{}, fault.New(fault.InvalidRequest, "There are several tenants %q: name one by its id.", idOrName)
	}
	return found[0], nil
}
