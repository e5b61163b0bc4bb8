package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// tracesOptions are the flags of `parlance tools traces`.
type tracesOptions struct {
	session, agent, status, code string
	since                        time.Duration
	limit                        int
	whole, json                  bool
}

func newTraces() *cobra.Command {
	var o tracesOptions
	cmd := &cobra.Command{
		Use: "traces [TOOL]", Short: "Show the calls of tools, newest first", Args: command.AtMostOneArg,
		Long: `Shows every call of a tool, or of all tools: when, how it ended, how long it took, with which arguments.
Calls of conversations are among them, test runs, and those that were refused before anything was sent.
Traces of deleted tools stay until their time is over. --whole shows what a model got.`,
		Example: `  parlance tools traces --status failed --since 24h
  parlance tools traces get_order --whole --limit 3
  parlance tools traces --session ses_01j… --json | jq '{slug, latency_ms, error}'`,
		RunE: withTools(func(ctx context.Context, b *toolbox, args []string) error { return b.traces(ctx, o, args) }),
	}
	cmd.Flags().StringVar(&o.session, "session", "", "only calls of this session, ses_…")
	cmd.Flags().StringVar(&o.agent, "of-agent", "", "only calls of this agent, agt_…")
	cmd.Flags().StringVar(&o.status, "status", "", "only calls that succeeded, or that failed")
	cmd.Flags().StringVar(&o.code, "error", "", "only calls that failed with this code")
	cmd.Flags().DurationVar(&o.since, "since", 0, "only calls of this time until now, such as 30m or 24h")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "show at most so many; 0: all")
	cmd.Flags().BoolVar(&o.whole, "whole", false, "show arguments and answers whole")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each")
	return cmd
}

func (b *toolbox) traces(ctx context.Context, o tracesOptions, named []string) error {
	if o.status != "" && o.status != "succeeded" && o.status != "failed" {
		return command.Usagef("--status is succeeded or failed, not %q", o.status)
	}
	if o.limit < 0 || o.since < 0 {
		return command.Usagef("--limit and --since cannot be negative")
	}
	req := &parlancev1.ListWorkspaceToolCallsRequest{
		WorkspaceId: b.WorkspaceID, SessionId: o.session, AgentId: o.agent, Status: o.status, ErrorCode: o.code, PageSize: pageSize,
	}
	if o.since > 0 {
		req.StartedAfter = timestamppb.New(b.Now().Add(-o.since))
	}
	if len(named) > 0 {
		found, err := b.find(ctx, named[0])
		if err != nil {
			return err
		}
		req.ToolId = found[0].GetId()
	}
	list := func(token string) ([]*parlancev1.ToolCall, string, error) {
		req.PageToken = token
		page, err := b.tools.ListWorkspaceToolCalls(ctx, req)
		if err != nil {
			return nil, "", b.Explain("list the calls", err)
		}
		return page.GetToolCalls(), page.GetNextPageToken(), nil
	}
	var calls []*parlancev1.ToolCall
	shown, more, err := command.Each(o.limit, list, func(call *parlancev1.ToolCall) error {
		switch {
		case o.json:
			return b.PrintMessage(call)
		case o.whole:
			b.wholeTrace(call)
		default:
			calls = append(calls, call)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return nil
	case shown == 0:
		b.Line("No call is like that.")
	case !o.whole:
		b.Screen.Draw(b.traceLines(calls), nil)
	}
	if more {
		b.SayMore(o.limit)
	}
	return nil
}

// traceLines formats the table.
func (b *toolbox) traceLines(calls []*parlancev1.ToolCall) []string {
	columns := []term.Column{
		{Title: "BEGAN"},
		{Title: "TOOL"},
		{Title: "OUTCOME"},
		{Title: "TOOK", Right: true},
		{Title: "TRIED", Right: true, Drops: 2},
		{Title: "ARGUMENTS", Shrinks: true},
		{Title: "SESSION", Drops: 1},
	}
	rows := make([][]term.Cell, len(calls))
	for i, call := range calls {
		session := call.GetSessionId()
		if session == "" {
			session = "a run"
		}
		rows[i] = []term.Cell{
			{Text: call.GetStartedAt().AsTime().Local().Format(time.DateTime)},
			{Text: term.Clean(call.GetSlug())},
			b.outcomeCell(call),
			{Text: term.Latency(call.GetLatencyMs())},
			{Text: fmt.Sprint(call.GetAttempts())},
			{Text: term.Clean(call.GetInputJson())},
			{Text: session, Paint: b.Screen.Dim},
		}
	}
	return b.Screen.Table(columns, rows)
}

func (b *toolbox) outcomeCell(call *parlancev1.ToolCall) term.Cell {
	words, paint := "ok", b.Screen.Good
	if failed := call.GetError(); failed != nil {
		words, paint = "failed "+term.Clean(failed.GetCode()), b.Screen.Bad
	}
	if status := call.GetStatusCode(); status != 0 {
		words += fmt.Sprintf(" %d", status)
	}
	return term.Cell{Text: words, Paint: paint}
}

// wholeTrace prints one call with its arguments and answer.
func (b *toolbox) wholeTrace(call *parlancev1.ToolCall) {
	outcome := b.outcomeCell(call)
	b.Screen.Line("%s  %s  %s in %s, %s  %s", call.GetStartedAt().AsTime().Local().Format(time.DateTime),
		b.Screen.Strong(term.Clean(call.GetSlug())),
		outcome.Paint(outcome.Text), term.Latency(call.GetLatencyMs()), term.Count(int(call.GetAttempts()), "attempt", "attempts"),
		b.Screen.Dim(strings.TrimSpace(term.Clean(call.GetSessionId()+" "+call.GetTurnId()))))
	b.Screen.Line("  %s %s", b.Screen.Dim("←"), term.Clean(call.GetInputJson()))
	said := call.GetOutput()
	if failed := call.GetError().GetMessage(); failed != "" && !strings.HasPrefix(said, failed) {
		said = failed + "\n" + said
	}
	for _, line := range term.CleanLines(strings.TrimRight(said, "\n")) {
		b.Screen.Line("  %s %s", b.Screen.Dim("→"), line)
	}
	b.Screen.Line("")
}
