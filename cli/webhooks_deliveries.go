package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// deliveriesOptions are the flags of `parlance webhooks deliveries`.
type deliveriesOptions struct {
	status, event, eventID string
	since                  since
	limit                  int
	json                   bool
}

func newWebhooksDeliveries() *cobra.Command {
	var o deliveriesOptions
	cmd := &cobra.Command{
		Use: "deliveries [ENDPOINT]", Short: "Show what was sent to an endpoint and what it answered, newest first", Args: atMostOne,
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
		return usageError{errors.New("--limit cannot be negative")}
	}
	one, err := h.endpoint(ctx, args)
	if err != nil {
		return err
	}
	req := &parlancev1.ListWebhookDeliveriesRequest{
		WorkspaceId: h.where.workspaceID, EndpointId: one.GetId(), Limit: new(int32(50)), Status: o.status, Event: o.event, EventId: o.eventID, OmitBodies: !o.json,
	}
	if from, ok := o.since.from(h.now()); ok {
		req.StartedAfter = timestamppb.New(from)
	}
	var shown []*parlancev1.WebhookDelivery
	list := func(token string) ([]*parlancev1.WebhookDelivery, string, error) {
		req.PageToken = token
		page, err := h.webhooks.ListWebhookDeliveries(ctx, req)
		if err != nil {
			return nil, "", h.where.explainCall("list the deliveries", err)
		}
		return page.GetDeliveries(), page.GetNextPageToken(), nil
	}
	count, more, err := eachOf(o.limit, list, func(d *parlancev1.WebhookDelivery) error {
		if o.json {
			return h.printMessage(d)
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
		h.line("No attempt is like that.")
	default:
		h.screen.Draw(h.deliveryLines(shown), nil)
	}
	if more {
		sayMore(h.screen, o.limit)
	}
	return nil
}

// deliveryLines are the table.
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
			{Text: latencyWords(d.GetDurationMs())},
			{Text: fmt.Sprint(d.GetAttempt())},
			{Text: next},
			{Text: d.GetId(), Paint: h.screen.Dim},
		}
	}
	return h.screen.Table(columns, rows)
}

func (h *hooks) deliveryCell(d *parlancev1.WebhookDelivery) term.Cell {
	words := d.GetStatus()
	if d.GetStatusCode() != 0 {
		words += fmt.Sprintf(" %d", d.GetStatusCode())
	} else if d.GetError() != "" {
		words += ": " + d.GetError()
	}
	paint := h.screen.Bad
	switch d.GetStatus() {
	case "succeeded":
		paint = h.screen.Good
	case "pending":
		paint = h.screen.Busy
	}
	return term.Cell{Text: term.Clean(words), Paint: paint}
}

func newWebhooksDelivery() *cobra.Command {
	var endpoint string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "delivery DELIVERY", Short: "Show one attempt whole: what was sent and what came back", Args: exactArgs("DELIVERY"),
		Example: `  parlance webhooks delivery dlv_01j…
  parlance webhooks delivery dlv_01j… --json | jq -r .request_body > event.json`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			found, err := h.deliveryOf(ctx, args[0], endpoint)
			if err != nil {
				return err
			}
			if asJSON {
				return h.printMessage(found)
			}
			h.showDelivery(found)
			return nil
		}),
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "the endpoint it was sent to; default: whichever has it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON")
	return cmd
}

// showDelivery prints an attempt with both sides of it.
func (h *hooks) showDelivery(d *parlancev1.WebhookDelivery) {
	outcome := h.deliveryCell(d)
	h.screen.Line("%s  %s  %s in %s, attempt %d  %s", d.GetStartedAt().AsTime().Local().Format(time.DateTime), h.screen.Strong(term.Clean(d.GetEvent())),
		outcome.Paint(outcome.Text), latencyWords(d.GetDurationMs()), d.GetAttempt(), h.screen.Dim(d.GetId()+" "+d.GetEventId()))
	h.side("→", d.GetRequestHeaders(), d.GetRequestBody())
	if d.GetStatusCode() != 0 {
		h.side("←", d.GetResponseHeaders(), d.GetResponseBody())
	}
	if d.GetError() != "" {
		h.line("  %s", d.GetError())
	}
}

func (h *hooks) side(arrow string, headers map[string]string, body string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		h.screen.Line("  %s %s", h.screen.Dim(arrow), h.screen.Dim(term.Clean(name+": "+headers[name])))
	}
	var parsed any
	if json.Unmarshal([]byte(body), &parsed) == nil {
		body = indented(parsed, "  ")
	}
	for _, line := range term.CleanLines(strings.TrimRight(body, "\n")) {
		h.screen.Line("  %s %s", h.screen.Dim(arrow), line)
	}
}

func newWebhooksRedeliver() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use: "redeliver DELIVERY…", Short: "Send the event of an attempt again", Args: someArgs("DELIVERY"),
		Long: `Makes another attempt of what an attempt was about, now: the next number, the same event id. Asking twice before
it begins makes one.`,
		Example: "  parlance webhooks redeliver dlv_01j…",
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			for _, id := range args {
				found, err := h.deliveryOf(ctx, id, endpoint)
				if err != nil {
					return err
				}
				next, err := h.webhooks.RedeliverWebhook(ctx, &parlancev1.RedeliverWebhookRequest{WorkspaceId: h.where.workspaceID, EndpointId: found.GetEndpointId(), DeliveryId: id})
				if err != nil {
					return h.where.explainCall("send "+id+" again", err)
				}
				h.line("%s of %s is on its way: attempt %d, %s", next.GetEvent(), next.GetEventId(), next.GetAttempt(), next.GetId())
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "", "the endpoint it was sent to; default: whichever has it")
	return cmd
}

func newWebhooksRecover() *cobra.Command {
	var oldest since
	cmd := &cobra.Command{
		Use: "recover [ENDPOINT]", Short: "Send again every event that was given up since a time", Args: atMostOne,
		Long: `Sends again what an endpoint did not accept until its last attempt: every event since the time, each with its
whole schedule before it. Repeating it sends nothing twice: what is on its way, or was received, is left alone.`,
		Example: `  parlance webhooks recover --since 24h
  parlance webhooks recover we_01j… --since 2026-03-01T08:00:00Z`,
		RunE: withHooks(func(ctx context.Context, h *hooks, args []string) error {
			from, ok := oldest.from(h.now())
			if !ok {
				return usageError{errors.New("--since is missing: the time of the oldest event to send again, such as 24h")}
			}
			one, err := h.endpoint(ctx, args)
			if err != nil {
				return err
			}
			total := 0
			for more := true; more; {
				done, err := h.webhooks.RecoverWebhookDeliveries(ctx, &parlancev1.RecoverWebhookDeliveriesRequest{
					WorkspaceId: h.where.workspaceID, EndpointId: one.GetId(), Since: timestamppb.New(from),
				})
				if err != nil {
					return h.where.explainCall("send them again", err)
				}
				total, more = total+int(done.GetRecovered()), done.GetMore()
			}
			if total == 0 {
				h.line("Nothing was given up since %s.", from.Local().Format(time.DateTime))
				return nil
			}
			h.line("%s on the way to %s. See: parlance webhooks deliveries %s", countWords(total, "event is", "events are"), one.GetUrl(), one.GetId())
			return nil
		}),
	}
	cmd.Flags().Var(&oldest, "since", "so long ago, such as 24h, or a time such as 2026-03-01T08:00:00Z")
	return cmd
}
