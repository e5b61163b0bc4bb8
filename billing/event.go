package billing

import (
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

// Event is a stored event of Stripe.
type Event struct {
	bun.BaseModel `bun:"table:billing_events,alias:e"`

	ID string `bun:"event_id,pk"`
	// TenantID is empty while no tenant has the customer.
	TenantID       workspaces.TenantID `bun:"tenant_id,nullzero"`
	CustomerID     string              `bun:"customer_id"`
	SubscriptionID string              `bun:"subscription_id"`
	ObjectID       string              `bun:"object_id"`
	Type           stripe.EventType    `bun:"type"`
	Livemode       bool                `bun:"livemode"`
	CreatedAt      time.Time           `bun:"created_at"`
	ReceivedAt     time.Time           `bun:"received_at"`
	Outcome        Outcome             `bun:"outcome"`
	Data           EventData           `bun:"data,type:jsonb"`
}

// EventData is what is kept of the object of an event. At most one field is set.
type EventData struct {
	Subscription *stripe.Subscription `json:"subscription,omitempty"`
	Invoice      *stripe.Invoice      `json:"invoice,omitempty"`
	Checkout     *stripe.Checkout     `json:"checkout,omitempty"`
}

// Outcome says what was done with an event.
type Outcome string

// The outcomes.
const (
	// OutcomeUnclaimed: no tenant has the customer yet.
	OutcomeUnclaimed Outcome = "unclaimed"
	// OutcomeApplied: the subscription, or the customer of the tenant, is what the event says.
	OutcomeApplied Outcome = "applied"
	// OutcomeOutdated: a newer event was known already.
	OutcomeOutdated Outcome = "outdated"
	// OutcomeAnnounced: an event of the outbox was appended.
	OutcomeAnnounced Outcome = "announced"
	// OutcomeRepeated: another event of Stripe has said the same before.
	OutcomeRepeated Outcome = "repeated"
)

func newEvent(received stripe.Event, now time.Time) Event {
	return Event{
		ID: received.ID, CustomerID: received.CustomerID, SubscriptionID: received.SubscriptionID, ObjectID: received.ObjectID,
		Type: received.Type, Livemode: received.Livemode, CreatedAt: received.CreatedAt, ReceivedAt: now, Outcome: OutcomeUnclaimed,
		Data: EventData{Subscription: received.Subscription, Invoice: received.Invoice, Checkout: received.Checkout},
	}
}

// paidInvoice says whether the event is one of the two that say that an invoice was paid.
func (e Event) paidInvoice() bool {
	return e.Type == stripe.InvoicePaid || e.Type == stripe.InvoicePaymentSucceeded
}

// paymentSucceeded says whether the event shows that payments of its subscription do not fail.
func (e Event) paymentSucceeded() bool {
	s := e.Data.Subscription
	return e.paidInvoice() || s != nil && (s.Status == stripe.StatusActive || s.Status == stripe.StatusTrialing)
}

// paymentFailed says whether the event shows that payments of its subscription fail. A change that
// could not be paid leaves the subscription as it was, unless its status says more.
func (e Event) paymentFailed() bool {
	s := e.Data.Subscription
	failed := e.Type == stripe.InvoicePaymentFailed && !e.Data.Invoice.OfUpdate
	return failed || s != nil && (s.Status == stripe.StatusPastDue || s.Status == stripe.StatusUnpaid)
}
