package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/workspaces"
)

// apiKeys is what the commands on API keys work with.
type apiKeys struct {
	client.Caller
	// service calls the API, or is its handler on the database.
	service parlancev1connect.ApiKeyServiceClient
}

type runKeys = func(ctx context.Context, k *apiKeys, args []string) error

// withKeys makes the RunE of a command on API keys: on the database with --tenant, and otherwise
// over the API.
func withKeys(run runKeys) func(*cobra.Command, []string) error {
	overAPI := client.WithInstallation(func(c client.Caller) *apiKeys {
		return &apiKeys{c, parlancev1connect.NewApiKeyServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
	return func(cmd *cobra.Command, args []string) error {
		tenant, _ := cmd.Flags().GetString("tenant") // the flag is a string
		switch {
		case tenant != "" && (cmd.Flags().Changed("api-key") || cmd.Flags().Changed("base-url")):
			return command.Usagef("give --tenant to work on the database, or --base-url and --api-key to call the API, not both")
		case tenant != "":
			return inDatabase(workspaces.TenantID(tenant), run)(cmd, args)
		case cmd.Flags().Changed("database-url"):
			return command.Usagef("--tenant is missing: whose keys of the database, ten_…")
		}
		if _, err := client.FindInstallation(cmd, app.OSSource(nil).LookupEnv); err != nil {
			return fmt.Errorf("%w. Without an API key, --tenant ten_… works on the database", err)
		}
		return overAPI(cmd, args)
	}
}

// inDatabase makes the RunE of a command on the keys of a tenant in the command's database. It
// calls the handlers of the API in this process, as an admin of the tenant.
func inDatabase(tenant workspaces.TenantID, run runKeys) func(*cobra.Command, []string) error {
	return withTenancy(func(cmd *cobra.Command, args []string, tenancy *workspaces.Service) error {
		if _, err := tenancy.Tenant(cmd.Context(), tenant); err != nil {
			return err
		}
		ctx := workspaces.WithPrincipal(cmd.Context(), workspaces.Principal{TenantID: tenant, Scope: workspaces.ScopeAdmin})
		screen := term.Open(cmd.OutOrStdout(), app.OSSource(nil).LookupEnv)
		return run(ctx, &apiKeys{client.Caller{Screen: screen, Now: time.Now}, rpc.NewAPIKeys(tenancy)}, args)
	})
}
