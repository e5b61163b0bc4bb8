package scenario

import (
	"testing"

	fake "parlance.dev/parlance/test/fake/stripe"
)

// TestStripeWithoutPeriod: a subscription of which Stripe does not say when its period ends gives
// its plan, and subscription.changed is as the OpenAPI document has it.
func TestStripeWithoutPeriod(t *testing.T) {
	t.Parallel()
	s, told := newShop(t, nil), newStory("Endless")
	s.Do(t, "PATCH", "/v1/tenant", map[string]any{"stripe_customer_id": told.customer}).Must(t, 200)
	object := fake.Subscription{
		ID: told.subscription, Customer: told.customer, Status: "active", Price: "price_pro", Created: told.begin,
	}.Object()
	s.send(t, fake.Event{ID: "evt_endless", Type: "customer.subscription.created", At: told.begin, Object: object})
	if got := s.outcomeOf(t, s.Tenant); got.Plan != "pro" || got.Last != "active pro" {
		t.Errorf("got %+v", got)
	}
}
