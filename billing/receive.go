package billing

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

// Receive takes a webhook request of Stripe: the value of its header stripe.SignatureHeader, and
// its body as it came. When it returns nil the event is stored with everything that follows from
// it, or was stored before, or is of a type that is not read. Errors: Precondition
// provider-not-configured, Invalid signature-invalid, Invalid invalid-request (no event, or an
// event of the wrong mode), and those of Postgres, after which Stripe sends it again.
func (s *Service) Receive(ctx context.Context, signature string, body []byte) error {
	if len(s.WebhookSecrets) == 0 {
		return fault.New(fault.ProviderNotConfigured, "Events of Stripe are not taken: set PARLANCE_STRIPE_WEBHOOK_SECRET.")
	}
	now := s.timestamp()
	err := stripe.Verify(stripe.VerifyParams{Header: signature, Body: body, Secrets: s.WebhookSecrets, Now: now})
	if err != nil {
		return fault.Wrap(err, fault.SignatureInvalid, "The header %s does not fit: %s.", stripe.SignatureHeader, err)
	}
	received, isRead, err := stripe.ParseEvent(body)
	if err != nil {
		return fault.Wrap(err, fault.InvalidRequest, "The body is not an event of Stripe.")
	}
	if err := s.checkMode(received); err != nil || !isRead || received.CustomerID == "" {
		return err
	}
	event := newEvent(received, now)
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error { return s.receiveTx(ctx, tx, event, now) })
}

// checkMode refuses events of tests when the key is one for real money, and the other way round.
func (s *Service) checkMode(received stripe.Event) error {
	live, known := stripe.Livemode(s.APIKey)
	if !known || live == received.Livemode {
		return nil
	}
	return fault.InvalidField("livemode", "mode",
		"The event has livemode %t, and PARLANCE_STRIPE_API_KEY is a key of the other mode.", received.Livemode)
}

func (s *Service) receiveTx(ctx context.Context, tx bun.Tx, event Event, now time.Time) error {
	stored, err := insertEvent(ctx, tx, event)
	if err != nil || !stored {
		return err
	}
	tenant, err := s.Workspaces.TenantOfCustomer(ctx, tx, event.CustomerID)
	if err == nil && tenant == "" {
		tenant, err = s.linkCustomer(ctx, tx, event, now)
	}
	if err != nil || tenant == "" {
		return err
	}
	if err := s.settle(ctx, tx, tenant, now); err != nil || event.Type != stripe.CustomerDeleted {
		return err
	}
	return s.linkWaiting(ctx, tx, tenant, now)
}

// linkWaiting gives a tenant whose customer was deleted at Stripe the customer of the newest
// checkout that linkCustomer has refused because of the deleted one.
func (s *Service) linkWaiting(ctx context.Context, tx bun.Tx, id workspaces.TenantID, now time.Time) error {
	waiting, err := selectWaitingCheckout(ctx, tx, id)
	if err != nil || waiting.ID == "" {
		return err
	}
	if other, err := s.Workspaces.TenantOfCustomer(ctx, tx, waiting.CustomerID); err != nil || other != "" {
		return err
	}
	if linked, err := s.linkCustomer(ctx, tx, waiting, now); err != nil || linked == "" {
		return err
	}
	return s.settle(ctx, tx, id, now)
}

// linkCustomer gives the customer of a finished checkout to the tenant that the checkout was made
// for, and returns the tenant; empty: the event is none of a checkout, names no tenant, or one that
// has another customer. A customer that was deleted at Stripe is replaced.
func (s *Service) linkCustomer(ctx context.Context, tx bun.Tx, event Event, now time.Time) (workspaces.TenantID, error) {
	made := event.Data.Checkout
	if made == nil || !made.Subscribes || !idgen.Valid(idgen.Tenant, made.TenantID) {
		return "", nil
	}
	tenant, err := s.Workspaces.LockTenant(ctx, tx, workspaces.TenantID(made.TenantID))
	if fault.IsReason(err, fault.ResourceNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if tenant.StripeCustomerID != "" {
		gone, err := customerDeleted(ctx, tx, tenant.ID, tenant.StripeCustomerID)
		if err != nil {
			return "", err
		}
		if !gone {
			s.Log.WarnContext(ctx, "a checkout has another customer than its tenant", slog.String("tenant_id", string(tenant.ID)),
				slog.String("stripe_event_id", event.ID))
			return "", nil
		}
	}
	if err := s.Workspaces.SetCustomer(ctx, tx, tenant.ID, event.CustomerID, now); err != nil {
		return "", err
	}
	return tenant.ID, s.followMeters(ctx, tx, tenant.ID, now)
}

// CustomerChanged implements workspaces.CustomerFunc: it applies the events of the tenant's new
// customer, who pays for what is used from now on. Without its former customer the tenant loses the
// plan that this one's subscription gave.
func (s *Service) CustomerChanged(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, now time.Time) error {
	if err := s.followMeters(ctx, tx, tenant, now); err != nil {
		return err
	}
	return s.settle(ctx, tx, tenant, now)
}

const (
	// dueAtOnce is how many tenants Sweep reads at a time.
	dueAtOnce = 500
	// keepUnclaimed is how long events of customers without a tenant are kept: a subscription that
	// is paid for yearly has had a new one by then.
	keepUnclaimed = 400 * 24 * time.Hour
)

// Sweep takes the plans of tenants whose grace is over at now, gives those whose price has come to
// buy a plan, and deletes events that no tenant has claimed for more than a year. Several nodes may
// run it at the same time.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	var failures []error
	for {
		due, err := selectDue(ctx, s.DB, now, s.prices(), dueAtOnce)
		if err != nil {
			return err
		}
		for _, tenant := range due {
			err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error { return s.settle(ctx, tx, tenant, now) })
			if err != nil {
				failures = append(failures, err)
			}
		}
		// The next reading brings those that failed again.
		if len(due) < dueAtOnce || len(failures) > 0 || ctx.Err() != nil {
			return errors.Join(append(failures, deleteUnclaimed(ctx, s.DB, now.Add(-keepUnclaimed)))...)
		}
	}
}

// prices returns the prices of each plan that has any.
func (s *Service) prices() map[string][]string {
	prices := map[string][]string{}
	for name, plan := range s.Workspaces.Plans() {
		if len(plan.StripePriceIDs) > 0 {
			prices[name] = plan.StripePriceIDs
		}
	}
	return prices
}
