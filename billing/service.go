package billing

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with. DB and Workspaces are required. The
// plans of Workspaces say which price buys which plan.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	// Stripe makes checkouts and portals. nil means that it is not configured.
	Stripe *stripe.Client
	// APIKey is Stripe's; only whether it is one for tests is looked at.
	APIKey seal.Secret
	// WebhookSecrets check who sends events. Without one no events are taken.
	WebhookSecrets []seal.Secret
	// Meters have the event names of meters at Stripe by the names of ours (usage.Meter). Empty means
	// that no usage is reported. Reporting needs Stripe.
	Meters map[string]string
	// Grace is how long a plan is kept when a payment has failed.
	Grace time.Duration
	// FallbackPlan is the plan of tenants whose subscription gives none any more.
	FallbackPlan string
	// Log may be nil.
	Log *slog.Logger
	// Now is the clock, in UTC. nil means time.Now.
	Now func() time.Time
	// Registry gets the metrics. nil: there are none.
	Registry prometheus.Registerer
}

// Service keeps subscriptions and plans up to date, and reports usage. Safe for concurrent use.
type Service struct {
	Deps
	meterEvents *prometheus.CounterVec
}

// New makes the service. Errors: events of Stripe are taken, and the fallback plan does not exist.
func New(d Deps) (*Service, error) {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	plans := d.Workspaces.Plans()
	if _, known := plans[d.FallbackPlan]; !known && len(d.WebhookSecrets) > 0 {
		return nil, errors.New("PARLANCE_BILLING_FALLBACK_PLAN names none of the plans " + strings.Join(plans.Names(), ", "))
	}
	return &Service{Deps: d, meterEvents: newMeterMetrics(d.Registry)}, nil
}

// terms are those of the present plans.
func (s *Service) terms() terms { return terms{plans: s.Workspaces.Plans(), grace: s.Grace} }

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Overview is what a tenant is on, and what it pays for.
type Overview struct {
	Tenant workspaces.Tenant
	// Subscription is the one that gives the plan, or else the newest one of the customer. nil
	// means that there is none.
	Subscription *Subscription
	// StripeConfigured says whether checkouts and portals can be made.
	StripeConfigured bool
	// UsageReportedAt is when Stripe took usage last. Zero means never.
	UsageReportedAt time.Time
	// UsageProblem says in words why usage is not reported. Empty means that it is, or that usage is
	// not reported at all.
	UsageProblem string
}

// Overview returns what the caller's tenant is on, and what it pays for. A key that is restricted
// to one workspace sees the plan only. Errors: NotFound.
func (s *Service) Overview(ctx context.Context, p workspaces.Principal) (Overview, error) {
	tenant, err := s.Workspaces.Tenant(ctx, p.TenantID)
	if err != nil {
		return Overview{}, err
	}
	overview := Overview{Tenant: tenant.VisibleTo(p), StripeConfigured: s.Stripe != nil}
	found, err := selectSubscriptions(ctx, s.DB, tenant.ID)
	if err != nil {
		return Overview{}, err
	}
	own := ofCustomer(found, overview.Tenant.StripeCustomerID)
	slices.SortFunc(own, func(a, b Subscription) int {
		switch {
		case a.GivesPlan != b.GivesPlan && a.GivesPlan, a.GivesPlan == b.GivesPlan && startedAfter(a, b):
			return -1
		}
		return 1
	})
	if len(own) > 0 {
		overview.Subscription = &own[0]
	}
	if seesAll := p.RequireWholeTenant() == nil; seesAll && len(s.Meters) > 0 {
		reports, err := selectUsageReports(ctx, s.DB, tenant.ID, s.timestamp())
		if err != nil {
			return Overview{}, err
		}
		overview.UsageReportedAt, overview.UsageProblem = reports.ReportedAt, reports.problem()
	}
	return overview, nil
}

// CheckoutParams say what is subscribed to, and where the browser goes afterwards.
type CheckoutParams struct {
	Plan       string
	SuccessURL string
	CancelURL  string
}

