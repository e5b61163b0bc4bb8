package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// activityReader is what the command about activity works with.
type activityReader struct {
	client.Caller
	service parlancev1connect.InsightServiceClient
}

func newActivity() *cobra.Command {
	var req parlancev1.GetActivityRequest
	var since command.Since
	var asJSON bool
	cmd := &cobra.Command{
		Use: "activity", Short: "Show what happened by hour or day: sessions, turns, failures, cost", GroupID: "use", Args: command.ExactArgs(),
		Long: `Shows what happened in the tenant. Steps in which nothing happened are left out of the table. See docs/insights.md.`,
		Example: `  parlance activity
  parlance activity --since 24h --agent agt_01j…
  parlance activity --since 30d --step day --json | jq .total`,
		RunE: client.WithInstallation(func(c client.Caller) *activityReader {
			return &activityReader{c, parlancev1connect.NewInsightServiceClient(c.HTTP, c.Base, c.Options()...)}
		}, func(ctx context.Context, a *activityReader, _ []string) error {
			if from, ok := since.From(a.Now()); ok {
				req.Since = timestamppb.New(from)
			}
			if req.GetAgentId() == "default" {
				req.AgentId = a.AgentID
			}
			activity, err := a.service.GetActivity(ctx, &req)
			switch {
			case err != nil:
				return a.Explain("read the activity", err)
			case asJSON:
				return a.PrintMessage(activity)
			}
			return a.show(activity)
		}),
	}
	client.AddInstallation(cmd)
	flags := cmd.Flags()
	flags.Var(&since, "since", "so long ago, such as 24h or 7d, or a time such as 2026-03-01T08:00:00Z; 7 days ago")
	flags.StringVar(&req.Step, "step", "", "hour or day; hours for up to three days")
	flags.StringVar(&req.WorkspaceId, "workspace", "", "only this workspace, ws_…")
	flags.StringVar(&req.AgentId, "agent", "", "only this agent, agt_…")
	flags.StringVar(&req.Timezone, "timezone", "", "where days begin, such as Europe/Berlin; the tenant's")
	flags.BoolVar(&asJSON, "json", false, "print the activity as a line of JSON")
	return cmd
}

// show prints a plot of the turns, the steps in which something happened, and their sum.
func (a *activityReader) show(activity *parlancev1.Activity) error {
	zone, err := time.LoadLocation(activity.GetTimezone())
	if err != nil {
		return fmt.Errorf("this machine does not know the time zone %s: %w", activity.GetTimezone(), err)
	}
	layout := map[string]string{"hour": "2006-01-02 15:04", "day": time.DateOnly}[activity.GetStep()]
	most := 0.0
	for _, step := range activity.GetSteps() {
		most = max(most, float64(step.GetTurns()))
	}
	var plot strings.Builder
	var rows [][]term.Cell
	for _, step := range activity.GetSteps() {
		plot.WriteString(level(float64(step.GetTurns()), most))
		if row := activityRow(step, step.GetStartsAt().AsTime().In(zone).Format(layout)); happened(step) {
			rows = append(rows, row)
		}
	}
	a.Line("%s  %s  %s", a.Screen.Dim("turns by "+activity.GetStep()), a.Screen.Busy(plot.String()),
		a.Screen.Dim(fmt.Sprintf("at most %s, %s", humanize.Comma(int64(most)), activity.GetTimezone())))
	if len(rows) == 0 {
		a.Line("Nothing happened in this time.")
		return nil
	}
	columns := []term.Column{
		{Title: strings.ToUpper(activity.GetStep())},
		{Title: "SESSIONS", Right: true},
		{Title: "TURNS", Right: true},
		{Title: "NO PASSAGE", Right: true, Drops: 2},
		{Title: "TOOLS", Right: true, Drops: 3},
		{Title: "WEBHOOKS", Right: true, Drops: 4},
		{Title: "SOURCES", Right: true, Drops: 5},
		{Title: "TOKENS", Right: true, Drops: 1},
		{Title: strings.TrimSpace("COST " + activity.GetCurrency()), Right: true},
	}
	for _, line := range a.Screen.Table(columns, append(rows, activityRow(activity.GetTotal(), "total"))) {
		a.Line("%s", line)
	}
	return nil
}

// happened reports whether anything but time is in a step.
func happened(s *parlancev1.ActivityStep) bool {
	for _, n := range []int32{
		s.GetSessions(), s.GetFailedSessions(), s.GetTurns(), s.GetToolCalls(), s.GetFailedToolCalls(), s.GetDeliveries(),
		s.GetFailedDeliveries(), s.GetSourcesReady(), s.GetFailedSources(),
	} {
		if n > 0 {
			return true
		}
	}
	return s.GetTokens() > 0 || s.GetVoiceMinutes() > 0
}

// activityRow is a step as a line of the table.
func activityRow(s *parlancev1.ActivityStep, name string) []term.Cell {
	return []term.Cell{
		{Text: name},
		{Text: withFailed(s.GetSessions(), s.GetFailedSessions())},
		{Text: withFailed(s.GetTurns(), s.GetFailedTurns())},
		{Text: fmt.Sprintf("%d of %d", s.GetAnswersWithoutPassage(), s.GetKnowledgeAnswers())},
		{Text: withFailed(s.GetToolCalls(), s.GetFailedToolCalls())},
		{Text: withFailed(s.GetDeliveries(), s.GetFailedDeliveries())},
		{Text: withFailed(s.GetSourcesReady(), s.GetFailedSources())},
		{Text: humanize.Comma(int64(s.GetTokens()))},
		{Text: s.GetCost()},
	}
}

// withFailed is a number, and how many failed if any did.
func withFailed(all, failed int32) string {
	if failed == 0 {
		return strconv.Itoa(int(all))
	}
	return fmt.Sprintf("%d (%d failed)", all, failed)
}
