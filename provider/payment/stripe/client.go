package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/internal/apiclient"
)

const (
	// DefaultBaseURL is Stripe itself.
	DefaultBaseURL = "https://api.stripe.com"
	// Version is the version of the interface that the client asks for, whatever the account's is.
	Version = "2025-08-27.basil"
	// timeout bounds one attempt. Somebody waits for a page.
	timeout        = 20 * time.Second
	maxAnswerBytes = 1 << 20
	maxShownRunes  = 300
)

// Config is what a Client is made of. All but BaseURL are required.
type Config struct {
	// BaseURL is the root of the interface without /v1; empty: DefaultBaseURL.
	BaseURL string
	// APIKey is a secret or restricted key: sk_live_…, rk_test_….
	APIKey seal.Secret
	Client *http.Client
}

// Client makes pages of Stripe, and reports usage. It is safe for concurrent use.
type Client struct {
	base   *url.URL
	apiKey seal.Secret
	client *http.Client
}

// New makes a client; it calls nobody. Errors: what is missing or malformed.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if !c.APIKey.IsSet() || c.Client == nil {
		return nil, errors.New("a client of Stripe needs an API key and an HTTP client")
	}
	base, err := apiclient.ParseBase(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("the base URL of Stripe: %w", err)
	}
	return &Client{base: base, apiKey: c.APIKey, client: c.Client}, nil
}

// Livemode says whether a key moves real money. known is false for a key of another shape.
func Livemode(key seal.Secret) (live, known bool) {
	switch _, rest, _ := strings.Cut(key.Reveal(), "_"); {
	case strings.HasPrefix(rest, "live_"):
		return true, true
	case strings.HasPrefix(rest, "test_"):
		return false, true
	}
	return false, false
}

// Page is a page of Stripe for a browser.
type Page struct {
	URL string
	// ExpiresAt is zero when it is not said.
	ExpiresAt time.Time
}

// CheckoutParams say what is subscribed to, and for whom.
type CheckoutParams struct {
	PriceID  string
	TenantID string
	// CustomerID is empty when Stripe is to make a customer.
	CustomerID string
	SuccessURL string
	CancelURL  string
}

// CreateCheckout makes a page on which somebody subscribes. Under an Idempotency-Key of the
// caller's it is the same page again. Errors: Invalid invalid-request when Stripe refuses a URL;
// Upstream upstream-failed; ctx's error.
func (c *Client) CreateCheckout(ctx context.Context, p CheckoutParams) (Page, error) {
	form := url.Values{
		"mode":                    {"subscription"},
		"line_items[0][price]":    {p.PriceID},
		"line_items[0][quantity]": {"1"},
		"client_reference_id":     {p.TenantID},
		"metadata[tenant_id]":     {p.TenantID},
		"success_url":             {p.SuccessURL},
		"cancel_url":              {p.CancelURL},
		// It is on the subscription for the people who look at it in Stripe's dashboard.
		"subscription_data[metadata][tenant_id]": {p.TenantID},
	}
	if p.CustomerID != "" {
		form.Set("customer", p.CustomerID)
	}
	return c.createPage(ctx, "v1/checkout/sessions", form)
}

// PortalParams say whose page it is.
type PortalParams struct {
	CustomerID string
	ReturnURL  string
}

// CreatePortal makes a page on which a customer changes its subscription. Errors: those of
// CreateCheckout.
func (c *Client) CreatePortal(ctx context.Context, p PortalParams) (Page, error) {
	return c.createPage(ctx, "v1/billing_portal/sessions", url.Values{"customer": {p.CustomerID}, "return_url": {p.ReturnURL}})
}

// caller posts forms to a path under a key that makes repetitions harmless.
func (c *Client) caller(path, idempotencyKey string) apiclient.Caller {
	header := apiclient.Header("application/json", c.apiKey.Reveal())
	header.Set("Stripe-Version", Version)
	header.Set("Idempotency-Key", idempotencyKey)
	return apiclient.Caller{
		Client: c.client, URL: c.base.JoinPath(path).String(), Header: header,
		ContentType: "application/x-www-form-urlencoded", Timeout: timeout,
	}
}

func (c *Client) createPage(ctx context.Context, path string, form url.Values) (Page, error) {
	caller := c.caller(path, idgen.In(ctx, idgen.Request))
	answer, err := caller.PostWhole(ctx, []byte(form.Encode()), maxAnswerBytes)
	if err != nil {
		return Page{}, c.explain(ctx, err)
	}
	var page struct {
		URL       string   `json:"url"`
		ExpiresAt unixTime `json:"expires_at"`
	}
	if err := json.Unmarshal(answer, &page); err != nil || page.URL == "" {
		return Page{}, fault.Wrap(err, fault.UpstreamFailed, "Stripe answered something other than a page.")
	}
	return Page{URL: page.URL, ExpiresAt: page.ExpiresAt.Time}, nil
}

// callersURLs are the parameters that the caller of Parlance has chosen.
var callersURLs = map[string]bool{"success_url": true, "cancel_url": true, "return_url": true}

// explain turns a refusal into a fault with Stripe's own sentence. The sentence about a wrong key
// repeats parts of the key, so that one is left out.
func (c *Client) explain(ctx context.Context, err error) error {
	decided := apiclient.Fault(ctx, "Stripe", err)
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	if !ok || ctx.Err() != nil || refusal.Status == http.StatusUnauthorized {
		return decided
	}
	var said struct {
		Error struct {
			Message string `json:"message"`
			Param   string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(refusal.Detail), &said) != nil || said.Error.Message == "" {
		return decided
	}
	message := strings.ReplaceAll(said.Error.Message, c.apiKey.Reveal(), "***")
	if runes := []rune(message); len(runes) > maxShownRunes {
		message = string(runes[:maxShownRunes]) + "…"
	}
	if refusal.Status == http.StatusBadRequest && callersURLs[said.Error.Param] {
		return fault.InvalidField(said.Error.Param, "refused", "Stripe does not take it: %s", message)
	}
	return fault.Wrap(refusal, fault.UpstreamFailed, "Stripe answered %d: %s", refusal.Status, message)
}
