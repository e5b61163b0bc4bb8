package webhooks

import (
	"context"
	"fmt"
	"os"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newCreate() *cobra.Command {
	var asJSON bool
	var o endpointOptions
	cmd := &cobra.Command{
		Use: "create URL", Short: "Register an endpoint; its signing secret is shown this once", Args: command.ExactArgs("URL"),
		Long: `Registers an https URL for events. Each request is signed with the secret that this command prints, once:
keep it where your receiver reads it. See docs/webhooks.md and examples/receivers for how it is checked.

Headers of your own go out with every request and are not shown again; @file keeps a value out of the shell's history.`,
		Example: `  parlance webhooks create https://example.org/hook --events post_call_transcription
  parlance webhooks create https://example.org/hook --events kb.source_ingested --json | jq -r .secret > secret
  parlance webhooks create https://example.org/hook --events post_call_transcription --ordered --max-per-second 20 \
    --header "Authorization: @token.txt"`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			headers, err := headersOf(o.headers)
			if err != nil {
				return err
			}
			made, err := h.webhooks.CreateWebhookEndpoint(ctx, &parlancev1.CreateWebhookEndpointRequest{
				WorkspaceId: h.WorkspaceID, Url: args[0], Events: o.events, AgentIds: o.agents, Ordered: o.ordered,
				MaxPerSecond: o.maxPerSecond, MaxInFlight: o.maxInFlight, Headers: headers, Description: o.description,
			})
			if err != nil {
				return h.Explain("register the endpoint", err)
			}
			if asJSON {
				return h.PrintMessage(made)
			}
			h.Line("%s gets %s.", made.GetId(), eventsWords(made.GetEvents()))
			h.showSecret(made)
			if len(made.GetEvents()) == 0 {
				h.Line("Without --events nothing is delivered.")
			}
			h.Line("Send it an example: parlance webhooks test %s", made.GetId())
			return nil
		}),
	}
	o.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the endpoint with its secret as a line of JSON")
	return cmd
}

// headersOf parses --header; a value of @path is read from that file.
func headersOf(given []string) (map[string]string, error) {
	headers := map[string]string{}
	for _, one := range given {
		name, value, found := strings.Cut(one, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || name == "" || value == "" {
			return nil, command.Usagef(`--header is "Name: value", or "Name: @file"`)
		}
		if path, file := strings.CutPrefix(value, "@"); file {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("read the header %s: %w", name, err)
			}
			value = strings.TrimSpace(string(text))
		}
		headers[name] = value
	}
	return headers, nil
}

func (h *hooks) showSecret(one *parlancev1.WebhookEndpoint) {
	h.Screen.Line("\n  %s\n", h.Screen.Strong(one.GetSecret()))
	h.Line("This is its signing secret. It is not shown again.")
}

func newRotate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rotate-secret [ENDPOINT]", Short: "Give an endpoint a new signing secret; the old one signs beside it for 24 " +
			"hours", Args: command.AtMostOneArg,
		Long: `Makes a new signing secret and prints it, once. For 24 hours webhook-signature holds a signature of each, so
that your receiver can change over when it likes; X-Parlance-Signature uses the new one at once. An
endpoint can be rotated 5 times in 24 hours.`,
		Example: "  parlance webhooks rotate-secret we_01j…",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			made, err := h.webhooks.RotateWebhookSecret(ctx, &parlancev1.RotateWebhookSecretRequest{
				WorkspaceId: h.WorkspaceID,
				EndpointId:  one.GetId(),
			})
			if err != nil {
				return h.Explain("make a new secret", err)
			}
			if asJSON {
				return h.PrintMessage(made)
			}
			h.showSecret(made)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the endpoint with its secret as a line of JSON")
	return cmd
}

func newPause() *cobra.Command {
	return &cobra.Command{
		Use: "pause [ENDPOINT]", Short: "Hold what an endpoint would get until it is enabled", Args: command.AtMostOneArg,
		Long: `Sends the endpoint nothing more. What happens meanwhile waits for it; parlance webhooks enable sends it.`,
		Example: `  parlance webhooks pause
  parlance webhooks enable`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			_, err = h.webhooks.UpdateWebhookEndpoint(ctx, &parlancev1.UpdateWebhookEndpointRequest{
				WorkspaceId: h.WorkspaceID, EndpointId: one.GetId(), Status: new("paused"),
			})
			if err != nil {
				return h.Explain("pause the endpoint", err)
			}
			h.Line("%s is paused.", one.GetId())
			return nil
		}),
	}
}

func newEnable() *cobra.Command {
	var oldest command.Since
	cmd := &cobra.Command{
		Use: "enable [ENDPOINT]", Short: "Enable an endpoint that was paused, or disabled for its failures", Args: command.AtMostOneArg,
		Long: `Enables an endpoint that was paused or disabled, and sends what waited for it. With --since it gets everything that it
would have got since then and has not received, in order and each once, also what happened while it was disabled.`,
		Example: `  parlance webhooks enable
  parlance webhooks enable we_01j… --since 72h`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			req := &parlancev1.EnableWebhookEndpointRequest{WorkspaceId: h.WorkspaceID}
			if from, ok := oldest.From(h.Now()); ok {
				req.Since = timestamppb.New(from)
			}
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			req.EndpointId = one.GetId()
			made, err := h.webhooks.EnableWebhookEndpoint(ctx, req)
			if err != nil {
				return h.Explain("enable the endpoint", err)
			}
			if made.Requeued == nil {
				h.Line("%s is enabled.", one.GetId())
			} else {
				h.Line("%s is enabled; %s sent anew.", one.GetId(), term.Count(int(made.GetRequeued()), "event is", "events are"))
			}
			return nil
		}),
	}
	cmd.Flags().Var(&oldest, "since", "send what was missed, too: so long ago, such as 24h, or a time such as 2026-03-01T08:00:00Z")
	return cmd
}

func newRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm ENDPOINT…", Aliases: []string{
			"remove",
			"delete",
		}, Short: "Delete endpoints; what was not delivered to them is dropped", Args: command.SomeArgs("ENDPOINT"),
		Example: "  parlance webhooks rm we_01j…",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			for i := range args {
				one, err := h.endpoint(ctx, args[i:i+1])
				if err != nil {
					return err
				}
				_, err = h.webhooks.DeleteWebhookEndpoint(ctx,
					&parlancev1.DeleteWebhookEndpointRequest{WorkspaceId: h.WorkspaceID, EndpointId: one.GetId()})
				if err != nil && connect.CodeOf(err) != connect.CodeNotFound { // another command deleted it
					return h.Explain("delete the endpoint", err)
				}
				h.Line("deleted %s (%s)", one.GetUrl(), one.GetId())
			}
			return nil
		}),
	}
}

func newTest() *cobra.Command {
	var event string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "test [ENDPOINT]", Short: "Send an endpoint an example of an event, and show its answer", Args: command.AtMostOneArg,
		Long: `Sends an example now, signed as a real one is, to a disabled endpoint too. It is not tried again and counts
for nothing. Exit code 1: the endpoint did not accept it.`,
		Example: "  parlance webhooks test --event post_call_transcription",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			sent, err := h.webhooks.TestWebhookEndpoint(ctx, &parlancev1.TestWebhookEndpointRequest{
				WorkspaceId: h.WorkspaceID,
				EndpointId:  one.GetId(), Event: event,
			})
			if err != nil {
				return h.Explain("send the example", err)
			}
			if asJSON {
				err = h.PrintMessage(sent)
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
