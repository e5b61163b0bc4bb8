package callbacks

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// NewBatches makes `parlance batches`.
func NewBatches() *cobra.Command {
	cmd := &cobra.Command{
		Use: "batches", Short: "Have an agent call many numbers", GroupID: "use", Args: command.ExactArgs(),
		Long: `A batch is calls to up to 10,000 numbers of a CSV file, some at a time, within hours of the day that you choose.
It can be paused, resumed and stopped, and its results are a CSV file again.`,
		Example: `  parlance batches create patients.csv --name "Reminders" --window 09:00-18:00 --timezone Europe/Berlin
  parlance batches show bat_01j… --watch
  parlance batches results bat_01j… -o results.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newListBatches(), newShowBatch(), newCreateBatch(), newResults(),
		newControl("pause", "Begin no new calls of a batch; calls in progress go on"),
		newControl("resume", "Go on with a batch that was paused"),
		newControl("stop", "Stop a batch for good: what is scheduled is canceled, calls in progress go on"))
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

func newListBatches() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List batches, newest first", Args: command.ExactArgs(),
		Example: `  parlance batches ls
  parlance batches ls --json | jq -r 'select(.status == "running") | .id'`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			return client.List(&s.Caller, o, client.Listing[*parlancev1.CallbackBatch]{
				Pages: func(token string) ([]*parlancev1.CallbackBatch, string, error) {
					page, err := s.callbacks.ListCallbackBatches(ctx, &parlancev1.ListCallbackBatchesRequest{
						WorkspaceId: s.WorkspaceID, PageSize: client.PageSize, PageToken: token,
					})
					if err != nil {
						return nil, "", s.Explain("list the batches", err)
					}
					return page.GetBatches(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "MADE"},
					{Title: "STATUS"},
					{Title: "OVER", Right: true},
					{Title: "COMPLETED", Right: true, Drops: 1},
					{Title: "NAME", Shrinks: true},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.CallbackBatch) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetCreatedAt())},
						s.batchCell(one),
						{Text: fmt.Sprintf("%d/%d", over(one.GetProgress()), one.GetProgress().GetTotal())},
						{Text: fmt.Sprint(one.GetProgress().GetCompleted())},
						{Text: term.Clean(one.GetName())},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "There is no batch. Make one: parlance batches create FILE.csv",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

// over is how many callbacks of a batch are over.
func over(p *parlancev1.CallbackBatchProgress) int32 {
	return p.GetCompleted() + p.GetNoAnswer() + p.GetFailed() + p.GetCanceled()
}

func (s *service) batchCell(one *parlancev1.CallbackBatch) term.Cell {
	paint := s.Screen.Busy
	switch one.GetStatus() {
	case "completed":
		paint = s.Screen.Good
	case "stopped":
		paint = s.Screen.Bad
	}
	return term.Cell{Text: one.GetStatus(), Paint: paint}
}

func newShowBatch() *cobra.Command {
	var watch, asJSON bool
	cmd := &cobra.Command{
		Use: "show BATCH", Aliases: []string{"get"}, Short: "Show a batch and how far it is", Args: command.ExactArgs("BATCH"),
		Example: `  parlance batches show bat_01j… --watch
  parlance batches show bat_01j… --json | jq .progress`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if watch {
				return s.watch(ctx, args[0], asJSON)
			}
			one, err := s.batch(ctx, args[0])
			if err != nil {
				return err
			}
			return s.printBatch(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show how far it is until it is over")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the batch as a line of JSON; while it is watched, each time that its progress changes")
	return cmd
}

func (s *service) batch(ctx context.Context, id string) (*parlancev1.CallbackBatch, error) {
	one, err := s.callbacks.GetCallbackBatch(ctx, &parlancev1.GetCallbackBatchRequest{WorkspaceId: s.WorkspaceID, BatchId: id})
	if err != nil {
		return nil, s.explain("find the batch", "batches", id, err)
	}
	return one, nil
}

func (s *service) printBatch(one *parlancev1.CallbackBatch, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	status := s.batchCell(one)
	s.Screen.Line("%s  %s  %s", s.Screen.Strong(term.Clean(one.GetName())), status.Paint(status.Text), s.Screen.Dim(one.GetId()))
	s.Fact("progress", progressWords(one.GetProgress()))
	s.Fact("about", one.GetReason())
	s.Fact("agent", one.GetAgentId())
	s.Fact("begins", inZone(one.GetStartsAt(), one.GetTimezone()))
	if one.GetWindowFrom() != "" || one.GetWindowUntil() != "" {
		s.Fact("hours", one.GetWindowFrom()+"–"+one.GetWindowUntil())
	}
	s.Fact("time zone", one.GetTimezone())
	s.Fact("calls at once", fmt.Sprint(one.GetConcurrency()))
	s.Fact("made", client.Moment(one.GetCreatedAt()))
	s.Fact("ended", client.Moment(one.GetEndedAt()))
	return nil
}

// progressWords names the counts that are not zero.
func progressWords(p *parlancev1.CallbackBatchProgress) string {
	words := fmt.Sprintf("%d of %d over", over(p), p.GetTotal())
	for _, one := range []struct {
		count int32
		word  string
	}{
		{p.GetCompleted(), "completed"},
		{p.GetNoAnswer(), "no answer"},
		{p.GetFailed(), "failed"},
		{p.GetCanceled(), "canceled"},
		{p.GetInProgress(), "in progress"},
		{p.GetDialing(), "dialing"},
		{p.GetScheduled(), "scheduled"},
	} {
		if one.count > 0 {
			words += fmt.Sprintf(", %d %s", one.count, one.word)
		}
	}
	return words
}

func newControl(action, short string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: action + " BATCH", Short: short, Args: command.ExactArgs("BATCH"), Example: "  parlance batches " + action + " bat_01j…",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.callbacks.ControlCallbackBatch(ctx, &parlancev1.ControlCallbackBatchRequest{
				WorkspaceId: s.WorkspaceID, BatchId: args[0], Action: action,
			})
			if err != nil {
				return s.explain(action+" the batch", "batches", args[0], err)
			}
			return s.printBatch(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the batch as a line of JSON")
	return cmd
}

func newResults() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "results BATCH", Short: "Write how the calls of a batch ended, as CSV", Args: command.ExactArgs("BATCH"),
		Long: "Writes a line for each recipient, in the order of the file that the batch was made of. It may be read before the batch is over.",
		Example: `  parlance batches results bat_01j… -o results.csv
  parlance batches results bat_01j… | grep no_answer`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			stream, err := s.callbacks.ExportCallbackBatch(ctx, &parlancev1.ExportCallbackBatchRequest{WorkspaceId: s.WorkspaceID, BatchId: args[0]})
			if err == nil {
				err = s.write(output, func(to io.Writer) error {
					return copyStream(to, stream, (*parlancev1.ExportCallbackBatchResponse).GetData)
				})
			}
			if err != nil {
				return s.explain("write the results", "batches", args[0], err)
			}
			return nil
		}),
	}
	addOutput(cmd, &output)
	return cmd
}
