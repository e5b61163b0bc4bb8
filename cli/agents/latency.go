package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newLatency() *cobra.Command {
	var o client.ListOptions
	var since time.Duration
	var version int32
	cmd := &cobra.Command{
		Use: "latency AGENT", Short: "See how long an agent's answers take, stage by stage", Args: command.ExactArgs("AGENT"),
		Long: `Half of the answers took no longer than P50, 95 of 100 no longer than P95. Times of spoken answers (endpointing,
transcript, first token, first audio) count from the end of the user's speech, the others are how long a stage took.`,
		Example: `  parlance agents latency default
  parlance agents latency agt_01j… --since 1h
  parlance agents latency agt_01j… --agent-version 3 --json | jq 'select(.stage == "first_audio") | .p95_ms'`,
		RunE: with(func(ctx context.Context, c *client.Caller, args []string) error {
			agent, err := find(ctx, c, args[0])
			if err != nil {
				return err
			}
			return client.List(c, o, client.Listing[*parlancev1.LatencyStage]{
				Pages: func(string) ([]*parlancev1.LatencyStage, string, error) {
					found, err := c.Agents.GetAgentLatency(ctx, &parlancev1.GetAgentLatencyRequest{
						WorkspaceId: c.WorkspaceID, AgentId: agent.GetId(), Since: timestamppb.New(time.Now().Add(-since)), AgentVersion: version,
					})
					if err != nil {
						return nil, "", c.Explain("see how long answers take", err)
					}
					return found.GetStages(), "", nil
				},
				Columns: []term.Column{
					{Title: "STAGE"},
					{Title: "ANSWERS", Right: true},
					{Title: "P50 MS", Right: true},
					{Title: "P90", Right: true, Drops: 1},
					{Title: "P95", Right: true},
					{Title: "P99", Right: true},
					{Title: "MAX", Right: true, Drops: 2},
				},
				Row: func(one *parlancev1.LatencyStage) []term.Cell {
					cells := []term.Cell{{Text: strings.ReplaceAll(one.GetStage(), "_", " ")}}
					for _, n := range []int32{
						one.GetAnswers(), one.GetP50Ms(), one.GetP90Ms(), one.GetP95Ms(), one.GetP99Ms(), one.GetMaxMs(),
					} {
						cells = append(cells, term.Cell{Text: fmt.Sprint(n)})
					}
					return cells
				},
				Empty: "The agent has answered nobody in this time.",
			})
		}),
	}
	cmd.Flags().DurationVar(&since, "since", 7*24*time.Hour, "only sessions that began in this time")
	cmd.Flags().Int32Var(&version, "agent-version", 0, "only sessions of this version; 0: all")
	o.Add(cmd.Flags())
	return cmd
}
