package webhooks

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// endpointOptions are the flags for the fields of an endpoint other than its URL.
type endpointOptions struct {
	events, agents, headers   []string
	ordered                   bool
	maxPerSecond, maxInFlight int32
	description               string
}

func (o *endpointOptions) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.events, "events", nil, "names of the events it gets, with commas between them")
	flags.StringSliceVar(&o.agents, "agents", nil, "only events about these agents, agt_…")
	flags.BoolVar(&o.ordered, "ordered", false, "one event at a time and in order: one that fails holds those behind it")
	flags.Int32Var(&o.maxPerSecond, "max-per-second", 0, "requests a second; 0: no limit")
	flags.Int32Var(&o.maxInFlight, "max-in-flight", 0, "requests at once; 0: no limit")
	flags.StringArrayVar(&o.headers, "header", nil, "a header of your own, \"Name: value\" or \"Name: @file\"; may be repeated")
	flags.StringVar(&o.description, "description", "", "what it is, for people")
}

// endpointFields maps flags to the fields that they change.
var endpointFields = map[string]string{
	"url": "url", "events": "events", "agents": "agent_ids", "ordered": "ordered", "max-per-second": "max_per_second",
	"max-in-flight": "max_in_flight", "header": "headers", "no-headers": "headers", "description": "description",
}

func newUpdate() *cobra.Command {
	var o endpointOptions
	var to string
	var asJSON, noHeaders bool
	var flags *pflag.FlagSet
	cmd := &cobra.Command{
		Use: "update [ENDPOINT]", Short: "Change an endpoint: its URL, what it gets, its limits and headers", Args: command.AtMostOneArg,
		Long: `Changes what is given and keeps the rest, the secret too. --events, --agents and --header replace all that
there were. With --events "" nothing is delivered; what was pending waits until its event is subscribed to again.`,
		Example: `  parlance webhooks update --url https://example.org/new-hook
  parlance webhooks update we_01j… --events post_call_transcription,webhook.disabled
  parlance webhooks update we_01j… --events ""`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			mask := new(fieldmaskpb.FieldMask)
			flags.Visit(func(f *pflag.Flag) {
				if field := endpointFields[f.Name]; field != "" {
					mask.Paths = append(mask.Paths, field)
				}
			})
			switch {
			case len(mask.Paths) == 0:
				return command.Usagef("nothing is to change: say what, such as --events post_call_transcription")
			case noHeaders && len(o.headers) > 0:
				return command.Usagef("--header and --no-headers contradict each other")
			}
			headers, err := headersOf(o.headers)
			if err != nil {
				return err
			}
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			req := &parlancev1.UpdateWebhookEndpointRequest{
				WorkspaceId: h.WorkspaceID, EndpointId: one.GetId(), UpdateMask: mask, Events: o.events, AgentIds: o.agents,
				Ordered: &o.ordered, MaxPerSecond: &o.maxPerSecond, MaxInFlight: &o.maxInFlight, Headers: headers, Description: &o.description,
			}
			if flags.Changed("url") {
				req.Url = &to
			}
			changed, err := h.webhooks.UpdateWebhookEndpoint(ctx, req)
			if err != nil {
				return h.Explain("change the endpoint", err)
			}
			if asJSON {
				return h.PrintMessage(changed)
			}
			h.Line("%s, %s, gets %s.", changed.GetId(), changed.GetUrl(), eventsWords(changed.GetEvents()))
			return nil
		}),
	}
	flags = cmd.Flags()
	o.add(flags)
	flags.StringVar(&to, "url", "", "where it is now, https")
	flags.BoolVar(&noHeaders, "no-headers", false, "take the headers of your own away")
	flags.BoolVar(&asJSON, "json", false, "print the endpoint as a line of JSON")
	return cmd
}
