package cli

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newWebhooksCreate() *cobra.Command {
	var names []string
	var description string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create URL", Short: "Register an endpoint; its signing secret is shown this once", Args: exactArgs("URL"),
		Long: `Registers an https URL for events. Each request is signed with the secret that this command prints, once:
keep it where your receiver reads it. See docs/webhooks.md and examples/receivers for how it is checked.`,
		Example: `  parlance webhooks create https://example.org/hook --events post_call_transcription
  parlance webhooks create https://example.org/hook --events kb.source_ingested --json | jq -r .secret > secret`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			made, err := h.webhooks.CreateWebhookEndpoint(ctx, &parlancev1.CreateWebhookEndpointRequest{
				WorkspaceId: h.where.workspaceID, Url: args[0], Events: names, Description: description,
			})
			if err != nil {
				return h.where.explainCall("register the endpoint", err)
			}
			if asJSON {
				return h.printMessage(made)
			}
			h.line("%s gets %s.", made.GetId(), eventsWords(made.GetEvents()))
			h.showSecret(made)
			if len(made.GetEvents()) == 0 {
				h.line("Without --events nothing is delivered.")
			}
			h.line("Send it an example: parlance webhooks test %s", made.GetId())
			return nil
		}),
	}
	cmd.Flags().StringSliceVar(&names, "events", nil, "names of the events it gets, with commas between them")
	cmd.Flags().StringVar(&description, "description", "", "what it is, for people")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the endpoint with its secret as a line of JSON")
	return cmd
}

func (h *hooks) showSecret(one *parlancev1.WebhookEndpoint) {
	h.screen.Line("\n  %s\n", h.screen.Strong(one.GetSecret()))
	h.line("This is its signing secret. It is not shown again.")
}

func newWebhooksRotate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rotate-secret [ENDPOINT]", Short: "Give an endpoint a new signing secret; the old one signs beside it for 24 hours", Args: atMostOne,
		Long: `Makes a new signing secret and prints it, once. For 24 hours webhook-signature holds a signature of each, so
that your receiver can change over when it likes; X-Parlance-Signature uses the new one at once.`,
		Example: "  parlance webhooks rotate-secret we_01j…",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			made, err := h.webhooks.RotateWebhookSecret(ctx, &parlancev1.RotateWebhookSecretRequest{WorkspaceId: h.where.workspaceID, EndpointId: one.GetId()})
			if err != nil {
				return h.where.explainCall("make a new secret", err)
			}
			if asJSON {
				return h.printMessage(made)
			}
			h.showSecret(made)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the endpoint with its secret as a line of JSON")
	return cmd
}

func newWebhooksEnable() *cobra.Command {
	return &cobra.Command{
		Use: "enable [ENDPOINT]", Short: "Enable an endpoint that was disabled for its failures", Args: atMostOne,
		Long: `Enables an endpoint that was disabled. What waited for it is sent at once; what was given up before is sent
again by parlance webhooks recover.`,
		Example: "  parlance webhooks enable we_01j… && parlance webhooks recover we_01j… --since 72h",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			if _, err := h.webhooks.EnableWebhookEndpoint(ctx, &parlancev1.EnableWebhookEndpointRequest{WorkspaceId: h.where.workspaceID, EndpointId: one.GetId()}); err != nil {
				return h.where.explainCall("enable the endpoint", err)
			}
			h.line("%s is enabled.", one.GetId())
			return nil
		}),
	}
}

func newWebhooksRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm ENDPOINT…", Aliases: []string{"remove", "delete"}, Short: "Delete endpoints; what was not delivered to them is dropped", Args: someArgs("ENDPOINT"),
		Example: "  parlance webhooks rm we_01j…",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			for i := range args {
				one, err := h.endpoint(ctx, args[i:i+1])
				if err != nil {
					return err
				}
				_, err = h.webhooks.DeleteWebhookEndpoint(ctx, &parlancev1.DeleteWebhookEndpointRequest{WorkspaceId: h.where.workspaceID, EndpointId: one.GetId()})
				if err != nil && connect.CodeOf(err) != connect.CodeNotFound { // deleted meanwhile is deleted
					return h.where.explainCall("delete the endpoint", err)
				}
				h.line("deleted %s (%s)", one.GetUrl(), one.GetId())
			}
			return nil
		}),
	}
}

func newWebhooksTest() *cobra.Command {
	var event string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "test [ENDPOINT]", Short: "Send an endpoint an example of an event, and show its answer", Args: atMostOne,
		Long: `Sends an example now, signed as a real one is, to a disabled endpoint too. It is not tried again and counts
for nothing. Exit code 1: the endpoint did not accept it.`,
		Example: "  parlance webhooks test --event post_call_transcription",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			sent, err := h.webhooks.TestWebhookEndpoint(ctx, &parlancev1.TestWebhookEndpointRequest{WorkspaceId: h.where.workspaceID, EndpointId: one.GetId(), Event: event})
			if err != nil {
				return h.where.explainCall("send the example", err)
			}
			if asJSON {
				err = h.printMessage(sent)
			} else {
				h.showDelivery(sent)
			}
			if err == nil && sent.GetStatus() != "succeeded" {
				return fmt.Errorf("%s did not accept the example", one.GetUrl())
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&event, "event", "", "name of the event; default: the endpoint's first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the attempt as a line of JSON")
	return cmd
}
