package billing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

// Subscription is what the events of a subscription come to.
type Subscription struct {
	bun.BaseModel `bun:"table:billing_subscriptions,alias:s"`

	TenantID   workspaces.TenantID `bun:"tenant_id,pk"`
	ID         string              `bun:"id,pk"`
	CustomerID string              `bun:"customer_id"`
	Status     stripe.Status       `bun:"status"`
	PriceID    string              `bun:"price_id"`
	// Plan is the plan that the price buys, or that the last price before it bought that a plan has.
	// Empty means none.
	Plan              string    `bun:"plan"`
	CurrentPeriodEnd  time.Time `bun:"current_period_end,nullzero"`
	CancelAtPeriodEnd bool      `bun:"cancel_at_period_end"`
	StartedAt         time.Time `bun:"started_at,nullzero"`
	// PaymentFailedAt is since when payments fail. Zero means that they do not.
	PaymentFailedAt time.Time `bun:"payment_failed_at,nullzero"`
	// GraceUntil is until when the plan is kept although payments fail. Zero means that it is not
	// in question.
	GraceUntil time.Time `bun:"grace_until,nullzero"`
	// DueAt is when Sweep has to look at it. Zero means never.
	DueAt time.Time `bun:"due_at,nullzero"`
	// GivesPlan says that the tenant is on the plan because of it.
	GivesPlan bool `bun:"gives_plan"`
	// EventID is the event that said the newest status.
	EventID   string    `bun:"event_id"`
	UpdatedAt time.Time `bun:"updated_at"`

	// ranBefore says that an event before EventID has it running, for the same price.
	ranBefore bool
}

// running are the statuses with which a subscription gives a plan, while its payments do not fail.
var running = []stripe.Status{stripe.StatusActive, stripe.StatusTrialing, stripe.StatusPastDue, stripe.StatusUnpaid}

func runs(status stripe.Status) bool { return slices.Contains(running, status) }

// entitles says whether the subscription gives its plan at now.
func (s Subscription) entitles(now time.Time) bool {
	return s.Plan != "" && runs(s.Status) && (s.GraceUntil.IsZero() || now.Before(s.GraceUntil))
}

// terms are what turns events into subscriptions.
type terms struct {
	plans workspaces.Plans
	grace time.Duration
}

// subscriptionOf computes a subscription from the events that are stored about it, in any order. ok
// is false while none of them says its status.
func (t terms) subscriptionOf(events []Event, now time.Time) (s Subscription, ok bool) {
	newest, ok := newestStatus(events)
	if !ok {
		return Subscription{}, false
	}
	said := newest.Data.Subscription
	s = Subscription{
		TenantID: newest.TenantID, ID: newest.SubscriptionID, CustomerID: newest.CustomerID, Status: said.Status,
		CurrentPeriodEnd: said.CurrentPeriodEnd, CancelAtPeriodEnd: said.CancelAtPeriodEnd, StartedAt: said.CreatedAt, EventID: newest.ID,
	}
	s.PriceID, s.Plan = t.planOf(said.PriceIDs)
	if s.Plan == "" {
		s.Plan = t.lastPlan(events)
	}
	s.ranBefore = slices.ContainsFunc(events, func(e Event) bool {
		earlier := e.Data.Subscription
		return earlier != nil && e.ID != newest.ID && runs(earlier.Status) && slices.Equal(earlier.PriceIDs, said.PriceIDs)
	})
	if slices.ContainsFunc(events, func(e Event) bool { return e.Type == stripe.CustomerDeleted }) {
		s.Status = stripe.StatusCanceled // Stripe cancels a customer's subscriptions with it
	}
	if !runs(s.Status) {
		return s, true
	}
	s.PaymentFailedAt = paymentFailedAt(events)
	if s.PaymentFailedAt.IsZero() && (s.Status == stripe.StatusPastDue || s.Status == stripe.StatusUnpaid) {
		// One invoice was paid, and another is open: since its status says so.
		s.PaymentFailedAt = paymentFailedAt(slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Data.Subscription == nil }))
	}
	if !s.PaymentFailedAt.IsZero() {
		s.GraceUntil = s.PaymentFailedAt.Add(t.grace)
	}
	if now.Before(s.GraceUntil) {
		s.DueAt = s.GraceUntil
	}
	return s, true
}

