package callbacks

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

const (
	spanFrom  = "the first day; default: today"
	spanUntil = "the end, at most 92 days later; default: four weeks later"
)

func newCalendar() *cobra.Command {
	var within span
	var asJSON bool
	cmd := &cobra.Command{
		Use: "calendar", Short: "Show what is planned: callbacks, and the runs of schedules", Args: command.ExactArgs(),
		Long: `Shows the next four weeks, or another span, in the order of time: the callbacks, and the runs of schedules that are
not callbacks yet. Times are those of this machine.`,
		Example: `  parlance callbacks calendar
  parlance callbacks calendar --from 2026-12-01 --until 2026-12-08 --json | jq -r .at`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			from, until, err := within.moments()
			if err != nil {
				return err
			}
			calendar, err := s.callbacks.GetCallbackCalendar(ctx, &parlancev1.GetCallbackCalendarRequest{
				WorkspaceId: s.WorkspaceID, From: from, Until: until,
			})
			if err != nil {
				return s.Explain("read the calendar", err)
			}
			return s.printCalendar(calendar, asJSON)
		}),
	}
	within.add(cmd, spanFrom, spanUntil)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each entry")
	return cmd
}

func (s *service) printCalendar(calendar *parlancev1.GetCallbackCalendarResponse, asJSON bool) error {
	var rows [][]term.Cell
	for _, one := range calendar.GetEntries() {
		if asJSON {
			if err := s.PrintMessage(one); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []term.Cell{
			{Text: client.Moment(one.GetAt())},
			{Text: one.GetStatus()},
			{Text: term.Clean(one.GetUserId())},
			{Text: term.Clean(one.GetReason())},
			{Text: cmp.Or(one.GetCallbackId(), one.GetScheduleId()), Paint: s.Screen.Dim},
		})
	}
	switch {
	case asJSON:
	case len(rows) == 0:
		s.Line("Nothing is planned. Plan a call: parlance callbacks create +49… --in 10m")
	default:
		s.Screen.Draw(s.Screen.Table([]term.Column{
			{Title: "AT"},
			{Title: "STATUS"},
			{Title: "USER", Drops: 1},
			{Title: "ABOUT", Shrinks: true},
			{Title: "ID"},
		}, rows), nil)
	}
	if calendar.GetTruncated() && !asJSON {
		s.Screen.Line("%s", s.Screen.Dim("… there is more: choose a shorter span with --until"))
	}
	return nil
}

func newICS() *cobra.Command {
	var within span
	var output string
	cmd := &cobra.Command{
		Use: "ics", Short: "Write the calendar as an iCalendar file, for calendar programs", Args: command.ExactArgs(),
		Long: `Writes what parlance callbacks calendar shows as an iCalendar file (RFC 5545). Calendar programs that subscribe to an
address can use GET /v1/workspaces/{workspace_id}/callbacks.ics.`,
		Example: `  parlance callbacks ics -o callbacks.ics
  parlance callbacks ics --from 2026-12-01 --until 2027-01-01 | grep -c BEGIN:VEVENT`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			from, until, err := within.moments()
			if err != nil {
				return err
			}
			stream, err := s.callbacks.ExportCallbackCalendar(ctx, &parlancev1.ExportCallbackCalendarRequest{
				WorkspaceId: s.WorkspaceID, From: from, Until: until,
			})
			if err == nil {
				err = s.write(output, func(to io.Writer) error {
					return copyStream(to, stream, (*parlancev1.ExportCallbackCalendarResponse).GetData)
				})
			}
			if err != nil {
				return s.Explain("write the calendar", err)
			}
			return nil
		}),
	}
	within.add(cmd, spanFrom, spanUntil)
	addOutput(cmd, &output)
	return cmd
}

func addOutput(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "-", "file to write; - is the standard output")
}

// write has fill write a file, or for "-" the output. A file that cannot be written to its end is
// removed.
func (s *service) write(path string, fill func(to io.Writer) error) (err error) {
	if path == "-" {
		return fill(s.Screen.Out)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err = errors.Join(fill(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// copyStream writes the pieces of a streamed file.
func copyStream[M any](to io.Writer, stream *connect.ServerStreamForClient[M], data func(*M) []byte) error {
	defer func() { _ = stream.Close() }() // stream.Err returned its error
	for stream.Receive() {
		if _, err := to.Write(data(stream.Msg())); err != nil {
			return err
		}
	}
	return stream.Err()
}
