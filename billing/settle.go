package billing

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

// settlement is what is known of a tenant while settle works.
type settlement struct {
	tenant workspaces.Tenant
	now    time.Time
	// before are the subscriptions as they were stored, after as their events have them now. Both
	// are by the id.
	before, after map[string]Subscription
	// plan is the plan that the tenant has afterwards.
	plan string
}

// settle brings everything that follows from the events of a tenant up to date: it claims the
// events of the tenant's customer, computes the subscriptions, sets the plan, and appends to the
// outbox what has changed. It waits for others that change the tenant.
func (s *Service) settle(ctx context.Context, tx bun.Tx, id workspaces.TenantID, now time.Time) error {
	tenant, err := s.Workspaces.LockTenant(ctx, tx, id)
	if err != nil {
		return err
	}
	var claimed []Event
	if tenant.StripeCustomerID != "" {
		if claimed, err = claimEvents(ctx, tx, tenant.ID, tenant.StripeCustomerID); err != nil {
			return err
		}
	}
	sorted := slices.SortedFunc(slices.Values(claimed), func(a, b Event) int { return a.CreatedAt.Compare(b.CreatedAt) })
	if err := s.announceInvoices(ctx, tx, sorted, now); err != nil {
		return err
	}
	st, err := s.compute(ctx, tx, tenant, now)
	if err != nil {
		return err
	}
	if err := s.setPlan(ctx, tx, st); err != nil {
		return err
	}
	for _, one := range st.after {
		if one.sameAs(st.before[one.ID]) {
			continue
		}
		if err := upsertSubscription(ctx, tx, one); err != nil {
			return err
		}
	}
	if err := s.announceChanges(ctx, tx, st); err != nil {
		return err
	}
	return s.recordOutcomes(ctx, tx, claimed, st)
}

// compute reads the tenant's subscriptions and computes them anew from their events.
func (s *Service) compute(ctx context.Context, tx bun.Tx, tenant workspaces.Tenant, now time.Time) (*settlement, error) {
	st := &settlement{tenant: tenant, now: now, before: map[string]Subscription{}, after: map[string]Subscription{}, plan: tenant.Plan}
	stored, err := selectSubscriptions(ctx, tx, tenant.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range stored {
		st.before[one.ID] = one
	}
	events, err := selectEvents(ctx, tx, tenant.ID)
	if err != nil {
		return nil, err
	}
	var computed []Subscription
	for _, about := range bySubscription(events) {
		if one, ok := s.terms().subscriptionOf(about, now); ok {
			computed = append(computed, one)
		}
	}
	gives, given := giver(ofCustomer(computed, tenant.StripeCustomerID), now)
	for _, one := range computed {
		if one.CustomerID != tenant.StripeCustomerID {
			one.DueAt = time.Time{} // it gives the tenant nothing that could end
		}
		one.GivesPlan, one.UpdatedAt = given && one.ID == gives.ID, now
		st.after[one.ID] = one
	}
	return st, nil
}

// bySubscription divides events by their subscriptions. The deletion of a customer is about all of
// the customer's.
func bySubscription(events []Event) map[string][]Event {
	divided := map[string][]Event{}
	for _, e := range events {
		if e.SubscriptionID != "" {
			divided[e.SubscriptionID] = append(divided[e.SubscriptionID], e)
		}
	}
	for _, e := range events {
		if e.Type != stripe.CustomerDeleted {
			continue
		}
		for id, about := range divided {
			if about[0].CustomerID == e.CustomerID {
				divided[id] = append(about, e)
			}
		}
	}
	return divided
}

// setPlan sets the tenant's plan when the subscriptions give another one than before. A plan that a
// person has set stays, until a subscription begins or changes its price.
func (s *Service) setPlan(ctx context.Context, tx bun.Tx, st *settlement) error {
	was, is := givenPlan(st.before), givenPlan(st.after)
	switch {
	case was == is:
		return nil
	case is != "":
		if !st.tenant.PlanByBilling && !st.begins() {
			return nil // a person has set it
		}
		st.plan = is
	case !st.tenant.PlanByBilling: // a person has set it
		return nil
	default:
		st.plan = s.FallbackPlan
	}
	s.Log.InfoContext(ctx, "a subscription has changed the plan of a tenant", slog.String("tenant_id", string(st.tenant.ID)),
		slog.String("plan", st.plan), slog.String("previous_plan", st.tenant.Plan))
	return s.Workspaces.SetPlanByBilling(ctx, tx, st.tenant.ID, st.plan, st.now)
}

// begins says whether the subscription that gives the plan has just begun to run, or to run for
// another price or one that had no plan.
func (st *settlement) begins() bool {
	for id, one := range st.after {
		before, known := st.before[id]
		if one.GivesPlan && (!known || before.Plan == "" || before.EventID != one.EventID && !one.ranBefore) {
			return true
		}
	}
	return false
}

// givenPlan returns the plan that one of the subscriptions gives; empty: none does.
func givenPlan(subscriptions map[string]Subscription) string {
	for _, one := range subscriptions {
		if one.GivesPlan {
			return one.Plan
		}
	}
	return ""
}

// sameAs says whether a subscription is the same as one that is stored.
func (s Subscription) sameAs(stored Subscription) bool {
	for _, times := range [][2]time.Time{
		{s.CurrentPeriodEnd, stored.CurrentPeriodEnd},
		{s.StartedAt, stored.StartedAt},
		{s.PaymentFailedAt, stored.PaymentFailedAt},
		{s.GraceUntil, stored.GraceUntil},
		{s.DueAt, stored.DueAt},
	} {
		if !times[0].Equal(times[1]) {
			return false
		}
	}
	return s.ID == stored.ID && s.Status == stored.Status && s.PriceID == stored.PriceID && s.Plan == stored.Plan &&
		s.CancelAtPeriodEnd == stored.CancelAtPeriodEnd && s.GivesPlan == stored.GivesPlan && s.EventID == stored.EventID
}

// recordOutcomes writes down what was done with the events, but for those about invoices.
func (s *Service) recordOutcomes(ctx context.Context, tx bun.Tx, claimed []Event, st *settlement) error {
	for _, e := range claimed {
		outcome := OutcomeApplied
		switch {
		case e.Data.Invoice != nil:
			continue
		case e.Data.Subscription != nil && st.after[e.SubscriptionID].EventID != e.ID:
			outcome = OutcomeOutdated
		}
		if err := updateOutcome(ctx, tx, e, outcome); err != nil {
			return err
		}
		if one := st.after[e.SubscriptionID]; one.EventID == e.ID && s.Workspaces.Plans().WithPrice(one.PriceID) == "" {
			s.Log.WarnContext(ctx, "no plan has the price of a subscription", slog.String("tenant_id", string(e.TenantID)),
				slog.String("price_id", one.PriceID))
		}
	}
	return nil
}
