package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

func newTenants() *cobra.Command {
	cmd := &cobra.Command{Use: "tenants", Short: "Create, list and change tenants", GroupID: "admin"}
	cmd.AddCommand(newTenantsCreate(), newTenantsList(), newTenantsPlan(), newTenantsDelete())
	for _, sub := range cmd.Commands() {
		command.AddSettings(sub)
		command.AddDataDir(sub)
	}
	return cmd
}

func newTenantsCreate() *cobra.Command {
	var plan string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a tenant with a workspace and an admin key, which is shown once",
		Example: "  parlance tenants create acme --plan pro --json", Args: command.ExactArgs("NAME"),
		RunE: withTenancy(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service) error {
			made, err := tenancy.CreateTenant(cmd.Context(), args[0], plan)
			if err != nil {
				return err
			}
			if asJSON {
				return command.PrintJSON(cmd, struct {
					TenantID    workspaces.TenantID `json:"tenant_id"`
					WorkspaceID workspaces.ID       `json:"workspace_id"`
					APIKey      string              `json:"api_key"`
				}{made.Tenant.ID, made.Workspace.ID, made.Key.Secret.Reveal()})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "tenant     %s (%s)\nworkspace  %s\nAPI key    %s\n\nThe key is shown this once: keep it.\n",
				made.Tenant.ID, made.Tenant.Plan, made.Workspace.ID, made.Key.Secret.Reveal())
			return err
		}),
	}
	cmd.Flags().StringVar(&plan, "plan", "free", "plan: free, pro, enterprise, or one of PARLANCE_PLANS_FILE")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {tenant_id, workspace_id, api_key}")
	return cmd
}

func newTenantsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tenants with their plans", Args: command.ExactArgs(),
		RunE: withTenancy(func(cmd *cobra.Command, _ []string, tenancy *workspaces.Service) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			tenants, err := command.All(func(token string) ([]workspaces.Tenant, string, error) {
				return tenancy.Tenants(cmd.Context(), postgres.PageParams{Size: postgres.MaxPageSize, Token: token})
			})
			if err != nil {
				return err
			}
			for _, t := range tenants {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Plan, t.CreatedAt.UTC().Format(time.RFC3339))
			}
			return table.Flush()
		}),
	}
}

func newTenantsPlan() *cobra.Command {
	return &cobra.Command{
		Use: "set-plan TENANT_ID PLAN", Short: "Move a tenant to another plan, from its next request on",
		Args: command.ExactArgs("TENANT_ID", "PLAN"),
		RunE: withTenancy(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service) error {
			tenant, err := tenancy.SetPlan(cmd.Context(), workspaces.TenantID(args[0]), args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is on the plan %s.\n", tenant.ID, tenant.Plan)
			return err
		}),
	}
}

func newTenantsDelete() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "delete TENANT_ID", Short: "Remove a tenant with everything in it; it cannot be undone", Args: command.ExactArgs("TENANT_ID"),
		PreRunE: func(_ *cobra.Command, args []string) error {
			if !sure {
				return command.Usagef("this removes everything of %s: add --yes to do it", args[0])
			}
			return nil
		},
		RunE: withTenancy(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service) error {
			return tenancy.DeleteTenant(cmd.Context(), workspaces.TenantID(args[0]))
		}),
	}
	cmd.Flags().BoolVar(&sure, "yes", false, "really do it")
	return cmd
}
