package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/workspaces"
)

func newKeys() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, list, rotate and revoke API keys; rotate the service's own keys", GroupID: "admin",
		Long: `create, ls, rotate and revoke work on the API keys of a tenant.

Without --tenant they call the API with an admin key: that of --api-key, of ` + command.EnvAPIKey + `, or of the
parlance dev of this machine. With --tenant they open the database instead and need no API key. This is how the
operator of an installation makes the first key of a tenant, or one in place of a lost key.

rotate-master, rotate-data and rotate-tokens change the keys that the service itself encrypts and signs with. They
always open the database.`,
		Example: `  parlance keys ls
  parlance keys create backend --scope runtime --expires 720h
  parlance keys rotate key_01j…
  parlance keys create first --scope admin --tenant ten_01j… --database-url postgres://…`,
	}
	cmd.AddCommand(newKeysCreate(), newKeysList(), newKeysRotate(), newKeysRevoke())
	for _, sub := range cmd.Commands() {
		sub.Flags().String("tenant", "", "work on the database, on the keys of this tenant, ten_… (see parlance tenants list)")
		sub.Flags().String("data-dir", "", "use the parlance dev with this data directory: its API, or its database when a tenant is given")
		client.AddInstallation(sub)
		command.AddSettings(sub)
	}
	cmd.AddCommand(newKeysRotateMaster(), newKeysRotateData(), newKeysRotateTokens())
	return cmd
}

func newKeysCreate() *cobra.Command {
	var req parlancev1.CreateApiKeyRequest
	var expires time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a key, which is shown once", Args: command.ExactArgs("NAME"),
		Example: `  parlance keys create backend --scope runtime --expires 720h
  parlance keys create ci --workspace ws_01j… --json | jq -r .api_key`,
		RunE: withKeys(func(ctx context.Context, k *apiKeys, args []string) error {
			req.Name = args[0]
			if expires > 0 {
				req.ExpiresAt = timestamppb.New(k.Now().Add(expires))
			}
			made, err := k.service.CreateApiKey(ctx, &req)
			if err != nil {
				return k.Explain("make the key", err)
			}
			return k.printSecret(made, asJSON, "")
		}),
	}
	cmd.Flags().StringVar(&req.Scope, "scope", "operator", "read, runtime, operator or admin; each contains the ones before")
	cmd.Flags().StringVar(&req.WorkspaceId, "workspace", "", "restrict the key to one workspace, ws_…")
	cmd.Flags().DurationVar(&expires, "expires", 0, "life of the key, e.g. 720h; 0 is for ever")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {id, api_key}")
	return cmd
}

func newKeysList() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the tenant's keys, newest first", Args: command.ExactArgs(),
		Example: "  parlance keys ls\n  parlance keys ls --json | jq -r 'select(.last_used_at == null) | .id'",
		RunE: withKeys(func(ctx context.Context, k *apiKeys, _ []string) error {
			return client.List(&k.Caller, o, client.Listing[*parlancev1.ApiKey]{
				Pages: func(token string) ([]*parlancev1.ApiKey, string, error) {
					page, err := k.service.ListApiKeys(ctx, &parlancev1.ListApiKeysRequest{PageSize: client.PageSize, PageToken: token})
					if err != nil {
						return nil, "", k.Explain("list the keys", err)
					}
					return page.GetApiKeys(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "NAME", Shrinks: true},
					{Title: "SCOPE"},
					{Title: "WORKSPACE", Drops: 2},
					{Title: "SECRET"},
					{Title: "EXPIRES", Drops: 3},
					{Title: "LAST USED", Drops: 1},
					{Title: "ID"},
				},
				Row: func(key *parlancev1.ApiKey) []term.Cell {
					return []term.Cell{
						{Text: term.Clean(key.GetName())},
						{Text: key.GetScope()},
						{Text: cmp.Or(key.GetWorkspaceId(), "all")},
						{Text: "…" + key.GetSecretHint()},
						{Text: cmp.Or(client.Moment(key.GetExpiresAt()), "never")},
						{Text: cmp.Or(client.Moment(key.GetLastUsedAt()), "never")},
						{Text: key.GetId(), Paint: k.Screen.Dim},
					}
				},
				Empty: "There is no key. Make one: parlance keys create NAME",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

func newKeysRotate() *cobra.Command {
	var asJSON bool
	var overlap time.Duration
	cmd := &cobra.Command{
		Use: "rotate KEY", Short: "Give a key a new secret, which is shown once", Args: command.ExactArgs("KEY"),
		Long: `Gives a key a new secret. The old one stops working at once, or after --overlap.

A key has at most two secrets: while an old one works, it can be rotated again only without --overlap, which ends
both.`,
		Example: "  parlance keys rotate key_01j…\n  parlance keys rotate key_01j… --overlap 24h",
		RunE: withKeys(func(ctx context.Context, k *apiKeys, args []string) error {
			if overlap < 0 || overlap > workspaces.MaxOverlap || overlap%time.Second != 0 {
				return command.Usagef("--overlap is 0 to 168h, in whole seconds")
			}
			rotated, err := k.service.RotateApiKey(ctx, &parlancev1.RotateApiKeyRequest{
				ApiKeyId: args[0], OverlapSeconds: int32(overlap / time.Second),
			})
			if err != nil {
				return k.explainKey("rotate", args[0], err)
			}
			if until := client.Moment(rotated.GetOldSecretExpiresAt()); until != "" {
				return k.printSecret(rotated, asJSON, "The old secret works until "+until+".")
			}
			return k.printSecret(rotated, asJSON, "The old secret does not work any more.")
		}),
	}
	cmd.Flags().DurationVar(&overlap, "overlap", 0, "how long the old secret still works, e.g. 24h; at most 168h")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {id, api_key}, and with an overlap old_secret_expires_at")
	return cmd
}

func newKeysRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke KEY…", Aliases: []string{"delete", "rm"}, Short: "Revoke keys: they stop working at once", Args: command.SomeArgs("KEY"),
		Example: "  parlance keys revoke key_01j…",
		RunE: withKeys(func(ctx context.Context, k *apiKeys, args []string) error {
			for _, id := range args {
				if _, err := k.service.DeleteApiKey(ctx, &parlancev1.DeleteApiKeyRequest{ApiKeyId: id}); err != nil {
					return k.explainKey("revoke", id, err)
				}
				k.Line("revoked %s", id)
			}
			return nil
		}),
	}
}

// printSecret prints a key whose secret is new. more follows for people.
func (k *apiKeys) printSecret(key *parlancev1.ApiKey, asJSON bool, more string) error {
	if asJSON {
		shown := map[string]any{"id": key.GetId(), "api_key": key.GetSecret()}
		if until := key.GetOldSecretExpiresAt(); until != nil {
			shown["old_secret_expires_at"] = until.AsTime()
		}
		return json.NewEncoder(k.Screen.Out).Encode(shown)
	}
	k.Line("key      %s (%s)", key.GetId(), key.GetScope())
	k.Line("API key  %s", key.GetSecret())
	k.Line("")
	k.Line("The key is shown this once: keep it. %s", more)
	return nil
}

// explainKey explains a call on one key.
func (k *apiKeys) explainKey(doing, id string, err error) error {
	decided, ok := errors.AsType[*fault.Error](err)
	if connect.CodeOf(err) == connect.CodeNotFound || ok && decided.Kind() == fault.NotFound {
		return fmt.Errorf("there is no key %s; `parlance keys ls` lists them", term.Clean(id))
	}
	return k.Explain(doing+" "+id, err)
}
