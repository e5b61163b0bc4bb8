package stripe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// EventType is the type of an event of Stripe.
type EventType string

// The types that are read. InvoicePaid and InvoicePaymentSucceeded say the same of an invoice that
// was paid through Stripe; only the first is sent of one that a person marks as paid.
const (
	SubscriptionCreated     EventType = "customer.subscription.created"
	SubscriptionUpdated     EventType = "customer.subscription.updated"
	SubscriptionDeleted     EventType = "customer.subscription.deleted"
	SubscriptionPaused      EventType = "customer.subscription.paused"
	SubscriptionResumed     EventType = "customer.subscription.resumed"
	InvoicePaid             EventType = "invoice.paid"
	InvoicePaymentSucceeded EventType = "invoice.payment_succeeded"
	InvoicePaymentFailed    EventType = "invoice.payment_failed"
	CheckoutCompleted       EventType = "checkout.session.completed"
	CustomerDeleted         EventType = "customer.deleted"
)

// Event is what an event says. At most one of Subscription, Invoice and Checkout is set.
type Event struct {
	ID   string
	Type EventType
	// CreatedAt is when it happened, in whole seconds.
	CreatedAt time.Time
	// Livemode says that real money is moved.
	Livemode bool
	// ObjectID is the id of the subscription, invoice, checkout or customer that the event is
	// about.
	ObjectID string
	// CustomerID and SubscriptionID are whom it is about; empty: nobody.
	CustomerID     string
	SubscriptionID string
	Subscription   *Subscription
	Invoice        *Invoice
	Checkout       *Checkout
}

// maxIDBytes is the length of Stripe's ids at most.
const maxIDBytes = 255

// ErrUnreadable is the error for a body that is no event.
var ErrUnreadable = errors.New("the body is not an event of Stripe")

// envelope is an event as it is sent.
type envelope struct {
	ID       string          `json:"id"`
	Type     EventType       `json:"type"`
	Created  json.RawMessage `json:"created"`
	Livemode bool            `json:"livemode"`
	Data     struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// ParseEvent reads the body of a webhook request. ok is false for an event of a type that is not
// read. Errors: ErrUnreadable.
func ParseEvent(body []byte) (event Event, ok bool, err error) {
	var sent envelope
	if err := json.Unmarshal(body, &sent); err != nil {
		return Event{}, false, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if sent.ID == "" || sent.Type == "" {
		return Event{}, false, fmt.Errorf("%w: it has no id or no type", ErrUnreadable)
	}
	event = Event{ID: sent.ID, Type: sent.Type, Livemode: sent.Livemode}
	read, ok := readers[sent.Type]
	if !ok {
		return event, false, nil
	}
	var created unixTime
	if err := json.Unmarshal(sent.Created, &created); err != nil || created.IsZero() {
		return Event{}, false, fmt.Errorf("%w: it has no time", ErrUnreadable)
	}
	event.CreatedAt = created.Time
	if err := read(&event, sent.Data.Object); err != nil {
		return Event{}, false, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	for _, id := range []string{event.ID, event.ObjectID, event.CustomerID, event.SubscriptionID} {
		if len(id) > maxIDBytes || strings.ContainsFunc(id, unicode.IsControl) || !utf8.ValidString(id) {
			return Event{}, false, fmt.Errorf("%w: it has an id that is none", ErrUnreadable)
		}
	}
	if event.ObjectID == "" {
		return Event{}, false, fmt.Errorf("%w: what it is about has no id", ErrUnreadable)
	}
	return event, true, nil
}

// readers read the objects of events, by the type.
var readers = map[EventType]func(event *Event, object json.RawMessage) error{
	SubscriptionCreated: readSubscription, SubscriptionUpdated: readSubscription, SubscriptionDeleted: readSubscription,
	SubscriptionPaused: readSubscription, SubscriptionResumed: readSubscription,
	InvoicePaid: readInvoice, InvoicePaymentSucceeded: readInvoice, InvoicePaymentFailed: readInvoice,
	CheckoutCompleted: readCheckout, CustomerDeleted: readCustomer,
}

func readSubscription(event *Event, object json.RawMessage) error {
	var sent subscriptionObject
	if err := json.Unmarshal(object, &sent); err != nil {
		return fmt.Errorf("read a subscription: %w", err)
	}
	event.ObjectID, event.SubscriptionID, event.CustomerID = sent.ID, sent.ID, string(sent.Customer)
	event.Subscription = sent.subscription()
	return nil
}

func readInvoice(event *Event, object json.RawMessage) error {
	var sent invoiceObject
	if err := json.Unmarshal(object, &sent); err != nil {
		return fmt.Errorf("read an invoice: %w", err)
	}
	event.ObjectID, event.SubscriptionID, event.CustomerID = sent.ID, sent.subscriptionID(), string(sent.Customer)
	event.Invoice = sent.invoice()
	return nil
}

func readCheckout(event *Event, object json.RawMessage) error {
	var sent checkoutObject
	if err := json.Unmarshal(object, &sent); err != nil {
		return fmt.Errorf("read a checkout: %w", err)
	}
	event.ObjectID, event.CustomerID = sent.ID, string(sent.Customer)
	event.Checkout = sent.checkout()
	return nil
}

func readCustomer(event *Event, object json.RawMessage) error {
	var sent struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(object, &sent); err != nil {
		return fmt.Errorf("read a customer: %w", err)
	}
	event.ObjectID, event.CustomerID = sent.ID, sent.ID
	return nil
}
