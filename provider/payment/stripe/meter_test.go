package stripe_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/payment/stripe"
	fake "parlance.dev/parlance/test/fake/stripe"
)

func meterEvent(attempt int) stripe.MeterEvent {
	return stripe.MeterEvent{
		Name: "parlance_tokens", CustomerID: "cus_1", Quantity: 25, At: time.Now().Add(-time.Hour), Identifier: "0b5c", Attempt: attempt,
	}
}

// TestSendMeterEvent: an event is sent with its identifier under a key of the attempt, and counts
// once however often it is sent.
func TestSendMeterEvent(t *testing.T) {
	t.Parallel()
	client, server := open(t, fake.APIKey)
	for attempt := range 3 {
		event := meterEvent(attempt + 1)
		if outcome, err := client.SendMeterEvent(t.Context(), event); outcome != stripe.MeterTaken || err != nil {
			t.Fatalf("attempt %d: %s, %v", attempt+1, outcome, err)
		}
		call := server.Calls()[attempt]
		want := url.Values{
			"event_name": {"parlance_tokens"}, "identifier": {"0b5c"}, "timestamp": {strconv.FormatInt(event.At.Unix(), 10)},
			"payload[stripe_customer_id]": {"cus_1"}, "payload[value]": {"25"},
		}
		if diff := cmp.Diff(want, call.Form); diff != "" || call.IdempotencyKey != "0b5c-"+strconv.Itoa(attempt+1) {
			t.Errorf("attempt %d under the key %q (-want +got)\n%s", attempt+1, call.IdempotencyKey, diff)
		}
	}
	if got := server.MeterEvents(); len(got) != 1 || got[0].Value != 25 {
		t.Errorf("counted: %+v", got)
	}
}

// TestMeterOutcomes: whether an event may have been taken is told apart.
func TestMeterOutcomes(t *testing.T) {
	t.Parallel()
	client, server := open(t, fake.APIKey)
	server.Gone("cus_gone", "parlance_typo")
	wrongKey, _ := open(t, "sk_live_ThisIsAnotherKey9876")
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away, err := stripe.New(stripe.Config{BaseURL: "http://" + closed.Addr().String(), APIKey: fake.APIKey, Client: &http.Client{}})
	if err != nil || closed.Close() != nil {
		t.Fatal(err)
	}
	customer, meter, old := meterEvent(1), meterEvent(1), meterEvent(1)
	customer.CustomerID, meter.Name, old.At = "cus_gone", "parlance_typo", time.Now().Add(-36*24*time.Hour)
	for name, row := range map[string]struct {
		client *stripe.Client
		event  stripe.MeterEvent
		want   stripe.MeterOutcome
		says   string
	}{
		"an unknown customer": {client, customer, stripe.MeterRefused, "No such customer: 'cus_gone'"},
		"an unknown meter":    {client, meter, stripe.MeterRefused, "No active meter found for event name parlance_typo"},
		"too old":             {client, old, stripe.MeterRefused, "too far in the past"},
		"another key":         {wrongKey, meterEvent(1), stripe.MeterNotTaken, "with this API key"},
		"nobody there":        {away, meterEvent(1), stripe.MeterNotTaken, "cannot be reached"},
	} {
		outcome, err := row.client.SendMeterEvent(t.Context(), row.event)
		if outcome != row.want || err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "9876") {
			t.Errorf("%s: %s, %v", name, outcome, err)
		}
	}
	for status, want := range map[int]stripe.MeterOutcome{
		429: stripe.MeterNotTaken, 403: stripe.MeterNotTaken, 402: stripe.MeterRefused,
		500: stripe.MeterUnknown, 503: stripe.MeterUnknown, 409: stripe.MeterUnknown, 408: stripe.MeterUnknown,
	} {
		server.Fail(status)
		if outcome, err := client.SendMeterEvent(t.Context(), meterEvent(1)); outcome != want || err == nil {
			t.Errorf("%d: %s, %v", status, outcome, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	stuck := server.Hold()
	go func() { <-stuck; cancel() }()
	if outcome, err := client.SendMeterEvent(ctx, meterEvent(1)); outcome != stripe.MeterUnknown || err == nil {
		t.Errorf("no answer: %s, %v", outcome, err)
	}
	server.Release()
	server.Lose(1)
	lost := meterEvent(1)
	lost.Identifier = "lost"
	if outcome, err := client.SendMeterEvent(t.Context(), lost); outcome != stripe.MeterUnknown || err == nil {
		t.Errorf("carried out and answered 500: %s, %v", outcome, err)
	}
	if outcome, err := client.SendMeterEvent(t.Context(), lost); outcome != stripe.MeterUnknown || err == nil {
		t.Errorf("again under the same key: %s, %v", outcome, err)
	}
	lost.Attempt = 2
	if outcome, err := client.SendMeterEvent(t.Context(), lost); outcome != stripe.MeterTaken || err != nil {
		t.Errorf("again under another key: %s, %v", outcome, err)
	}
}
