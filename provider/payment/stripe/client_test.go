package stripe_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/payment/stripe"
	fake "parlance.dev/parlance/test/fake/stripe"
)

func open(t *testing.T, key seal.Secret) (*stripe.Client, *fake.Server) {
	t.Helper()
	server := fake.New(t)
	client, err := stripe.New(stripe.Config{BaseURL: server.URL, APIKey: key, Client: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

func params() stripe.CheckoutParams {
	return stripe.CheckoutParams{
		PriceID: "price_1", TenantID: "ten_1", CustomerID: "cus_1", SuccessURL: "https://app.example.com/paid?s={CHECKOUT_SESSION_ID}",
		CancelURL: "https://app.example.com/plans",
	}
}

func TestCreateCheckout(t *testing.T) {
	t.Parallel()
	client, server := open(t, fake.APIKey)
	page, err := client.CreateCheckout(t.Context(), params())
	if err != nil || !strings.HasPrefix(page.URL, "https://checkout.stripe.com/") || time.Until(page.ExpiresAt) < time.Hour {
		t.Fatalf("got %+v, %v", page, err)
	}
	call := server.Calls()[0]
	want := url.Values{
		"mode": {"subscription"}, "line_items[0][price]": {"price_1"}, "line_items[0][quantity]": {"1"}, "customer": {"cus_1"},
		"client_reference_id": {"ten_1"}, "metadata[tenant_id]": {"ten_1"}, "subscription_data[metadata][tenant_id]": {"ten_1"},
		"success_url": {"https://app.example.com/paid?s={CHECKOUT_SESSION_ID}"}, "cancel_url": {"https://app.example.com/plans"},
	}
	if diff := cmp.Diff(want, call.Form); diff != "" || call.Version != stripe.Version || call.IdempotencyKey == "" {
		t.Errorf("%+v (-want +got)\n%s", call, diff)
	}
	without := params()
	without.CustomerID = ""
	if _, err := client.CreateCheckout(t.Context(), without); err != nil || server.Calls()[1].Form.Has("customer") {
		t.Errorf("without a customer: %v, %v", err, server.Calls()[1].Form)
	}
}

func TestCreatePortal(t *testing.T) {
	t.Parallel()
	client, server := open(t, fake.APIKey)
	page, err := client.CreatePortal(t.Context(), stripe.PortalParams{CustomerID: "cus_1", ReturnURL: "https://app.example.com/"})
	if err != nil || !strings.HasPrefix(page.URL, "https://billing.stripe.com/") {
		t.Fatalf("got %+v, %v", page, err)
	}
	want := url.Values{"customer": {"cus_1"}, "return_url": {"https://app.example.com/"}}
	if diff := cmp.Diff(want, server.Calls()[0].Form); diff != "" {
		t.Error(diff)
	}
}

// TestRepetitions: a call that Stripe could not answer is made again under the same key, and a
// request that is repeated under an Idempotency-Key gets the same page.
func TestRepetitions(t *testing.T) {
	t.Parallel()
	client, server := open(t, fake.APIKey)
	server.Fail(http.StatusInternalServerError)
	if _, err := client.CreateCheckout(t.Context(), params()); err != nil {
		t.Fatal(err)
	}
	calls := server.Calls()
	if len(calls) != 2 || calls[0].IdempotencyKey != calls[1].IdempotencyKey {
		t.Errorf("calls: %+v", calls)
	}
	seeded := idgen.WithSeed(t.Context(), idgen.Seed{At: now, Secret: []byte("of the caller's key")})
	first, err := client.CreateCheckout(seeded, params())
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.CreateCheckout(seeded, params())
	if err != nil || second.URL != first.URL {
		t.Errorf("got %+v, %v, want %+v", second, err, first)
	}
	other, err := client.CreateCheckout(t.Context(), params())
	if err != nil || other.URL == first.URL {
		t.Errorf("another request got the same page: %v", err)
	}
}

// TestErrors: Stripe's own words are shown, a key never is.
func TestErrors(t *testing.T) {
	t.Parallel()
	client, server := open(t, fake.APIKey)
	wrong, _ := open(t, "sk_live_ThisIsAnotherKey9876")
	bad := params()
	bad.SuccessURL = "https://localhost/paid"
	gone := params()
	gone.CustomerID = "cus_gone"
	noPrice := params()
	noPrice.PriceID = "prod_1"
	for name, row := range map[string]struct {
		client *stripe.Client
		params stripe.CheckoutParams
		reason fault.Reason
		says   string
	}{
		"a URL":      {client, bad, fault.InvalidRequest, "Not a valid URL"},
		"a customer": {client, gone, fault.UpstreamFailed, "No such customer: 'cus_gone'"},
		"a price":    {client, noPrice, fault.UpstreamFailed, "No such price: 'prod_1'"},
		"the key":    {wrong, params(), fault.UpstreamFailed, "refused our API key"},
	} {
		_, err := row.client.CreateCheckout(t.Context(), row.params)
		if fault.ReasonOf(err) != row.reason || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v", name, err)
		}
		if text := err.Error(); strings.Contains(text, "9876") || strings.Contains(text, fake.APIKey) {
			t.Errorf("%s: the error shows a key: %s", name, text)
		}
	}
	server.Fail(500, 500)
	if _, err := client.CreateCheckout(t.Context(), params()); fault.ReasonOf(err) != fault.UpstreamFailed {
		t.Errorf("twice in trouble: %v", err)
	}
	server.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.CreateCheckout(ctx, params()); fault.ReasonOf(err) != fault.DeadlineExceeded {
		t.Errorf("a caller without patience: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, config := range []stripe.Config{
		{Client: &http.Client{}}, {APIKey: fake.APIKey}, {APIKey: fake.APIKey, Client: &http.Client{}, BaseURL: "api.stripe.com"},
	} {
		if _, err := stripe.New(config); err == nil {
			t.Errorf("%+v was taken", config)
		}
	}
}

func TestLivemode(t *testing.T) {
	t.Parallel()
	for key, want := range map[seal.Secret][2]bool{
		"sk_live_1": {true, true}, "rk_live_1": {true, true}, "sk_test_1": {false, true}, "rk_test_1": {false, true}, "": {}, "other": {},
	} {
		if live, known := stripe.Livemode(key); live != want[0] || known != want[1] {
			t.Errorf("%s: got %t, %t", key.Reveal(), live, known)
		}
	}
}
