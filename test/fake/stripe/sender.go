package stripe

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// WebhookSecret is the secret of a webhook endpoint.
const WebhookSecret = "whsec_FakeFakeFakeFakeFakeFake0123"

// Header returns the header Stripe-Signature: the time, one signature by each secret, and one of
// the scheme of tests, which must not count. Source: docs.stripe.com/webhooks, Verify manually.
func Header(body []byte, at time.Time, secrets ...string) string {
	header := fmt.Sprintf("t=%d", at.Unix())
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return header + ",v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"
}

// Sender delivers events to a webhook endpoint.
type Sender struct {
	// URL is the endpoint's.
	URL string
	// Secrets sign, the present one and, while it is exchanged, the one before; default
	// WebhookSecret.
	Secrets []string
}

// Send delivers an event and returns the status and the body of the answer.
func (s Sender) Send(ctx context.Context, body []byte) (status int, answer string, err error) {
	secrets := s.Secrets
	if len(secrets) == 0 {
		secrets = []string{WebhookSecret}
	}
	return s.SendWith(ctx, body, Header(body, time.Now(), secrets...))
}

// SendWith is Send with another header; empty: none.
func (s Sender) SendWith(ctx context.Context, body []byte, header string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	if header != "" {
		request.Header.Set("Stripe-Signature", header)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// Event is an event as it is sent. It is one of tests (livemode false) unless Live is set.
type Event struct {
	ID     string
	Type   string
	At     time.Time
	Object map[string]any
	Live   bool
}

// JSON is the body of the request.
func (e Event) JSON() []byte {
	encoded, _ := json.Marshal(map[string]any{ // made of strings, numbers and nulls
		"id": e.ID, "object": "event", "api_version": "2025-08-27.basil", "created": e.At.Unix(), "type": e.Type,
		"data": map[string]any{"object": e.Object}, "livemode": e.Live, "pending_webhooks": 1,
		"request": map[string]any{"id": nil, "idempotency_key": nil},
	})
	return encoded
}

// Subscription is the object of customer.subscription.* events.
type Subscription struct {
	ID, Customer, Status, Price string
	Created                     time.Time
	// PeriodEnd is zero for one that says no end of its period.
	PeriodEnd         time.Time
	CancelAtPeriodEnd bool
}

// Object is the subscription in today's shape: the period is said by the items.
func (s Subscription) Object() map[string]any {
	object := s.object()
	item := itemOf(object)
	item["current_period_end"] = unix(s.PeriodEnd)
	return object
}

// OldObject is the subscription in the shape before 2025-03-31.
func (s Subscription) OldObject() map[string]any {
	object := s.object()
	object["current_period_end"] = unix(s.PeriodEnd)
	return object
}

func (s Subscription) object() map[string]any {
	return map[string]any{
		"id": s.ID, "object": "subscription", "customer": s.Customer, "status": s.Status, "created": s.Created.Unix(),
		"cancel_at": nil, "cancel_at_period_end": s.CancelAtPeriodEnd, "livemode": false, "metadata": map[string]any{},
		"items": map[string]any{"object": "list", "data": []any{map[string]any{
			"id": "si_" + s.ID, "object": "subscription_item", "quantity": 1, "subscription": s.ID,
			"price": map[string]any{"id": s.Price, "object": "price", "currency": "eur", "unit_amount": 4900},
		}}},
	}
}

func itemOf(subscription map[string]any) map[string]any {
	items, _ := subscription["items"].(map[string]any)
	list, _ := items["data"].([]any)
	item, _ := list[0].(map[string]any)
	return item
}

// Invoice is the object of invoice.* events.
type Invoice struct {
	ID, Customer, Subscription string
	Amount                     int64
	Attempts                   int
	// PaidAt is zero for one that is not paid, NextAttempt for one that is not tried again.
	PaidAt, NextAttempt time.Time
}

// Object is the invoice in today's shape: its parent says what it is for.
func (i Invoice) Object() map[string]any {
	object := i.object()
	object["parent"] = nil
	if i.Subscription != "" {
		object["parent"] = map[string]any{
			"type": "subscription_details", "quote_details": nil,
			"subscription_details": map[string]any{"metadata": map[string]any{}, "subscription": i.Subscription},
		}
	}
	return object
}

// OldObject is the invoice in the shape before 2025-03-31.
func (i Invoice) OldObject() map[string]any {
	object := i.object()
	object["subscription"] = nullable(i.Subscription)
	return object
}

func (i Invoice) object() map[string]any {
	paid := int64(0)
	if !i.PaidAt.IsZero() {
		paid = i.Amount
	}
	return map[string]any{
		"id": i.ID, "object": "invoice", "customer": i.Customer, "amount_due": i.Amount, "amount_paid": paid, "currency": "eur",
		"attempt_count": i.Attempts, "next_payment_attempt": unix(i.NextAttempt), "hosted_invoice_url": "https://invoice.stripe.com/i/" + i.ID,
		"status_transitions": map[string]any{"paid_at": unix(i.PaidAt)}, "last_finalization_error": nil, "customer_email": "ada@example.org",
	}
}

// unix returns null for the zero time.
func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

// CheckoutObject is the object of checkout.session.completed: a subscription that was paid for a
// tenant.
func CheckoutObject(id, customer, subscription, tenant string) map[string]any {
	return map[string]any{
		"id": id, "object": "checkout.session", "mode": "subscription", "customer": customer, "subscription": subscription,
		"client_reference_id": tenant, "metadata": map[string]any{"tenant_id": tenant}, "payment_status": "paid", "status": "complete",
	}
}

// CustomerObject is the object of customer.deleted.
func CustomerObject(id string) map[string]any {
	return map[string]any{"id": id, "object": "customer", "email": "ada@example.org", "metadata": map[string]any{}}
}
