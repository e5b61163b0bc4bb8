package stripe_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/payment/stripe"
	fake "parlance.dev/parlance/test/fake/stripe"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestVerify(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"evt_1"}`)
	good := fake.Header(body, now, "new")
	digest := good[strings.Index(good, "v1="):strings.Index(good, ",v0")]
	for name, row := range map[string]struct {
		header string
		want   error
	}{
		"as Stripe sends it":      {good, nil},
		"while secrets exchange":  {fake.Header(body, now, "old", "new"), nil},
		"with the other secret":   {fake.Header(body, now, "second"), nil},
		"spaces":                  {strings.ReplaceAll(good, ",", ", "), nil},
		"five minutes old":        {fake.Header(body, now.Add(-stripe.Tolerance), "new"), nil},
		"older":                   {fake.Header(body, now.Add(-stripe.Tolerance-time.Second), "new"), stripe.ErrOldSignature},
		"later":                   {fake.Header(body, now.Add(stripe.Tolerance+time.Second), "new"), stripe.ErrOldSignature},
		"another secret":          {fake.Header(body, now, "other"), stripe.ErrWrongSignature},
		"another time":            {strings.Replace(good, "t=", "t=1", 1), stripe.ErrWrongSignature},
		"another body":            {fake.Header(append(body, ' '), now, "new"), stripe.ErrWrongSignature},
		"nothing":                 {"", stripe.ErrNoSignature},
		"no time":                 {digest, stripe.ErrNoSignature},
		"only a scheme of tests":  {strings.ReplaceAll(good, "v1=", "v0="), stripe.ErrNoSignature},
		"no hexadecimal":          {"t=1,v1=zz", stripe.ErrNoSignature},
		"half a signature":        {strings.Replace(good, digest, digest[:19], 1), stripe.ErrWrongSignature},
		"signed without a number": {fake.Header(body, now, "other") + ",t=soon", stripe.ErrWrongSignature},
	} {
		err := stripe.Verify(stripe.VerifyParams{Header: row.header, Body: body, Secrets: []seal.Secret{"new", "second"}, Now: now})
		if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
			t.Errorf("%s: got %v, want %v", name, err, row.want)
		}
	}
	if err := stripe.Verify(stripe.VerifyParams{Header: good, Body: body, Now: now}); err == nil {
		t.Error("verified without a secret")
	}
}

// FuzzVerify: no header is believed that does not hold the signature, and none breaks anything.
func FuzzVerify(f *testing.F) {
	body := []byte(`{"id":"evt_1"}`)
	good := fake.Header(body, now, "secret")
	f.Add(good)
	f.Add("t=,v1=,v1")
	f.Add(strings.Repeat("v1=00,", 100))
	digest := good[strings.Index(good, "v1=")+3 : strings.Index(good, ",v0")]
	f.Fuzz(func(t *testing.T, header string) {
		err := stripe.Verify(stripe.VerifyParams{Header: header, Body: body, Secrets: []seal.Secret{"secret"}, Now: now})
		if err == nil && !strings.Contains(strings.ToLower(header), digest) {
			t.Errorf("believed %q", header)
		}
	})
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	sub := fake.Subscription{ID: "sub_1", Customer: "cus_1", Status: "active", Price: "price_1", Created: now, PeriodEnd: now.AddDate(0, 1, 0)}
	paid := fake.Invoice{ID: "in_1", Customer: "cus_1", Subscription: "sub_1", Amount: 4900, Attempts: 1, PaidAt: now}
	failed := fake.Invoice{ID: "in_2", Customer: "cus_1", Subscription: "sub_1", Amount: 4900, Attempts: 2, NextAttempt: now.Add(time.Hour)}
	wantSub := &stripe.Subscription{
		Status: "active", PriceIDs: []string{"price_1"}, CurrentPeriodEnd: now.AddDate(0, 1, 0), CreatedAt: now,
	}
	wantPaid := &stripe.Invoice{
		AmountPaid: 4900, AmountDue: 4900, Currency: "eur", HostedInvoiceURL: "https://invoice.stripe.com/i/in_1", PaidAt: now, AttemptCount: 1,
	}
	expanded := sub.Object()
	expanded["customer"] = fake.CustomerObject("cus_1")
	ends := sub.Object()
	ends["cancel_at"] = sub.PeriodEnd.Unix()
	endsLater := sub.Object()
	endsLater["cancel_at"] = sub.PeriodEnd.Unix() + 1
	ofSub := func(s *stripe.Subscription) stripe.Event {
		return stripe.Event{ObjectID: "sub_1", SubscriptionID: "sub_1", Subscription: s}
	}
	ofInvoice := func(id string, i *stripe.Invoice) stripe.Event {
		return stripe.Event{ObjectID: id, SubscriptionID: "sub_1", Invoice: i}
	}
	wantFailed := &stripe.Invoice{
		AmountDue: 4900, Currency: "eur", HostedInvoiceURL: "https://invoice.stripe.com/i/in_2", AttemptCount: 2,
		NextAttemptAt: now.Add(time.Hour),
	}
	wantCheckout := stripe.Event{ObjectID: "cs_1", Checkout: &stripe.Checkout{Subscribes: true, TenantID: "ten_1"}}
	wantEnds := *wantSub
	wantEnds.CancelAtPeriodEnd = true
	for name, row := range map[string]struct {
		kind   string
		object map[string]any
		want   stripe.Event
	}{
		"subscription":            {"customer.subscription.updated", sub.Object(), ofSub(wantSub)},
		"subscription, old":       {"customer.subscription.updated", sub.OldObject(), ofSub(wantSub)},
		"an expanded customer":    {"customer.subscription.updated", expanded, ofSub(wantSub)},
		"ends with its period":    {"customer.subscription.updated", ends, ofSub(&wantEnds)},
		"ends after its period":   {"customer.subscription.updated", endsLater, ofSub(wantSub)},
		"invoice":                 {"invoice.paid", paid.Object(), ofInvoice("in_1", wantPaid)},
		"invoice, old":            {"invoice.payment_succeeded", paid.OldObject(), ofInvoice("in_1", wantPaid)},
		"an invoice that failed":  {"invoice.payment_failed", failed.Object(), ofInvoice("in_2", wantFailed)},
		"checkout":                {"checkout.session.completed", fake.CheckoutObject("cs_1", "cus_1", "sub_1", "ten_1"), wantCheckout},
		"a customer that is gone": {"customer.deleted", fake.CustomerObject("cus_1"), stripe.Event{ObjectID: "cus_1"}},
	} {
		got, ok, err := stripe.ParseEvent(fake.Event{ID: "evt_1", Type: row.kind, At: now, Object: row.object, Live: true}.JSON())
		row.want.ID, row.want.Type, row.want.CreatedAt = "evt_1", stripe.EventType(row.kind), now
		row.want.Livemode, row.want.CustomerID = true, "cus_1"
		if diff := cmp.Diff(row.want, got); diff != "" || !ok || err != nil {
			t.Errorf("%s: %t, %v (-want +got)\n%s", name, ok, err, diff)
		}
	}
}

func TestParseEventRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "null", "{}", "[]", `{"id":"evt_1"}`, `{"type":"invoice.paid"}`,
		`{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}`,
		`{"id":"evt_1","type":"invoice.paid","created":"today","data":{"object":{"id":"in_1"}}}`,
		`{"id":"evt_1","type":"invoice.paid","created":1,"data":{"object":{}}}`,
		`{"id":"evt_1","type":"invoice.paid","created":1}`,
		`{"id":"evt_1","type":"customer.subscription.updated","created":1,"data":{"object":{"id":"sub_1","items":[]}}}`,
	} {
		if _, ok, err := stripe.ParseEvent([]byte(body)); !errors.Is(err, stripe.ErrUnreadable) || ok {
			t.Errorf("%s: %t, %v", body, ok, err)
		}
	}
	const other = `{"id":"evt_1","type":"v2.core.account.created","created":"2026-03-01T12:00:00Z","livemode":true}`
	event, ok, err := stripe.ParseEvent([]byte(other))
	if ok || err != nil || !event.Livemode {
		t.Errorf("a type that is not read: %+v, %t, %v", event, ok, err)
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add(fake.Event{ID: "evt_1", Type: "invoice.paid", At: now, Object: fake.Invoice{ID: "in_1"}.Object()}.JSON())
	f.Add(fake.Event{ID: "evt_1", Type: "customer.subscription.updated", At: now, Object: fake.Subscription{ID: "sub_1"}.Object()}.JSON())
	f.Add([]byte(`{"id":"evt_1","type":"customer.deleted","created":-1e9,"data":{"object":{"id":"cus_1"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		event, ok, err := stripe.ParseEvent(body)
		if ok && (err != nil || event.ID == "" || event.ObjectID == "" || event.CreatedAt.IsZero()) {
			t.Errorf("%+v, %v", event, err)
		}
	})
}
