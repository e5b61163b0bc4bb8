package billing_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/billing"
	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/workspaces"
)

// TestGrace: a failed payment leaves the plan for seven days, to the second.
func TestGrace(t *testing.T) {
	t.Parallel()
	const second = 1.0 / (24 * 60 * 60)
	f := open(t).hasCustomer()
	f.must(status("created", "active", 0), invoice("payment_failed", "in_2", 30), status("updated", "past_due", 30))
	seen := f.overview().Subscription
	if !seen.PaymentFailedAt.Equal(after(30)) || !seen.GraceUntil.Equal(after(37)) {
		t.Fatalf("failed at %s, grace until %s", seen.PaymentFailedAt, seen.GraceUntil)
	}
	f.must(invoice("payment_failed", "in_2", 33), status("updated", "unpaid", 36)) // the grace does not begin again
	f.sweep(37 - second)
	f.wantPlan("pro", "a second before the grace is over")
	f.sweep(37)
	f.wantPlan("free", "when the grace is over")
	f.sweep(37 + second)
	f.wantOutbox("subscription.changed >active pro", "invoice.failed in_2", "subscription.changed active>past_due pro",
		"invoice.failed in_2", "subscription.changed past_due>unpaid pro", "subscription.changed unpaid>unpaid free")
	f.must(invoice("paid", "in_2", 38), status("updated", "active", 38))
	f.wantPlan("pro", "when it was paid after all")
	if seen := f.overview().Subscription; !seen.PaymentFailedAt.IsZero() || !seen.GraceUntil.IsZero() {
		t.Errorf("failed at %s, grace until %s", seen.PaymentFailedAt, seen.GraceUntil)
	}
	f.sweep(60)
	f.wantPlan("pro", "long after")
}

// TestGraceWithoutWorkers: nobody swept when the grace was over; the first sweep afterwards does
// it, once. A payment that came meanwhile keeps the plan.
func TestGraceWithoutWorkers(t *testing.T) {
	t.Parallel()
	for paid, want := range map[bool]string{false: "free", true: "pro"} {
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0), status("updated", "past_due", 30))
		if paid {
			f.must(status("updated", "active", 36))
		}
		f.sweep(90)
		f.sweep(91)
		f.wantPlan(want, "a long time after")
		changes := []string{"subscription.changed >active pro", "subscription.changed active>past_due pro"}
		if paid {
			changes = append(changes, "subscription.changed past_due>active pro")
		} else {
			changes = append(changes, "subscription.changed past_due>past_due free")
		}
		f.wantOutbox(changes...)
	}
}

// TestGraceThatIsOver: the news of a failure comes when its grace is over already.
func TestGraceThatIsOver(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	f.must(status("created", "active", 0))
	f.now = after(40)
	f.must(status("updated", "past_due", 30))
	f.wantPlan("free", "ten days after the failure")
}

// TestPlansOfPeople: a plan that a person has set is not taken away.
func TestPlansOfPeople(t *testing.T) {
	t.Parallel()
	set := func(f *fixture, plan string) {
		f.Helper()
		if _, err := f.workspaces.SetPlan(f.Context(), f.tenant.TenantID, plan); err != nil {
			f.Fatal(err)
		}
	}
	t.Run("during a subscription", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0))
		set(f, "enterprise")
		f.must(status("updated", "active", 1))
		f.wantPlan("enterprise", "the subscription asks for nothing new")
		f.must(status("updated", "past_due", 2))
		f.sweep(20)
		f.wantPlan("enterprise", "the grace is over")
		f.must(status("deleted", "canceled", 21))
		f.wantPlan("enterprise", "the subscription is over")
	})
	t.Run("the plan that the subscription gives", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0))
		set(f, "pro")
		f.must(status("deleted", "canceled", 1))
		f.wantPlan("pro", "the subscription is over")
	})
	t.Run("until the subscription asks for another", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0))
		set(f, "enterprise")
		f.must(priced("updated", "active", businessPrice, 1))
		f.wantPlan("business", "another price")
	})
	t.Run("without a subscription", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		set(f, "enterprise")
		f.must(status("created", "active", 0), status("deleted", "canceled", 1))
		if err := f.setCustomer(f.tenant, customer); err != nil { // with a subscription that is over
			t.Fatal(err)
		}
		f.sweep(100)
		f.wantPlan("enterprise", "there is no subscription")
	})
}

// TestCancelAtPeriodEnd: the plan stays until Stripe says that the period is over.
func TestCancelAtPeriodEnd(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	ends := fake.Subscription{
		ID: subscription, Customer: customer, Status: "active", Price: proPrice, Created: start, PeriodEnd: after(31), CancelAtPeriodEnd: true,
	}
	f.must(fake.Event{Type: "customer.subscription.updated", At: after(3), Object: ends.Object()})
	f.sweep(10)
	if f.wantPlan("pro", "until the period is over"); !f.overview().Subscription.CancelAtPeriodEnd {
		t.Error("nothing says that it ends")
	}
	f.must(status("deleted", "canceled", 31))
	f.wantPlan("free", "when Stripe says so")
}

