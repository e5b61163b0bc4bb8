package events_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/events"
)

var update = flag.Bool("update", false, "write the events into docs/webhooks.md anew")

// occasions says when each event happens. Source: interface, Events.
var occasions = map[events.Type]string{
	events.PostCallTranscription: "A conversation has ended and its transcript is persisted; see [Sessions](sessions.md#life).",
	events.EscalationTriggered: "A no-go zone of an agent escalated a turn: the words of the user or the agent are in it. Once a turn; " +
		"see [Guards](guards.md).",
	events.DSARReady:    "An export of a user's data can be downloaded; see [Privacy](privacy.md#exports).",
	events.FatigueAlert: "A user used up a fatigue window. Once until it has cooled down; see [Guards](guards.md#fatigue).",
	events.UsageThreshold: "A part of a monthly quota, or an alert, was reached. Of the tenant as a whole, once a month; " +
		"see [Usage](billing.md#thresholds-and-alerts).",
	events.SubscriptionChanged: "A subscription changed its status, or the plan that it gives. Of the tenant as a whole; see " +
		"[Billing](billing.md#stripe).",
	events.InvoicePaid: "An invoice was paid. Once for an invoice, of the tenant as a whole; see [Billing](billing.md#stripe).",
	events.InvoiceFailed: "A payment of an invoice failed. Once for each attempt, of the tenant as a whole; see " +
		"[Billing](billing.md#stripe).",
	events.KBSourceIngested: "A source of the knowledge base became ready; see " +
		"[Knowledge base](knowledge.md#what-happens-to-an-upload).",
	events.TurnPersistenceFailed: "A turn could not be written to the database at once; `recovered` says whether it has been since. " +
		"See [Sessions](sessions.md#while-the-database-is-away).",
	events.WebhookDisabled: "An endpoint was disabled automatically. The endpoint itself does not get it; see " +
		"[Webhook endpoints](webhook-endpoints.md#disabled-and-what-was-missed).",
}

// TestPage compares docs/webhooks.md with the events; -update rewrites it.
func TestPage(t *testing.T) {
	t.Parallel()
	const path, mark = "../docs/webhooks.md", "go test ./events -update -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hand, made, found := strings.Cut(string(page), mark)
	if !found {
		t.Fatalf("%s has no line that ends with %q", path, mark)
	}
	want := sections(t)
	if *update {
		if err := os.WriteFile(path, []byte(hand+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(made, want); diff != "" {
		t.Errorf("docs/webhooks.md is not current; run go test ./events -update\n%s", diff)
	}
}

func sections(t *testing.T) string {
	t.Helper()
	var table, bodies strings.Builder
	table.WriteString("\n| Event | Fires when |\n|---|---|\n")
	for _, eventType := range events.PublicTypes() {
		anchor := strings.ReplaceAll(string(eventType), ".", "")
		fmt.Fprintf(&table, "| [`%s`](#%s) | %s |\n", eventType, anchor, occasions[eventType])
		body, err := events.ExampleBody(eventType)
		if err != nil {
			t.Fatal(err)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, body, "", "  "); err != nil {
			t.Fatal(err)
		}
		shown := strings.ReplaceAll(pretty.String(), `\u0026`, "&")
		fmt.Fprintf(&bodies, "\n### %s\n\n```json\n%s\n```\n", eventType, shown)
	}
	return table.String() + bodies.String()
}
