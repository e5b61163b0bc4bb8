package billing

import (
	"context"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "billing", Short: "Show what the tenant pays for, and make pages of Stripe to pay it", GroupID: "use",
		Long: `What the tenant of the key is on, its subscription at Stripe, and links to pages of Stripe: a checkout to subscribe
on, a portal to change the subscription. Without flags the commands work on the parlance dev of this machine. Links
take a key of scope admin.`,
		Example: `  parlance billing show
  parlance billing checkout pro --success-url https://app.example.com/paid --cancel-url https://app.example.com/plans
  parlance billing portal --return-url https://app.example.com/account`,
	}
	cmd.AddCommand(newShow(), newCheckout(), newPortal())
	for _, sub := range cmd.Commands() {
		client.AddInstallation(sub)
	}
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	billing parlancev1connect.BillingServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.WithInstallation(func(c client.Caller) *service {
		return &service{Caller: c, billing: parlancev1connect.NewBillingServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Aliases: []string{"get"}, Short: "Show the plan, the subscription and the reports of usage", Args: command.ExactArgs(),
		Example: "  parlance billing show --json | jq -r .subscription.status",
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			shown, err := s.billing.GetBilling(ctx, &parlancev1.GetBillingRequest{})
			if err != nil {
				return s.Explain("show the billing", err)
			}
			if asJSON {
				return s.PrintMessage(shown)
			}
			s.print(shown)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the billing as a line of JSON")
	return cmd
}

func (s *service) print(shown *parlancev1.Billing) {
	s.Screen.Line("%s", s.Screen.Strong(term.Clean(shown.GetPlan())))
	if customer := shown.GetStripeCustomerId(); customer != "" {
		s.Fact("customer", customer)
	}
	if one := shown.GetSubscription(); one != nil {
		s.Fact("subscription", one.GetId())
		s.Fact("status", one.GetStatus())
		s.Fact("price", one.GetPriceId())
		ends := "paid until"
		if one.GetCancelAtPeriodEnd() {
			ends = "ends"
		}
		s.Fact(ends, client.Moment(one.GetCurrentPeriodEnd()))
	}
	if since := shown.GetPaymentFailedAt(); since != nil {
		s.Fact("not paid since", client.Moment(since))
		s.Fact("plan until", client.Moment(shown.GetGraceUntil()))
	}
	if at := shown.GetUsageReportedAt(); at != nil {
		s.Fact("usage reported", client.Moment(at))
	}
	if problem := shown.GetUsageProblem(); problem != "" {
		s.Fact("usage problem", term.Clean(problem))
	}
	if !shown.GetStripeConfigured() {
		s.Screen.Line("%s", s.Screen.Dim("Stripe is not configured here: there are no checkouts and portals."))
	}
}

func newCheckout() *cobra.Command {
	var successURL, cancelURL string
	cmd := &cobra.Command{
		Use: "checkout PLAN", Short: "Make a page on which somebody subscribes to a plan", Args: command.ExactArgs("PLAN"),
		Long: `Prints the URL of a page of Stripe. Whoever has it can subscribe for the tenant, and the plan changes when Stripe says
that it is paid.`,
		Example: `  parlance billing checkout pro --success-url https://app.example.com/paid --cancel-url https://app.example.com/plans`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			page, err := s.billing.CreateCheckout(ctx, &parlancev1.CreateCheckoutRequest{
				Plan: args[0], SuccessUrl: successURL, CancelUrl: cancelURL,
			})
			if err != nil {
				return s.Explain("make the checkout", err)
			}
			s.Line("%s", page.GetUrl())
			return nil
		}),
	}
	cmd.Flags().StringVar(&successURL, "success-url", "", "where the browser goes when it is paid")
	cmd.Flags().StringVar(&cancelURL, "cancel-url", "", "where the browser goes when the person turns back")
	return cmd
}

func newPortal() *cobra.Command {
	var returnURL string
	cmd := &cobra.Command{
		Use: "portal", Short: "Make a page on which the tenant's customer changes its subscription", Args: command.ExactArgs(),
		Example: "  parlance billing portal --return-url https://app.example.com/account",
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			page, err := s.billing.CreatePortal(ctx, &parlancev1.CreatePortalRequest{ReturnUrl: returnURL})
			if err != nil {
				return s.Explain("make the portal", err)
			}
			s.Line("%s", page.GetUrl())
			return nil
		}),
	}
	cmd.Flags().StringVar(&returnURL, "return-url", "", "where the browser goes afterwards")
	return cmd
}
