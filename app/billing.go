package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parlance.dev/parlance/billing"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/usage"
)

// Stripe is the payment provider. Without a key there are no checkouts, without a secret no events
// are taken.
type Stripe struct {
	APIKey         seal.Secret
	WebhookSecrets []seal.Secret
	BaseURL        string
	// Meters have the event names of meters at Stripe by our meters. Empty: no usage is reported.
	Meters map[string]string
}

// maxMeterNameBytes bounds an event name. Source: docs.stripe.com, Create a billing meter event.
const maxMeterNameBytes = 100

// billingSettings lists the settings of Stripe, and of what tenants pay for.
func (c *Config) billingSettings() []Setting {
	return group("Billing",
		setting("STRIPE_API_KEY", "", text(&c.Stripe.APIKey),
			"Secret or restricted API key of Stripe (sk_… or rk_…), for checkouts, portals and STRIPE_METERS. Default: none, and "+
				"checkouts and portals are answered with 409 provider-not-configured.").secret(),
		setting("STRIPE_WEBHOOK_SECRET", "", c.parseWebhookSecrets,
			"Signing secret (whsec_…) of the webhook endpoint at Stripe that sends events to /v1/billing/stripe/webhook; while "+
				"it is exchanged several, separated by commas. Default: none, and events are answered with 409.").secret(),
		setting("STRIPE_METERS", "", c.parseMeters,
			"Meters whose usage is reported to meters at Stripe, as meter=event_name separated by commas: "+
				"tokens=parlance_tokens,sessions=parlance_sessions. Needs STRIPE_API_KEY. Default: none, and no usage is reported."),
		setting("STRIPE_BASE_URL", stripe.DefaultBaseURL, address(&c.Stripe.BaseURL, "http", "https"),
			"Root of Stripe's interface, without /v1, for proxies and tests."),
		setting("BILLING_GRACE_DAYS", "7", number(&c.BillingGraceDays, 0, 365),
			"Days for which a tenant keeps its plan after a payment has failed."),
		setting("BILLING_FALLBACK_PLAN", "free", text(&c.BillingFallbackPlan),
			"Plan of tenants whose subscription has ended, or whose days of grace are over."),
	)
}

func (c *Config) parseWebhookSecrets(v string) error {
	c.Stripe.WebhookSecrets = nil
	for _, secret := range splitList(v) {
		c.Stripe.WebhookSecrets = append(c.Stripe.WebhookSecrets, seal.Secret(secret))
	}
	return nil
}

// parseMeters refuses what would be reported twice, or is no usage that Stripe could add up.
func (c *Config) parseMeters(v string) error {
	c.Stripe.Meters = map[string]string{}
	names := map[string]bool{}
	for _, part := range splitList(v) {
		meter, name, _ := strings.Cut(part, "=")
		meter, name = strings.TrimSpace(meter), strings.TrimSpace(name)
		_, twice := c.Stripe.Meters[meter]
		switch known := usage.Meter(meter); {
		case name == "" || len(name) > maxMeterNameBytes:
			return fmt.Errorf("has %q, which is not meter=event_name with a name of at most %d bytes", part, maxMeterNameBytes)
		case known == usage.KBBytes:
			return errors.New("has kb_bytes, which cannot be reported: it is what is stored at a time, and Stripe adds up what is reported")
		case !known.Known():
			return fmt.Errorf("has the meter %q; the meters are those of GET /v1/usage, such as sessions, turns and tokens", meter)
		case twice || names[name]:
			return fmt.Errorf("has %q, whose meter or event name is there before: the same usage would be counted twice", part)
		}
		c.Stripe.Meters[meter], names[name] = name, true
	}
	return nil
}

// check returns an error for settings that cannot work together. It names the setting.
func (s Stripe) check() error {
	if len(s.Meters) > 0 && !s.APIKey.IsSet() {
		return errors.New("PARLANCE_STRIPE_METERS needs PARLANCE_STRIPE_API_KEY")
	}
	return nil
}

// openBilling makes the billing of tenants.
func (a *App) openBilling() error {
	client, err := a.Config.newStripe()
	if err != nil {
		return err
	}
	a.Billing, err = billing.New(billing.Deps{
		DB: a.db, Workspaces: a.Workspaces, Stripe: client, APIKey: a.Config.Stripe.APIKey,
		WebhookSecrets: a.Config.Stripe.WebhookSecrets, Grace: time.Duration(a.Config.BillingGraceDays) * 24 * time.Hour,
		FallbackPlan: a.Config.BillingFallbackPlan, Meters: a.Config.Stripe.Meters,
		Log: a.log, Now: a.now, Registry: a.metrics.Registry,
	})
	if err != nil {
		return err
	}
	a.Workspaces.OnCustomer(a.Billing.CustomerChanged)
	return nil
}

// newStripe returns the client of Stripe; nil without a key.
func (c Config) newStripe() (*stripe.Client, error) {
	if !c.Stripe.APIKey.IsSet() {
		return nil, nil //nolint:nilnil // nil is the documented value
	}
	guard, err := c.operatorGuard()
	if err != nil {
		return nil, err
	}
	client, err := guard.OperatorClient([]string{c.Stripe.BaseURL}, publicnet.ClientOptions{})
	if err != nil {
		return nil, fmt.Errorf("Stripe: %w", err)
	}
	return stripe.New(stripe.Config{BaseURL: c.Stripe.BaseURL, APIKey: c.Stripe.APIKey, Client: client})
}
