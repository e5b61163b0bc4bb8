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

func newKeys() *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Create, list, rotate and revoke API keys; rotate the service's own keys", GroupID: "admin"}
	cmd.AddCommand(newKeysCreate(), newKeysList(), newKeysRotate(), newKeysDelete())
	for _, sub := range cmd.Commands() {
		sub.Flags().String("tenant", "", "tenant the keys belong to, ten_… (see parlance tenants list)")
		command.AddSettings(sub)
		command.AddDataDir(sub)
	}
	cmd.AddCommand(newKeysRotateMaster(), newKeysRotateData(), newKeysRotateTokens())
	return cmd
}

// adminOf returns an admin of the tenant that --tenant names.
func adminOf(cmd *cobra.Command) (workspaces.Principal, error) {
	tenant, _ := cmd.Flags().GetString("tenant") // the flag is a string
	if tenant == "" {
		return workspaces.Principal{}, command.Usagef("--tenant is missing")
	}
	return workspaces.Principal{TenantID: workspaces.TenantID(tenant), Scope: workspaces.ScopeAdmin}, nil
}

// withKeys opens the tenancy for do.
func withKeys(do func(cmd *cobra.Command, args []string, tenancy *workspaces.Service,
	admin workspaces.Principal) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		admin, err := adminOf(cmd)
		if err != nil {
			return err
		}
		return withTenancy(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service) error {
			if _, err := tenancy.Tenant(cmd.Context(), admin.TenantID); err != nil {
				return err
			}
			return do(cmd, args, tenancy, admin)
		})(cmd, args)
	}
}

func printMinted(cmd *cobra.Command, key workspaces.MintedKey, asJSON bool) error {
	if asJSON {
		return command.PrintJSON(cmd, struct {
			ID     workspaces.KeyID `json:"id"`
			APIKey string           `json:"api_key"`
		}{key.ID, key.Secret.Reveal()})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "key      %s (%s)\nAPI key  %s\n\nThe key is shown this once: keep it.\n",
		key.ID, key.Scope, key.Secret.Reveal())
	return err
}

func newKeysCreate() *cobra.Command {
	var params workspaces.CreateKeyParams
	var workspace string
	var expires time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a key, which is shown once",
		Example: "  parlance keys create backend --tenant ten_… --scope runtime --expires 720h", Args: command.ExactArgs("NAME"),
		RunE: withKeys(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service, admin workspaces.Principal) error {
			params.Name, params.WorkspaceID = args[0], workspaces.ID(workspace)
			if expires > 0 {
				params.ExpiresAt = time.Now().Add(expires)
			}
			key, err := tenancy.CreateKey(cmd.Context(), admin, params)
			if err != nil {
				return err
			}
			return printMinted(cmd, key, asJSON)
		}),
	}
	cmd.Flags().StringVar(&params.Scope, "scope", "operator", "read, runtime, operator or admin; each contains the ones before")
	cmd.Flags().StringVar(&workspace, "workspace", "", "restrict the key to one workspace, ws_…")
	cmd.Flags().DurationVar(&expires, "expires", 0, "life of the key, e.g. 720h; 0 is for ever")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {id, api_key}")
	return cmd
}

func newKeysList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List a tenant's keys, newest first", Args: command.ExactArgs(),
		RunE: withKeys(func(cmd *cobra.Command, _ []string, tenancy *workspaces.Service, admin workspaces.Principal) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			keys, err := command.All(func(token string) ([]workspaces.Key, string, error) {
				return tenancy.ListKeys(cmd.Context(), admin, postgres.PageParams{Size: postgres.MaxPageSize, Token: token})
			})
			if err != nil {
				return err
			}
			for _, k := range keys {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t…%s\t%s\n", k.ID, k.Name, k.Scope, k.WorkspaceID, k.SecretHint, expiry(k))
			}
			return table.Flush()
		}),
	}
}

func expiry(k workspaces.Key) string {
	if k.ExpiresAt.IsZero() {
		return "never expires"
	}
	return "expires " + k.ExpiresAt.UTC().Format(time.RFC3339)
}

func newKeysRotate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rotate KEY_ID", Short: "Give a key a new secret; the old one stops working at once", Args: command.ExactArgs("KEY_ID"),
		RunE: withKeys(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service, admin workspaces.Principal) error {
			key, err := tenancy.RotateKey(cmd.Context(), admin, workspaces.KeyID(args[0]))
			if err != nil {
				return err
			}
			return printMinted(cmd, key, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {id, api_key}")
	return cmd
}

func newKeysDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete KEY_ID", Short: "Revoke a key at once", Args: command.ExactArgs("KEY_ID"),
		RunE: withKeys(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service, admin workspaces.Principal) error {
			return tenancy.DeleteKey(cmd.Context(), admin, workspaces.KeyID(args[0]))
		}),
	}
}
