package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// deliveriesOptions are the flags of `parlance webhooks deliveries`.
type deliveriesOptions struct {
	status, event, eventID string
	since                  command.Since
	limit                  int
	json                   bool
}

func newDeliveries() *cobra.Command {
	var o deliveriesOptions
	cmd := &cobra.Command{
		Use: "deliveries [ENDPOINT]", Short: "Show what was sent to an endpoint and what it answered, newest first", Args: command.AtMostOneArg,
		Long: `Shows every attempt: when, which event, how it ended, how long it took, and when the next one is due. One
attempt with what was sent and what came back: parlance webhooks delivery dlv_….`,
		Example: `  parlance webhooks deliveries --status failed --since 24h
  parlance webhooks deliveries --event-id evt_01j…
  parlance webhooks deliveries --json --limit 0 | jq -r 'select(.status_code >= 500) | .event_id'`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error { return h.deliveries(ctx, o, args) }),
	}
	cmd.Flags().StringVar(&o.status, "status", "", "only attempts that are pending, succeeded, failed or unknown")
	cmd.Flags().StringVar(&o.event, "event", "", "only events of this name")
	cmd.Flags().StringVar(&o.eventID, "event-id", "", "only this event, evt_…")
	cmd.Flags().Var(&o.since, "since", "only attempts since then: so long ago, such as 30m, or a time such as 2026-03-01T08:00:00Z")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "show at most so many; 0: all")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each, with what was sent and what came back")
	return cmd
}

func (h *hooks) deliveries(ctx context.Context, o deliveriesOptions, args []string) error {
	if o.limit < 0 {
		return command.Usagef("--limit cannot be negative")
	}
	one, err := h.endpoint(ctx, args)
	if err != nil {
		return err
	}
	req := &parlancev1.ListWebhookDeliveriesRequest{
		WorkspaceId: h.WorkspaceID, EndpointId: one.GetId(), Limit: new(int32(50)), Status: o.status, Event: o.event,
		EventId: o.eventID, OmitBodies: !o.json,
	}
	if from, ok := o.since.From(h.Now()); ok {
		req.StartedAfter = timestamppb.New(from)
	}
	var shown []*parlancev1.WebhookDelivery
	list := func(token string) ([]*parlancev1.WebhookDelivery, string, error) {
		req.PageToken = token
		page, err := h.webhooks.ListWebhookDeliveries(ctx, req)
		if err != nil {
			return nil, "", h.Explain("list the deliveries", err)
		}
		return page.GetDeliveries(), page.GetNextPageToken(), nil
	}
	count, more, err := command.Each(o.limit, list, func(d *parlancev1.WebhookDelivery) error {
		if o.json {
			return h.PrintMessage(d)
		}
		shown = append(shown, d)
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return nil
	case count == 0:
		h.Line("No attempt is like that.")
	default:
		h.Screen.Draw(h.deliveryLines(shown), nil)
	}
	if more {
		h.SayMore(o.limit)
	}
	return nil
}

// deliveryLines formats the table.
func (h *hooks) deliveryLines(list []*parlancev1.WebhookDelivery) []string {
	columns := []term.Column{
		{Title: "BEGAN"},
		{Title: "EVENT"},
		{Title: "OUTCOME", Shrinks: true},
		{Title: "TOOK", Right: true},
		{Title: "TRY", Right: true},
		{Title: "NEXT", Drops: 1},
		{Title: "ID"},
	}
	rows := make([][]term.Cell, len(list))
	for i, d := range list {
		next := ""
		if d.GetNextAttemptAt() != nil {
			next = d.GetNextAttemptAt().AsTime().Local().Format(time.DateTime)
		}
		rows[i] = []term.Cell{
			{Text: d.GetStartedAt().AsTime().Local().Format(time.DateTime)},
			{Text: term.Clean(d.GetEvent())},
			h.deliveryCell(d),
			{Text: term.Latency(d.GetDurationMs())},
			{Text: fmt.Sprint(d.GetAttempt())},
			{Text: next},
			{Text: d.GetId(), Paint: h.Screen.Dim},
		}
	}
	return h.Screen.Table(columns, rows)
}

func (h *hooks) deliveryCell(d *parlancev1.WebhookDelivery) term.Cell {
	words := d.GetStatus()
	if d.GetStatusCode() != 0 {
		words += fmt.Sprintf(" %d", d.GetStatusCode())
	} else if d.GetError() != "" {
		words += ": " + d.GetError()
	}
	paint := h.Screen.Bad
	switch d.GetStatus() {
	case "succeeded":
		paint = h.Screen.Good
	case "pending":
		paint = h.Screen.Busy
	}
	return term.Cell{Text: term.Clean(words), Paint: paint}
}

func newDelivery() *cobra.Command {
	var endpoint string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "delivery DELIVERY", Short: "Show one attempt whole: what was sent and what came back", Args: command.ExactArgs("DELIVERY"),
		Example: `  parlance webhooks delivery dlv_01j…
  parlance webhooks delivery dlv_01j… --json | jq -r .request_body > event.json`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			found, err := h.deliveryOf(ctx, args[0], endpoint)
			if err != nil {
				return err
			}
			if asJSON {
				return h.PrintMessage(found)
			}
			h.showDelivery(found)
			return nil
		}),
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "the endpoint it was sent to; default: whichever has it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON")
	return cmd
}

