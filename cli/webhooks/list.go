package webhooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the endpoints, newest first, with how they do", Args: command.ExactArgs(),
		Example: `  parlance webhooks ls
  parlance webhooks ls --json | jq -r 'select(.health != "ok") | .url'`,
		RunE: withHooks(func(ctx context.Context, h *hooks, _ []string) error {
			all, err := h.endpoints(ctx)
			if err != nil {
				return err
			}
			for _, one := range all {
				if asJSON {
					if err := h.PrintMessage(one); err != nil {
						return err
					}
				}
			}
			switch {
			case asJSON:
			case len(all) == 0:
				h.Line("There is no endpoint. Make one: parlance webhooks create https://…")
			default:
				h.Screen.Draw(h.endpointLines(all), nil)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

// endpointLines formats the table.
func (h *hooks) endpointLines(all []*parlancev1.WebhookEndpoint) []string {
	columns := []term.Column{
		{Title: "STATUS"},
		{Title: "URL", Shrinks: true},
		{Title: "EVENTS", Drops: 2},
		{Title: "LAST SUCCESS", Right: true, Drops: 1},
		{Title: "FAILURES", Right: true},
		{Title: "ID"},
	}
	rows := make([][]term.Cell, len(all))
	for i, one := range all {
		last := "never"
		if one.GetLastSuccessAt() != nil {
			last = term.Age(h.Now().Sub(one.GetLastSuccessAt().AsTime())) + " ago"
		}
		rows[i] = []term.Cell{
			h.healthCell(one.GetStatus(), one.GetHealth(), one.GetDisabledReason()),
			{Text: term.Clean(one.GetUrl())},
			{Text: eventsWords(one.GetEvents())},
			{Text: last},
			{Text: fmt.Sprint(one.GetConsecutiveFailures())},
			{Text: one.GetId(), Paint: h.Screen.Dim},
		}
	}
	return h.Screen.Table(columns, rows)
}

func (h *hooks) healthCell(status, health, reason string) term.Cell {
	switch {
	case status == "disabled":
		return term.Cell{Text: "disabled: " + term.Clean(reason), Paint: h.Screen.Bad}
	case status == "paused":
		return term.Cell{Text: status, Paint: h.Screen.Dim}
	case health == "warning":
		return term.Cell{Text: "failing", Paint: h.Screen.Bad}
	}
	return term.Cell{Text: status, Paint: h.Screen.Good}
}

func eventsWords(names []string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1, 2:
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", names[0], len(names)-1)
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show [ENDPOINT]", Short: "Show an endpoint and how it did in the last 24 hours", Args: command.AtMostOneArg,
		Example: `  parlance webhooks show
  parlance webhooks show we_01j… --json | jq .p95_latency_ms`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			health, err := h.webhooks.GetWebhookEndpointHealth(ctx,
				&parlancev1.GetWebhookEndpointHealthRequest{WorkspaceId: h.WorkspaceID, EndpointId: one.GetId()})
			if err != nil {
				return h.Explain("read the endpoint's health", err)
			}
			if asJSON {
				return h.PrintMessage(health)
			}
			h.showEndpoint(one, health)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the health as a line of JSON")
	return cmd
}

func (h *hooks) showEndpoint(one *parlancev1.WebhookEndpoint, health *parlancev1.WebhookEndpointHealth) {
	status := h.healthCell(one.GetStatus(), one.GetHealth(), one.GetDisabledReason())
	h.Screen.Line("%s  %s  %s", h.Screen.Strong(term.Clean(one.GetUrl())), status.Paint(status.Text), h.Screen.Dim(one.GetId()))
	events := strings.Join(one.GetEvents(), ", ")
	if events == "" {
		events = "none: nothing is delivered"
	}
	h.Line("  events     %s", events)
	h.Line("  secret     whsec_…%s", one.GetSecretHint())
	if health.GetAttempts() == 0 {
		h.Line("  last 24 h  no attempts")
	} else {
		h.Line("  last 24 h  %s, %.1f %% accepted; half within %.0f ms, 95 %% within %.0f ms",
			term.Count(int(health.GetAttempts()), "attempt", "attempts"),
			health.GetSuccessRate()*100, health.GetP50LatencyMs(), health.GetP95LatencyMs())
	}
	h.Line("  waiting    %s", term.Count(int(health.GetPending()), "event", "events"))
	if health.GetFailedEvents() > 0 {
		h.Line("  given up   %s; `parlance webhooks recover %s --since 24h` sends them again",
			term.Count(int(health.GetFailedEvents()), "event", "events"), one.GetId())
	}
	switch {
	case one.GetStatus() == "disabled":
		h.Line("  disabled   %s; once it works: parlance webhooks enable %s", one.GetDisabledReason(), one.GetId())
	case one.GetStatus() == "paused":
		h.Line("  paused     its events wait; to send them: parlance webhooks enable %s", one.GetId())
	case health.GetConsecutiveFailures() > 0:
		h.Line("  failures   %d in a row; %d disable it, from %s on", health.GetConsecutiveFailures(),
			health.GetDisableFailures(), client.Moment(health.GetDisableNotBefore()))
	}
}
