package billing_test

import (
	"testing"

	fake "parlance.dev/parlance/test/fake/stripe"
)

// TestHandSetPlan: a plan that a person has set stays, whatever the subscription does but begin or
// change its price.
func TestHandSetPlan(t *testing.T) {
	t.Parallel()
	setByHand := func(f *fixture, plan string) {
		f.Helper()
		if _, err := f.workspaces.SetPlan(f.Context(), f.tenant.TenantID, plan); err != nil {
			f.Fatal(err)
		}
	}
	for name, after := range map[string]func(f *fixture){
		"paid after the grace": func(f *fixture) {
			f.must(invoice("payment_failed", "in_2", 30), status("updated", "past_due", 30))
			f.sweep(38)
			setByHand(f, "enterprise")
			f.must(invoice("paid", "in_2", 39), status("updated", "active", 39))
		},
		"paused and resumed": func(f *fixture) {
			setByHand(f, "enterprise")
			f.must(status("paused", "paused", 3), status("resumed", "active", 4))
		},
		"the customer taken away and given back": func(f *fixture) {
			setByHand(f, "enterprise")
			for _, id := range []string{"", customer} {
				if err := f.setCustomer(f.tenant, id); err != nil {
					f.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t).hasCustomer()
			f.must(status("created", "active", 0))
			after(f)
			f.wantPlan("enterprise", "afterwards")
			f.must(priced("updated", "active", businessPrice, 50))
			f.wantPlan("business", "with another price")
		})
	}
}

// TestUnknownPriceTakesNothing: a subscription that changes to a price of no plan keeps the plan.
func TestUnknownPriceTakesNothing(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	f.must(status("created", "active", 0), priced("updated", "active", "price_new", 1))
	f.wantPlan("pro", "with a price that no plan has")
	known := plans()
	business := known["business"]
	business.StripePriceIDs = append(business.StripePriceIDs, "price_new")
	known["business"] = business
	f.billing = f.with(known)
	f.sweep(2)
	f.wantPlan("business", "the plan has the price now")
}

// TestAnotherInvoiceIsOpen: past_due ends with the grace, although another invoice was paid.
func TestAnotherInvoiceIsOpen(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	f.must(status("created", "active", 0), invoice("payment_failed", "in_a", 10), status("updated", "past_due", 10),
		invoice("payment_failed", "in_b", 40), status("updated", "past_due", 40), invoice("paid", "in_a", 41))
	f.sweep(42)
	f.wantPlan("free", "one invoice is open for a month")
}

// TestDeclinedUpgrade: a change that could not be paid leaves the plan as it was.
func TestDeclinedUpgrade(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	declined := invoice("payment_failed", "in_2", 10)
	declined.Object["billing_reason"] = "subscription_update"
	f.must(status("created", "active", 0), status("updated", "active", 10), declined)
	f.sweep(30)
	f.wantPlan("pro", "the subscription is active")
}

// TestCheckoutOfAPaymentLink: a checkout that was not made here gives a tenant no customer,
// although its URL named the tenant.
func TestCheckoutOfAPaymentLink(t *testing.T) {
	t.Parallel()
	f := open(t)
	foreign := checkout(f.tenant.TenantID, "cus_Foreign", 1)
	foreign.Object["metadata"] = map[string]any{}
	f.must(foreign)
	tenant, err := f.workspaces.Tenant(t.Context(), f.tenant.TenantID)
	if err != nil || tenant.StripeCustomerID != "" {
		t.Errorf("the tenant's customer is %q, %v", tenant.StripeCustomerID, err)
	}
}

// TestEventsThatAreNone: times and ids that cannot be stored are refused.
func TestEventsThatAreNone(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	for name, change := range map[string]func(e *fake.Event){
		"a time far away": func(e *fake.Event) { e.Object["created"] = 1_000_000_000_000_000 },
		"a NUL":           func(e *fake.Event) { e.Object["id"] = "sub_\x00" },
	} {
		e := status("created", "active", 0)
		change(&e)
		if err := f.receive(e); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	f.wantPlan("free", "afterwards")
}
