package app

import (
	"fmt"
	"time"

	"parlance.dev/parlance/billing"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/payment/stripe"
)

// Stripe is the payment provider. Without a key there are no checkouts, without a secret no events
// are taken.
type Stripe struct {
	APIKey         seal.Secret
	WebhookSecrets []seal.Secret
	BaseURL        string
}

// billingSettings lists the settings of Stripe, and of what tenants pay for.
func (c *Config) billingSettings() []Setting {
	return group("Billing",
		setting("STRIPE_API_KEY", "", text(&c.Stripe.APIKey),
			"Secret or restricted API key of Stripe (sk_… or rk_…), for checkouts and portals. Default: none, and these are "+
				"answered with 409 provider-not-configured.").secret(),
		setting("STRIPE_WEBHOOK_SECRET", "", c.parseWebhookSecrets,
			"Signing secret (whsec_…) of the webhook endpoint at Stripe that sends events to /v1/billing/stripe/webhook; while "+
				"it is exchanged several, separated by commas. Default: none, and events are answered with 409.").secret(),
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

// openBilling makes the billing of tenants.
func (a *App) openBilling() error {
	client, err := a.Config.newStripe()
	if err != nil {
		return err
	}
	a.Billing, err = billing.New(billing.Deps{
		DB: a.db, Workspaces: a.Workspaces, Stripe: client, APIKey: a.Config.Stripe.APIKey,
		WebhookSecrets: a.Config.Stripe.WebhookSecrets, Grace: time.Duration(a.Config.BillingGraceDays) * 24 * time.Hour,
		FallbackPlan: a.Config.BillingFallbackPlan, Log: a.log, Now: a.now,
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
