package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/audit"
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
		RunE: withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
			made, err := t.CreateTenant(cmd.Context(), args[0], plan)
			if err != nil {
				return err
			}
			after := map[string]any{"name": made.Tenant.Name, "plan": made.Tenant.Plan}
			unrecorded := recorded(t.record(cmd, made.Tenant.ID, "tenant.create", after))
			if asJSON {
				return errors.Join(unrecorded, command.PrintJSON(cmd, struct {
					TenantID    workspaces.TenantID `json:"tenant_id"`
					WorkspaceID workspaces.ID       `json:"workspace_id"`
					APIKey      string              `json:"api_key"`
				}{made.Tenant.ID, made.Workspace.ID, made.Key.Secret.Reveal()}))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "tenant     %s (%s)\nworkspace  %s\nAPI key    %s\n\nThe key is shown this once: keep it.\n",
				made.Tenant.ID, made.Tenant.Plan, made.Workspace.ID, made.Key.Secret.Reveal())
			return errors.Join(unrecorded, err)
		}),
	}
	cmd.Flags().StringVar(&plan, "plan", "free", "plan: one of those that parlance plans list shows")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {tenant_id, workspace_id, api_key}")
	return cmd
}

func newTenantsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tenants with their plans", Args: command.ExactArgs(),
		RunE: withTenancy(func(cmd *cobra.Command, _ []string, t tenancy) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			tenants, err := command.All(func(token string) ([]workspaces.Tenant, string, error) {
				return t.Tenants(cmd.Context(), postgres.PageParams{Size: postgres.MaxPageSize, Token: token})
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
		RunE: withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
			before, err := t.Tenant(cmd.Context(), workspaces.TenantID(args[0]))
			if err != nil {
				return err
			}
			tenant, err := t.setPlan(cmd, before, args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is on the plan %s.\n", tenant.ID, tenant.Plan)
			return err
		}),
	}
}

// record writes an entry about a tenant.
func (t tenancy) record(cmd *cobra.Command, tenant workspaces.TenantID, action string, after map[string]any) error {
	entry, err := tenantEntry(tenant, action, nil, after)
	if err != nil {
		return err
	}
	return t.log.Append(cmd.Context(), entry)
}

func tenantEntry(tenant workspaces.TenantID, action string, before, after map[string]any) (e audit.Entry, err error) {
	actor := commandActor()
	e = audit.Entry{
		TenantID: tenant, ActorKind: actor.Kind, ActorName: actor.Name, Action: action,
		ResourceType: "tenant", ResourceID: string(tenant), Outcome: audit.Done,
	}
	if e.Before, err = audit.Settings(before); err != nil {
		return e, err
	}
	e.After, err = audit.Settings(after)
	return e, err
}

// setPlan changes the plan with an entry in the audit log.
func (t tenancy) setPlan(cmd *cobra.Command, before workspaces.Tenant, plan string) (workspaces.Tenant, error) {
	entry, err := tenantEntry(before.ID, "tenant.set_plan", map[string]any{"plan": before.Plan}, map[string]any{"plan": plan})
	if err != nil {
		return workspaces.Tenant{}, err
	}
	change, err := t.log.Begin(cmd.Context(), entry)
	if err != nil {
		return workspaces.Tenant{}, err
	}
	tenant, err := t.SetPlan(cmd.Context(), before.ID, plan)
	if err != nil {
		return tenant, errors.Join(err, change.Drop(cmd.Context()))
	}
	return tenant, recorded(change.Finish(cmd.Context(), func(*audit.Entry) error { return nil }))
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
		RunE: withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
			return t.DeleteTenant(cmd.Context(), workspaces.TenantID(args[0]))
		}),
	}
	cmd.Flags().BoolVar(&sure, "yes", false, "really do it")
	return cmd
}
