package callbacks

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/ticker"
)

const (
	// watchEvery is how often a batch that is watched is looked at.
	watchEvery = time.Second
	barColumns = 24
)

func newCreateBatch() *cobra.Command {
	req := &parlancev1.CreateCallbackBatchRequest{}
	var startsAt, window string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create FILE", Short: "Plan calls to the numbers of a CSV file", Args: command.ExactArgs("FILE"),
		Long: `The first line of the file names the columns; - is the standard input. phone_number is needed: numbers with their
countries' codes. user_id says who is called, as sessions name it (without it: the number), timezone is the IANA time
zone of the user. Each other column is a variable of the conversations.

  phone_number,user_id,timezone,name,order
  +49 30 123456,ada@example.org,Europe/Berlin,Ada,7

Either all are accepted or none. The agent calls --concurrency of them at once, between the hours of --window.`,
		Example: `  parlance batches create patients.csv --name "Reminders" --reason "The appointment of tomorrow"
  parlance batches create patients.csv --window 09:00-18:00 --timezone Europe/Berlin --starts-at 2026-12-01 --concurrency 10
  psql --csv -c "SELECT phone AS phone_number, id AS user_id FROM customers" | parlance batches create - --name Customers`,
		RunE: with(func(ctx context.Context, s *service, args []string) (err error) {
			req.WorkspaceId = s.WorkspaceID
			if req.WindowFrom, req.WindowUntil, err = hoursOf(window); err != nil {
				return err
			}
			if req.StartsAt, err = momentOf("starts-at", startsAt, req.GetTimezone()); err != nil {
				return err
			}
			if req.AgentId, err = s.ChooseAgent(req.GetAgentId()); err != nil {
				return err
			}
			file, err := s.recipients(args[0])
			if err != nil {
				return err
			}
			req.Recipients = file.all
			if req.Name == "" && args[0] == "-" {
				return command.Usagef("--name is missing: what the batch is called")
			}
			if req.Name == "" {
				base := filepath.Base(args[0])
				req.Name = strings.TrimSuffix(base, filepath.Ext(base))
			}
			made, err := s.callbacks.CreateCallbackBatch(ctx, req)
			if err != nil {
				return cmp.Or(file.complaints(err), s.Explain("make the batch", err))
			}
			return s.printBatch(made, asJSON)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&req.AgentId, "agent", "", "the agent that calls, agt_…")
	flags.StringVar(&req.Name, "name", "", "what the batch is called, for people; default: the name of the file")
	flags.StringVar(&req.Reason, "reason", "", "what the calls are about; the agent knows it")
	flags.StringVar(&startsAt, "starts-at", "", "first time it may call: a day, a local time of --timezone, or RFC 3339; default: now")
	flags.StringVar(&window, "window", "", "hours between which it calls, such as 09:00-18:00; default: all day, but for the quiet hours")
	flags.StringVar(&req.Timezone, "timezone", "", "IANA time zone of --window, and of recipients without one; default: that of each number")
	flags.Int32Var(&req.Concurrency, "concurrency", 0, "most calls at once, 1 to 100; 0: 5")
	flags.BoolVar(&asJSON, "json", false, "print the batch as a line of JSON")
	return cmd
}

// hoursOf reads --window.
func hoursOf(window string) (from, until string, err error) {
	if window == "" {
		return "", "", nil
	}
	from, until, ok := strings.Cut(strings.ReplaceAll(window, "–", "-"), "-")
	if !ok || from == "" || until == "" {
		return "", "", command.Usagef("--window %q is not two times of a day: say 09:00-18:00", window)
	}
	return from, until, nil
}

// watch shows how far a batch is until it is over: on a terminal in one line, elsewhere with a line
// for each change.
func (s *service) watch(ctx context.Context, id string, asJSON bool) error {
	var before *parlancev1.CallbackBatch
	for {
		one, err := s.batch(ctx, id)
		if err != nil {
			return err
		}
		changed := before == nil || before.GetStatus() != one.GetStatus() || !proto.Equal(before.GetProgress(), one.GetProgress())
		if isOver(one) {
			return s.printBatch(one, asJSON)
		}
		before = one
		switch {
		case !changed:
		case asJSON:
			if err := s.PrintMessage(one); err != nil {
				return err
			}
		case s.Screen.Terminal:
			s.Screen.Draw(nil, []string{s.progressBar(one)})
		default:
			s.Line("%s: %s", one.GetStatus(), progressWords(one.GetProgress()))
		}
		if err := ticker.Wait(ctx, watchEvery); err != nil {
			return err
		}
	}
}

// isOver reports whether a batch makes no calls any more, and none is in progress.
func isOver(one *parlancev1.CallbackBatch) bool {
	p := one.GetProgress()
	return one.GetStatus() == "completed" || one.GetStatus() == "stopped" && over(p) == p.GetTotal()
}

// progressBar is one line, not wider than a screen.
func (s *service) progressBar(one *parlancev1.CallbackBatch) string {
	p := one.GetProgress()
	share := 0.0
	if p.GetTotal() > 0 {
		share = float64(over(p)) / float64(p.GetTotal())
	}
	status := s.batchCell(one)
	return fmt.Sprintf("%s  %d/%d  %s", s.Screen.Bar(share, barColumns), over(p), p.GetTotal(), status.Paint(status.Text))
}