// CreateCheckout makes a page of Stripe on which somebody subscribes to a plan for the tenant.
// Errors: Invalid invalid-request (an unknown plan, one without a price, a URL), Precondition
// provider-not-configured, Upstream upstream-failed.
func (s *Service) CreateCheckout(ctx context.Context, id workspaces.TenantID, p CheckoutParams) (stripe.Page, error) {
	if s.Stripe == nil {
		return stripe.Page{}, errNotConfigured()
	}
	plans := s.Workspaces.Plans()
	plan, known := plans[p.Plan]
	switch {
	case !known:
		return stripe.Page{}, fault.InvalidField("plan", "unknown", "Use one of the plans %s.", strings.Join(plans.Names(), ", "))
	case len(plan.StripePriceIDs) == 0:
		return stripe.Page{}, fault.InvalidField("plan", "no_price", "The plan %q has no price at Stripe (stripe_price_ids).", p.Plan)
	}
	if err := checkURLs(map[string]string{"success_url": p.SuccessURL, "cancel_url": p.CancelURL}); err != nil {
		return stripe.Page{}, err
	}
	tenant, err := s.Workspaces.Tenant(ctx, id)
	if err != nil {
		return stripe.Page{}, err
	}
	customer := tenant.StripeCustomerID
	if gone, err := customerDeleted(ctx, s.DB, tenant.ID, customer); err != nil || gone {
		customer = "" // Stripe makes another one
		if err != nil {
			return stripe.Page{}, err
		}
	}
	return s.Stripe.CreateCheckout(ctx, stripe.CheckoutParams{
		PriceID: plan.StripePriceIDs[0], TenantID: string(tenant.ID), CustomerID: customer, SuccessURL: p.SuccessURL, CancelURL: p.CancelURL,
	})
}

// CreatePortal makes a page of Stripe on which the tenant's customer changes its subscription.
// Errors: Invalid invalid-request (a URL), Precondition provider-not-configured or
// billing-customer-missing, Upstream upstream-failed.
func (s *Service) CreatePortal(ctx context.Context, id workspaces.TenantID, returnURL string) (stripe.Page, error) {
	if s.Stripe == nil {
		return stripe.Page{}, errNotConfigured()
	}
	if err := checkURLs(map[string]string{"return_url": returnURL}); err != nil {
		return stripe.Page{}, err
	}
	tenant, err := s.Workspaces.Tenant(ctx, id)
	if err != nil {
		return stripe.Page{}, err
	}
	gone, err := customerDeleted(ctx, s.DB, tenant.ID, tenant.StripeCustomerID)
	if err != nil {
		return stripe.Page{}, err
	}
	if tenant.StripeCustomerID == "" || gone {
		return stripe.Page{}, fault.New(fault.BillingCustomerMissing, "The tenant has no customer at Stripe: the first checkout makes one.")
	}
	return s.Stripe.CreatePortal(ctx, stripe.PortalParams{CustomerID: tenant.StripeCustomerID, ReturnURL: returnURL})
}

func errNotConfigured() error {
	return fault.New(fault.ProviderNotConfigured, "Stripe is not configured: set PARLANCE_STRIPE_API_KEY.")
}

// checkURLs refuses what a browser cannot be sent to, by the names of the fields.
func checkURLs(urls map[string]string) error {
	var wrong []fault.Field
	for _, field := range slices.Sorted(maps.Keys(urls)) {
		u, err := url.Parse(urls[field])
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			wrong = append(wrong, fault.Field{Field: field, Code: "url", Message: field + " must be a URL such as https://app.example.com/account."})
		}
	}
	if len(wrong) > 0 {
		return fault.InvalidFields(wrong...)
	}
	return nil
}

// ofCustomer returns the subscriptions of one customer of the tenant.
func ofCustomer(subscriptions []Subscription, customerID string) []Subscription {
	return slices.DeleteFunc(slices.Clone(subscriptions), func(s Subscription) bool {
		return customerID == "" || s.CustomerID != customerID
	})
}