// planOf returns the first price that buys a plan, with the plan; or the first price.
func (t terms) planOf(priceIDs []string) (priceID, plan string) {
	for _, id := range priceIDs {
		if plan := t.plans.WithPrice(id); plan != "" {
			return id, plan
		}
	}
	if len(priceIDs) == 0 {
		return "", ""
	}
	return priceIDs[0], ""
}

// lastPlan returns the plan of the newest price that a plan has: a price that no plan has takes
// nothing away.
func (t terms) lastPlan(events []Event) (plan string) {
	var newest Event
	for _, e := range events {
		if e.Data.Subscription == nil || newest.ID != "" && !newerThan(e, newest) {
			continue
		}
		if _, bought := t.planOf(e.Data.Subscription.PriceIDs); bought != "" {
			newest, plan = e, bought
		}
	}
	return plan
}

// newestStatus returns the event that said the status of the subscription last.
func newestStatus(events []Event) (newest Event, ok bool) {
	for _, e := range events {
		if e.Data.Subscription != nil && (!ok || newerThan(e, newest)) {
			newest, ok = e, true
		}
	}
	return newest, ok
}

// newerThan says whether an event about a subscription happened after another one. Stripe's times
// are whole seconds. Of one second, the creation is the first and the deletion the last; between
// them a status that comes later in the life of a subscription is the later one, and success is
// later than failure, because a tenant must not lose its plan by a guess: a failure that was the
// later one is followed by further events. Then the period that ends later counts, and at last the
// id, so that every server decides alike.
func newerThan(e, other Event) bool {
	return cmp.Or(
		e.CreatedAt.Compare(other.CreatedAt),
		cmp.Compare(typeRank(e.Type), typeRank(other.Type)),
		cmp.Compare(statusRank(e.Data.Subscription.Status), statusRank(other.Data.Subscription.Status)),
		e.Data.Subscription.CurrentPeriodEnd.Compare(other.Data.Subscription.CurrentPeriodEnd),
		strings.Compare(e.ID, other.ID),
	) > 0
}

func typeRank(t stripe.EventType) int {
	switch t {
	case stripe.SubscriptionCreated:
		return 0
	case stripe.SubscriptionDeleted:
		return 2
	default:
		return 1
	}
}

// statusOrder has the statuses of one second in their order; unknown ones come first.
var statusOrder = []stripe.Status{
	stripe.StatusIncomplete, stripe.StatusPastDue, stripe.StatusUnpaid, stripe.StatusPaused, stripe.StatusTrialing,
	stripe.StatusActive, stripe.StatusIncompleteExpired, stripe.StatusCanceled,
}

func statusRank(status stripe.Status) int { return slices.Index(statusOrder, status) }

// paymentFailedAt returns since when the payments of a subscription fail: the first failure that is
// later than every success. Zero means that they do not fail. Of one second, the success counts.
func paymentFailedAt(events []Event) time.Time {
	var succeeded, failed time.Time
	for _, e := range events {
		if e.paymentSucceeded() && e.CreatedAt.After(succeeded) {
			succeeded = e.CreatedAt
		}
	}
	for _, e := range events {
		if e.paymentFailed() && e.CreatedAt.After(succeeded) && (failed.IsZero() || e.CreatedAt.Before(failed)) {
			failed = e.CreatedAt
		}
	}
	return failed
}

// giver returns the subscription that gives the plan: of those that entitle, the one that was
// started last.
func giver(subscriptions []Subscription, now time.Time) (s Subscription, ok bool) {
	for _, one := range subscriptions {
		if one.entitles(now) && (!ok || startedAfter(one, s)) {
			s, ok = one, true
		}
	}
	return s, ok
}

func startedAfter(s, other Subscription) bool {
	return cmp.Or(s.StartedAt.Compare(other.StartedAt), strings.Compare(s.ID, other.ID)) > 0
}