// TestCustomers: events of a customer that nobody has are kept; they are applied once it is
// somebody's.
func TestCustomers(t *testing.T) {
	t.Parallel()
	first := func(f *fixture) {
		f.must(invoice("payment_failed", "in_1", 0.1), status("created", "incomplete", 0), status("updated", "active", 1),
			invoice("paid", "in_1", 1), invoice("payment_succeeded", "in_1", 1))
		f.wantPlan("free", "nobody has the customer")
		f.wantOutbox()
	}
	all := []string{"invoice.failed in_1", "invoice.paid in_1", "subscription.changed >active pro"}
	t.Run("set by a person", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		first(f)
		f.hasCustomer()
		f.wantPlan("pro", "the tenant has the customer")
		f.wantOutbox(all...)
		f.hasCustomer() // again
		f.wantOutbox(all...)
		if err := f.setCustomer(f.tenant, ""); err != nil {
			t.Fatal(err)
		}
		f.wantPlan("free", "the customer was taken away")
		f.hasCustomer()
		f.wantPlan("pro", "and given back")
		f.wantOutbox(append(all, "subscription.changed active>active free", "subscription.changed active>active pro")...)
	})
	t.Run("linked by a checkout", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		first(f)
		f.must(checkout(f.tenant.TenantID, customer, 1))
		f.wantPlan("pro", "the checkout names the tenant")
		f.wantOutbox(all...)
		if got := f.overview().Tenant.StripeCustomerID; got != customer {
			t.Errorf("the customer is %q", got)
		}
	})
	t.Run("checkout before the subscription", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		f.must(checkout(f.tenant.TenantID, customer, 1), status("created", "active", 1))
		f.wantPlan("pro", "the subscription came later")
	})
	t.Run("checkouts that link nothing", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		torn := checkout(f.newTenant("free").TenantID, "cus_other", 1)
		torn.Object["client_reference_id"] = string(f.newTenant("free").TenantID)
		payment := checkout(f.newTenant("free").TenantID, "cus_other", 1)
		payment.Object["mode"] = "payment"
		f.must(checkout(f.tenant.TenantID, "cus_other", 1), checkout("ten_01jgk2m0q5example0000000ab", "cus_other", 1),
			checkout("nobody", "cus_other", 1), torn, payment)
		for id, outcome := range f.outcomes() {
			if outcome != "unclaimed" {
				t.Errorf("%s: %s", id, outcome)
			}
		}
		if got := f.overview().Tenant.StripeCustomerID; got != customer {
			t.Errorf("the customer is %q", got)
		}
	})
	t.Run("deleted at Stripe", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0), fake.Event{Type: "customer.deleted", At: after(5), Object: fake.CustomerObject(customer)},
			status("updated", "active", 4))
		f.wantPlan("free", "the customer is gone")
		f.must(checkout(f.tenant.TenantID, "cus_new", 6))
		if got := f.overview().Tenant.StripeCustomerID; got != "cus_new" {
			t.Errorf("the customer is %q", got)
		}
	})
	t.Run("deleted at Stripe, said after the checkouts", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0), checkout(f.tenant.TenantID, "cus_old", 4), checkout(f.tenant.TenantID, "cus_new", 6),
			checkout(f.tenant.TenantID, "cus_gone", 7), checkout(f.newTenant("free").TenantID, "cus_other", 8))
		bought := fake.Subscription{
			ID: "sub_new", Customer: "cus_new", Status: "active", Price: businessPrice, Created: after(6), PeriodEnd: after(36),
		}
		f.must(fake.Event{Type: "customer.subscription.created", At: after(6), Object: bought.Object()})
		f.wantPlan("pro", "the first customer is there")
		for _, gone := range []string{"cus_gone", customer} {
			f.must(fake.Event{Type: "customer.deleted", At: after(5), Object: fake.CustomerObject(gone)})
		}
		f.wantPlan("business", "the new customer's")
		if got := f.overview().Tenant.StripeCustomerID; got != "cus_new" {
			t.Errorf("the customer is %q", got)
		}
	})
	t.Run("a checkout after that", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		server := fake.New(t)
		f.billing = f.withStripe(server)
		pay := func() string {
			_, err := f.billing.CreateCheckout(t.Context(), f.tenant.TenantID, billing.CheckoutParams{
				Plan: "pro", SuccessURL: "https://a.example/", CancelURL: "https://a.example/",
			})
			if err != nil {
				t.Fatal(err)
			}
			calls := server.Calls()
			return calls[len(calls)-1].Form.Get("customer")
		}
		if got := pay(); got != customer {
			t.Errorf("the checkout is of %q", got)
		}
		f.must(fake.Event{Type: "customer.deleted", At: after(5), Object: fake.CustomerObject(customer)})
		if got := pay(); got != "" {
			t.Errorf("the checkout is of %q, who is gone", got)
		}
	})
	t.Run("never claimed", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		first(f)
		f.sweep(399)
		if len(f.outcomes()) != 5 {
			t.Error("they are gone too early")
		}
		f.sweep(401)
		if got := f.outcomes(); len(got) != 0 {
			t.Errorf("kept: %v", got)
		}
	})
}

func checkout(tenant workspaces.TenantID, customer string, days float64) fake.Event {
	return fake.Event{
		Type: "checkout.session.completed", At: after(days), Object: fake.CheckoutObject("cs_1", customer, subscription, string(tenant)),
	}
}

// TestSweepWithoutStripe: tenants without subscriptions are left alone.
func TestSweepWithoutStripe(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.tenant = f.newTenant("enterprise")
	f.now = start.Add(time.Hour)
	f.sweep(1000)
	f.wantPlan("enterprise", "after sweeps")
	f.wantOutbox()
}