// showDelivery prints an attempt with its request and answer.
func (h *hooks) showDelivery(d *parlancev1.WebhookDelivery) {
	outcome := h.deliveryCell(d)
	h.Screen.Line("%s  %s  %s in %s, attempt %d  %s", d.GetStartedAt().AsTime().Local().Format(time.DateTime),
		h.Screen.Strong(term.Clean(d.GetEvent())),
		outcome.Paint(outcome.Text), term.Latency(d.GetDurationMs()), d.GetAttempt(), h.Screen.Dim(d.GetId()+" "+d.GetEventId()))
	h.side("→", d.GetRequestHeaders(), d.GetRequestBody())
	if d.GetStatusCode() != 0 {
		h.side("←", d.GetResponseHeaders(), d.GetResponseBody())
	}
	if d.GetError() != "" {
		h.Line("  %s", d.GetError())
	}
}

func (h *hooks) side(arrow string, headers map[string]string, body string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		h.Screen.Line("  %s %s", h.Screen.Dim(arrow), h.Screen.Dim(term.Clean(name+": "+headers[name])))
	}
	var parsed any
	if json.Unmarshal([]byte(body), &parsed) == nil {
		body = term.IndentedJSON(parsed)
	}
	for _, line := range term.CleanLines(strings.TrimRight(body, "\n")) {
		h.Screen.Line("  %s %s", h.Screen.Dim(arrow), line)
	}
}

func newRedeliver() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use: "redeliver DELIVERY…", Short: "Send the event of an attempt again", Args: command.SomeArgs("DELIVERY"),
		Long: `Makes another attempt of what an attempt was about, now: the next number, the same event id. Asking twice before
it begins makes one.`,
		Example: "  parlance webhooks redeliver dlv_01j…",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			for _, id := range args {
				found, err := h.deliveryOf(ctx, id, endpoint)
				if err != nil {
					return err
				}
				next, err := h.webhooks.RedeliverWebhook(ctx, &parlancev1.RedeliverWebhookRequest{
					WorkspaceId: h.WorkspaceID,
					EndpointId:  found.GetEndpointId(), DeliveryId: id,
				})
				if err != nil {
					return h.Explain("send "+id+" again", err)
				}
				h.Line("%s of %s is on its way: attempt %d, %s", next.GetEvent(), next.GetEventId(), next.GetAttempt(), next.GetId())
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "the endpoint it was sent to; default: whichever has it")
	return cmd
}

func newRecover() *cobra.Command {
	var oldest command.Since
	cmd := &cobra.Command{
		Use: "recover [ENDPOINT]", Short: "Send again every event that was given up since a time", Args: command.AtMostOneArg,
		Long: `Sends again what an endpoint did not accept until its last attempt: every event since the time, each with its
whole schedule before it. Repeating it sends nothing twice: what is on its way, or was received, is left alone.`,
		Example: `  parlance webhooks recover --since 24h
  parlance webhooks recover we_01j… --since 2026-03-01T08:00:00Z`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			from, ok := oldest.From(h.Now())
			if !ok {
				return command.Usagef("--since is missing: the time of the oldest event to send again, such as 24h")
			}
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			total := 0
			for more := true; more; {
				done, err := h.webhooks.RecoverWebhookDeliveries(ctx, &parlancev1.RecoverWebhookDeliveriesRequest{
					WorkspaceId: h.WorkspaceID, EndpointId: one.GetId(), Since: timestamppb.New(from),
				})
				if err != nil {
					return h.Explain("send them again", err)
				}
				total, more = total+int(done.GetRecovered()), done.GetMore()
			}
			if total == 0 {
				h.Line("Nothing was given up since %s.", from.Local().Format(time.DateTime))
				return nil
			}
			h.Line("%s on the way to %s. See: parlance webhooks deliveries %s", term.Count(total, "event is", "events are"),
				one.GetUrl(), one.GetId())
			return nil
		}),
	}
	cmd.Flags().Var(&oldest, "since", "so long ago, such as 24h, or a time such as 2026-03-01T08:00:00Z")
	return cmd
}
