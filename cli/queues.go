package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// queueReader is what the command about queues works with.
type queueReader struct {
	client.Caller
	service parlancev1connect.QueueServiceClient
}

func newQueues() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "queues", Aliases: []string{"queue"}, Short: "Show the work that waits: the tenant's, and the installation's queues and workers",
		GroupID: "admin", Args: command.ExactArgs(),
		Long: `Shows the tenant's work by kind, which needs an operator key, and the queues in Redis with the processes that
serve them, which needs an admin key. See docs/insights.md.`,
		Example: `  parlance queues
  parlance queues --json | jq .kinds`,
		RunE: client.WithInstallation(func(c client.Caller) *queueReader {
			return &queueReader{c, parlancev1connect.NewQueueServiceClient(c.HTTP, c.Base, c.Options()...)}
		}, func(ctx context.Context, q *queueReader, _ []string) error { return q.show(ctx, asJSON) }),
	}
	client.AddInstallation(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the backlog and the queues as a line of JSON each")
	return cmd
}

// show prints the backlog first: it is known also without Redis.
func (q *queueReader) show(ctx context.Context, asJSON bool) error {
	backlog, err := q.service.GetBacklog(ctx, &parlancev1.GetBacklogRequest{})
	if err != nil {
		return q.Explain("count the backlog", err)
	}
	if asJSON {
		err = q.PrintMessage(backlog)
	} else {
		q.backlog(backlog)
	}
	if err != nil {
		return err
	}
	queues, err := q.service.ListQueues(ctx, &parlancev1.ListQueuesRequest{})
	if err != nil {
		return q.Explain("list the queues", err)
	}
	if asJSON {
		return q.PrintMessage(queues)
	}
	q.queues(queues)
	return nil
}

func (q *queueReader) backlog(backlog *parlancev1.Backlog) {
	var rows [][]term.Cell
	for _, k := range backlog.GetKinds() {
		rows = append(rows, append([]term.Cell{{Text: k.GetKind()}}, append(
			numberCells(k.GetWaiting(), k.GetRunning(), k.GetRetrying(), k.GetFailed()), term.Cell{Text: client.Moment(k.GetOldestAt())})...))
	}
	q.print([]term.Column{
		{Title: "WORK"},
		{Title: "WAITING", Right: true},
		{Title: "RUNNING", Right: true},
		{Title: "RETRYING", Right: true},
		{Title: "FAILED", Right: true},
		{Title: "WAITING SINCE"},
	}, rows)
}

func (q *queueReader) queues(all *parlancev1.ListQueuesResponse) {
	var rows [][]term.Cell
	for _, one := range all.GetQueues() {
		name := one.GetName()
		if one.GetPaused() {
			name += " (paused)"
		}
		rows = append(rows, append([]term.Cell{{Text: name}}, append(
			numberCells(one.GetPending(), one.GetActive(), one.GetScheduled(), one.GetRetrying(), one.GetArchived(), one.GetProcessedToday(),
				one.GetFailedToday()),
			term.Cell{Text: (time.Duration(one.GetLatencyMs()) * time.Millisecond).String()})...))
	}
	q.print([]term.Column{
		{Title: "QUEUE"},
		{Title: "PENDING", Right: true},
		{Title: "ACTIVE", Right: true},
		{Title: "SCHEDULED", Right: true, Drops: 4},
		{Title: "RETRYING", Right: true},
		{Title: "ARCHIVED", Right: true, Drops: 3},
		{Title: "TODAY", Right: true, Drops: 1},
		{Title: "FAILED", Right: true, Drops: 2},
		{Title: "OLDEST", Right: true},
	}, rows)
	if len(all.GetWorkers()) == 0 {
		q.Line("%s", q.Screen.Bad("No worker runs: start one with parlance worker."))
		return
	}
	for _, w := range all.GetWorkers() {
		q.Line("%s", fmt.Sprintf("worker %s:%d  %d of %d busy, since %s, %s", w.GetHost(), w.GetPid(), w.GetActive(), w.GetConcurrency(),
			client.Moment(w.GetStartedAt()), strings.Join(w.GetQueues(), " ")))
	}
}

// numberCells are numbers as cells of a table.
func numberCells(numbers ...int32) []term.Cell {
	cells := make([]term.Cell, len(numbers))
	for i, n := range numbers {
		cells[i].Text = strconv.Itoa(int(n))
	}
	return cells
}

func (q *queueReader) print(columns []term.Column, rows [][]term.Cell) {
	for _, line := range q.Screen.Table(columns, rows) {
		q.Line("%s", line)
	}
	q.Line("")
}
