package stripe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// Subscription is what an event says about a subscription.
type Subscription struct {
	Status Status `json:"status"`
	// PriceIDs are the prices of its items, in their order.
	PriceIDs []string `json:"price_ids"`
	// CurrentPeriodEnd is zero when it is not said.
	CurrentPeriodEnd  time.Time `json:"current_period_end,omitzero"`
	CancelAtPeriodEnd bool      `json:"cancel_at_period_end,omitempty"`
	// CreatedAt is when the subscription was made.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// Status is the status of a subscription. Source: docs.stripe.com/api/subscriptions/object.
type Status string

// The statuses that Stripe has today.
const (
	StatusIncomplete        Status = "incomplete"
	StatusIncompleteExpired Status = "incomplete_expired"
	StatusTrialing          Status = "trialing"
	StatusActive            Status = "active"
	StatusPastDue           Status = "past_due"
	StatusUnpaid            Status = "unpaid"
	StatusPaused            Status = "paused"
	StatusCanceled          Status = "canceled"
)

// Invoice is what an event says about an invoice. Amounts are in the smallest unit of the currency.
type Invoice struct {
	// OfUpdate says that it is for a change of its subscription before the period is over.
	OfUpdate         bool   `json:"of_update,omitempty"`
	AmountPaid       int64  `json:"amount_paid,omitempty"`
	AmountDue        int64  `json:"amount_due,omitempty"`
	Currency         string `json:"currency"`
	HostedInvoiceURL string `json:"hosted_invoice_url,omitempty"`
	// PaidAt is zero when it is not said.
	PaidAt       time.Time `json:"paid_at,omitzero"`
	AttemptCount int       `json:"attempt_count,omitempty"`
	// NextAttemptAt is zero when the payment is not tried again.
	NextAttemptAt  time.Time `json:"next_attempt_at,omitzero"`
	FailureMessage string    `json:"failure_message,omitempty"`
}

// Checkout is what an event says about a finished checkout.
type Checkout struct {
	// Subscribes says that the checkout made a subscription.
	Subscribes bool `json:"subscribes,omitempty"`
	// TenantID is the tenant that the checkout was made for; empty when it was not made here.
	TenantID string `json:"tenant_id,omitempty"`
}

// maxUnixTime is the beginning of the year 9000.
const maxUnixTime = 221_845_392_000

// unixTime is a time in seconds since 1970; null and 0 are the zero time.
type unixTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *unixTime) UnmarshalJSON(text []byte) error {
	var seconds *int64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	t.Time = time.Time{}
	if seconds != nil && (*seconds < 0 || *seconds > maxUnixTime) {
		return fmt.Errorf("%d is no time", *seconds)
	}
	if seconds != nil && *seconds != 0 {
		t.Time = time.Unix(*seconds, 0).UTC()
	}
	return nil
}

// reference is the id of another object, which is sent as text, or as the object itself.
type reference string

// UnmarshalJSON implements json.Unmarshaler.
func (r *reference) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		var object struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(text, &object)
		*r = reference(object.ID)
		return err
	}
	var id *string
	if err := json.Unmarshal(text, &id); err != nil {
		return err
	}
	*r = ""
	if id != nil {
		*r = reference(*id)
	}
	return nil
}

// subscriptionObject is a subscription as it is sent. The end of its period moved to its items in
// 2025-03-31.
type subscriptionObject struct {
	ID                string    `json:"id"`
	Customer          reference `json:"customer"`
	Status            Status    `json:"status"`
	Created           unixTime  `json:"created"`
	CurrentPeriodEnd  unixTime  `json:"current_period_end"`
	CancelAtPeriodEnd bool      `json:"cancel_at_period_end"`
	CancelAt          unixTime  `json:"cancel_at"`
	Items             struct {
		Data []struct {
			Price            reference `json:"price"`
			CurrentPeriodEnd unixTime  `json:"current_period_end"`
		} `json:"data"`
	} `json:"items"`
}

func (o subscriptionObject) subscription() *Subscription {
	s := &Subscription{Status: o.Status, CurrentPeriodEnd: o.CurrentPeriodEnd.Time, CreatedAt: o.Created.Time}
	for _, item := range o.Items.Data {
		s.PriceIDs = append(s.PriceIDs, string(item.Price))
		if o.CurrentPeriodEnd.IsZero() && item.CurrentPeriodEnd.After(s.CurrentPeriodEnd) {
			s.CurrentPeriodEnd = item.CurrentPeriodEnd.Time
		}
	}
	// Newer versions may say only when it is to be cancelled.
	endsThen := !o.CancelAt.IsZero() && !o.CancelAt.After(s.CurrentPeriodEnd)
	s.CancelAtPeriodEnd = o.CancelAtPeriodEnd || endsThen
	return s
}

// invoiceObject is an invoice as it is sent. Its subscription moved to its parent in 2025-03-31.
type invoiceObject struct {
	ID           string    `json:"id"`
	Customer     reference `json:"customer"`
	Subscription reference `json:"subscription"`
	Parent       struct {
		SubscriptionDetails struct {
			Subscription reference `json:"subscription"`
		} `json:"subscription_details"`
	} `json:"parent"`
	BillingReason      string   `json:"billing_reason"`
	AmountPaid         int64    `json:"amount_paid"`
	AmountDue          int64    `json:"amount_due"`
	Currency           string   `json:"currency"`
	HostedInvoiceURL   string   `json:"hosted_invoice_url"`
	AttemptCount       int      `json:"attempt_count"`
	NextPaymentAttempt unixTime `json:"next_payment_attempt"`
	StatusTransitions  struct {
		PaidAt unixTime `json:"paid_at"`
	} `json:"status_transitions"`
	LastFinalizationError struct {
		Message string `json:"message"`
	} `json:"last_finalization_error"`
}

func (o invoiceObject) subscriptionID() string {
	return string(cmp.Or(o.Parent.SubscriptionDetails.Subscription, o.Subscription))
}

func (o invoiceObject) invoice() *Invoice {
	return &Invoice{
		OfUpdate:   o.BillingReason == "subscription_update",
		AmountPaid: o.AmountPaid, AmountDue: o.AmountDue, Currency: o.Currency, HostedInvoiceURL: o.HostedInvoiceURL,
		PaidAt: o.StatusTransitions.PaidAt.Time, AttemptCount: o.AttemptCount, NextAttemptAt: o.NextPaymentAttempt.Time,
		FailureMessage: o.LastFinalizationError.Message,
	}
}

// checkoutObject is a checkout as it is sent.
type checkoutObject struct {
	ID                string    `json:"id"`
	Customer          reference `json:"customer"`
	Mode              string    `json:"mode"`
	ClientReferenceID string    `json:"client_reference_id"`
	Metadata          struct {
		TenantID string `json:"tenant_id"`
	} `json:"metadata"`
}

func (o checkoutObject) checkout() *Checkout {
	made := &Checkout{Subscribes: o.Mode == "subscription"}
	// Only who has the account's key can set metadata; client_reference_id is in the URL of a payment
	// link, where anybody can.
	if o.ClientReferenceID == o.Metadata.TenantID {
		made.TenantID = o.Metadata.TenantID
	}
	return made
}
