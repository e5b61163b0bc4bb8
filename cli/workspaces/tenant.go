package workspaces

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// NewTenant makes the command about the tenant of the key.
func NewTenant() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tenant", Short: "Show and change the tenant of the key", GroupID: "use",
		Long: `The tenant of the key: its name, plan, time zone and customer at Stripe. Without flags the commands work on the
parlance dev of this machine. To change it takes a key of scope admin.`,
		Example: `  parlance tenant show
  parlance tenant update --timezone Europe/Berlin`,
	}
	cmd.AddCommand(newTenantShow(), newTenantUpdate())
	for _, sub := range cmd.Commands() {
		client.AddInstallation(sub)
	}
	return cmd
}

func newTenantShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Aliases: []string{"get"}, Short: "Show the tenant", Args: command.ExactArgs(),
		Example: "  parlance tenant show --json | jq -r .plan",
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			tenant, err := s.workspaces.GetTenant(ctx, &parlancev1.GetTenantRequest{})
			if err != nil {
				return s.Explain("show the tenant", err)
			}
			return s.printTenant(tenant, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tenant as a line of JSON")
	return cmd
}

func newTenantUpdate() *cobra.Command {
	var name, timezone, customer string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "update", Short: "Change the name, the time zone or the Stripe customer of the tenant", Args: command.ExactArgs(),
		Example: `  parlance tenant update --name "Acme & Co."
  parlance tenant update --stripe-customer-id cus_RExample`,
	}
	cmd.RunE = with(func(ctx context.Context, s *service, _ []string) error {
		req := &parlancev1.UpdateTenantRequest{UpdateMask: &fieldmaskpb.FieldMask{}}
		for _, one := range []struct {
			flag, field string
			value       *string
			into        **string
		}{
			{"name", "name", &name, &req.Name},
			{"timezone", "timezone", &timezone, &req.Timezone},
			{"stripe-customer-id", "stripe_customer_id", &customer, &req.StripeCustomerId},
		} {
			if cmd.Flags().Changed(one.flag) {
				*one.into, req.UpdateMask.Paths = one.value, append(req.UpdateMask.Paths, one.field)
			}
		}
		if len(req.GetUpdateMask().GetPaths()) == 0 {
			return command.Usagef("nothing is to change: give --name, --timezone or --stripe-customer-id")
		}
		tenant, err := s.workspaces.UpdateTenant(ctx, req)
		if err != nil {
			return s.Explain("change the tenant", err)
		}
		return s.printTenant(tenant, asJSON)
	})
	cmd.Flags().StringVar(&name, "name", "", "its new name")
	cmd.Flags().StringVar(&timezone, "timezone", "", "IANA time zone in which its days and months of usage begin, such as Europe/Berlin")
	cmd.Flags().StringVar(&customer, "stripe-customer-id", "", "customer that it is at Stripe; an empty value means none")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tenant as a line of JSON")
	return cmd
}

func (s *service) printTenant(tenant *parlancev1.Tenant, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(tenant)
	}
	s.Screen.Line("%s  %s", s.Screen.Strong(term.Clean(tenant.GetName())), s.Screen.Dim(tenant.GetId()))
	s.Fact("plan", tenant.GetPlan())
	s.Fact("time zone", tenant.GetTimezone())
	if customer := tenant.GetStripeCustomerId(); customer != "" {
		s.Fact("customer", customer)
	}
	s.Fact("made", client.Moment(tenant.GetCreatedAt()))
	return nil
}
