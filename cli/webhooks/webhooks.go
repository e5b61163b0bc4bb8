package webhooks

import (
	"context"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// pageSize is the page size of lists.
const pageSize = 200

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Short: "Tell your systems what happens: endpoints, what they got, and what they missed",
		GroupID: "use", Args: command.ExactArgs(),
		Long: `A webhook endpoint is an https URL of yours that gets events, signed, and again until it answers 2xx.
Without flags the commands work on the parlance dev of this machine. An endpoint is named by its id
(we_…), by its URL, or not at all while there is only one.

No https URL yet? parlance listen brings events to a program on this machine.`,
		Example: `  parlance webhooks create https://example.org/hook --events post_call_transcription,kb.source_ingested
  parlance webhooks test
  parlance webhooks deliveries --status failed --since 24h
  parlance webhooks recover --since 24h`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newList(), newShow(), newCreate(), newUpdate(), newTest(), newDeliveries(), newDelivery(),
		newRedeliver(), newRecover(), newRotate(), newPause(), newEnable(), newRemove())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// hooks is what the commands share.
type hooks struct {
	client.Caller
	webhooks parlancev1connect.WebhookServiceClient
}

// withHooks makes the RunE of a command.
func withHooks(run func(ctx context.Context, h *hooks, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *hooks {
		return &hooks{Caller: c, webhooks: parlancev1connect.NewWebhookServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

// endpoints lists the endpoints of the workspace.
func (h *hooks) endpoints(ctx context.Context) ([]*parlancev1.WebhookEndpoint, error) {
	return command.All(func(token string) ([]*parlancev1.WebhookEndpoint, string, error) {
		page, err := h.webhooks.ListWebhookEndpoints(ctx, &parlancev1.ListWebhookEndpointsRequest{
			WorkspaceId: h.WorkspaceID, PageSize: pageSize, PageToken: token,
		})
		if err != nil {
			return nil, "", h.Explain("list the endpoints", err)
		}
		return page.GetEndpoints(), page.GetNextPageToken(), nil
	})
}

// endpoint finds an endpoint by id or URL. Without arguments it returns the only endpoint.
func (h *hooks) endpoint(ctx context.Context, args []string) (*parlancev1.WebhookEndpoint, error) {
	if len(args) > 0 && strings.HasPrefix(args[0], "we_") {
		found, err := h.webhooks.GetWebhookEndpoint(ctx, &parlancev1.GetWebhookEndpointRequest{WorkspaceId: h.WorkspaceID, EndpointId: args[0]})
		if connect.CodeOf(err) == connect.CodeNotFound {
			return nil, fmt.Errorf("there is no endpoint %s in the workspace; `parlance webhooks ls` lists them", args[0])
		}
		if err != nil {
			return nil, h.Explain("find the endpoint", err)
		}
		return found, nil
	}
	all, err := h.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	var found []*parlancev1.WebhookEndpoint
	for _, one := range all {
		if len(args) == 0 || one.GetUrl() == args[0] {
			found = append(found, one)
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("there is no endpoint yet; make one: parlance webhooks create https://…")
	case len(found) == 0:
		return nil, fmt.Errorf("there is no endpoint %q in the workspace; `parlance webhooks ls` lists them", args[0])
	case len(found) > 1:
		return nil, command.Usagef("which endpoint? Say one of\n%s", choices(found))
	}
	return found[0], nil
}

// choices lists the first endpoints to choose from.
func choices(list []*parlancev1.WebhookEndpoint) string {
	const most = 5
	var out strings.Builder
	for _, one := range list[:min(len(list), most)] {
		fmt.Fprintf(&out, "  %s  %s\n", one.GetId(), term.Clean(one.GetUrl()))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&out, "  or %d others: parlance webhooks ls", more)
	}
	return strings.TrimRight(out.String(), "\n")
}

// deliveryOf finds a delivery, at the named endpoint or at any.
func (h *hooks) deliveryOf(ctx context.Context, id, named string) (*parlancev1.WebhookDelivery, error) {
	var candidates []*parlancev1.WebhookEndpoint
	if named != "" {
		one, err := h.endpoint(ctx, []string{named})
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, one)
	} else {
		var err error
		if candidates, err = h.endpoints(ctx); err != nil {
			return nil, err
		}
	}
	for _, one := range candidates {
		found, err := h.webhooks.GetWebhookDelivery(ctx, &parlancev1.GetWebhookDeliveryRequest{
			WorkspaceId: h.WorkspaceID,
			EndpointId:  one.GetId(), DeliveryId: id,
		})
		if err == nil {
			return found, nil
		}
		if connect.CodeOf(err) != connect.CodeNotFound {
			return nil, h.Explain("find the delivery", err)
		}
	}
	return nil, fmt.Errorf("there is no delivery %s in the workspace; `parlance webhooks deliveries` lists them", term.Clean(id))
}
