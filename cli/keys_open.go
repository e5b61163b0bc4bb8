package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/server/interceptor"
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
	return withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
		if _, err := t.Tenant(cmd.Context(), tenant); err != nil {
			return err
		}
		policies, err := interceptor.NewPolicies()
		if err != nil {
			return err
		}
		audits := interceptor.NewAudit(interceptor.AuditDeps{
			Entries: t.log, Policies: policies, Actor: commandActor(), Log: slog.New(slog.DiscardHandler), HashUser: noUsers,
		})
		ctx := workspaces.WithPrincipal(cmd.Context(), workspaces.Principal{TenantID: tenant, Scope: workspaces.ScopeAdmin})
		screen := term.Open(cmd.OutOrStdout(), app.OSSource(nil).LookupEnv)
		return run(ctx, &apiKeys{client.Caller{Screen: screen, Now: time.Now}, auditedKeys{rpc.NewAPIKeys(t.Service), audits}}, args)
	})
}

// noUsers is for changes that are about no end user.
func noUsers(context.Context, workspaces.TenantID, string) (string, error) {
	return "", errors.New("API keys belong to no end user")
}

// auditedKeys are the handlers of API keys with entries in the audit log.
type auditedKeys struct {
	parlancev1connect.ApiKeyServiceHandler
	audits *interceptor.Audit
}

// CreateApiKey implements the handler.
//
//nolint:staticcheck // the name of the generated interface
func (k auditedKeys) CreateApiKey(ctx context.Context, req *parlancev1.CreateApiKeyRequest) (*parlancev1.ApiKey, error) {
	return audited(ctx, k.audits, parlancev1connect.ApiKeyServiceCreateApiKeyProcedure, req, k.ApiKeyServiceHandler.CreateApiKey)
}

// RotateApiKey implements the handler.
//
//nolint:staticcheck // the name of the generated interface
func (k auditedKeys) RotateApiKey(ctx context.Context, req *parlancev1.RotateApiKeyRequest) (*parlancev1.ApiKey, error) {
	return audited(ctx, k.audits, parlancev1connect.ApiKeyServiceRotateApiKeyProcedure, req, k.ApiKeyServiceHandler.RotateApiKey)
}

// DeleteApiKey implements the handler.
//
//nolint:staticcheck // the name of the generated interface
func (k auditedKeys) DeleteApiKey(ctx context.Context, req *parlancev1.DeleteApiKeyRequest) (*emptypb.Empty, error) {
	return audited(ctx, k.audits, parlancev1connect.ApiKeyServiceDeleteApiKeyProcedure, req, k.ApiKeyServiceHandler.DeleteApiKey)
}

// audited calls a handler and writes the entry.
func audited[Req, Res proto.Message](
	ctx context.Context, audits *interceptor.Audit, procedure string, req Req, handler func(context.Context, Req) (Res, error),
) (answer Res, err error) {
	err = audits.Do(ctx, interceptor.AuditedCall{Procedure: procedure, Request: req}, func(ctx context.Context) (proto.Message, error) {
		answer, err = handler(ctx, req)
		return answer, err
	})
	return answer, err
}
