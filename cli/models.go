package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/provider/model"
)

// probeTimeout is long because a local server may have to load its model first.
const probeTimeout = 2 * time.Minute

func newModels() *cobra.Command {
	cmd := &cobra.Command{Use: "models", Short: "Try the configured model", GroupID: "use"}
	test := &cobra.Command{
		Use: "test", Short: "Make one streamed call and one tool call, and say what failed and what to do", Args: command.ExactArgs(),
		Example: "  PARLANCE_MODEL_BASE_URL=http://127.0.0.1:11434/v1 PARLANCE_MODEL_NAME=qwen3:4b parlance models test",
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := command.LoadConfig(cmd)
			if err != nil {
				return err
			}
			provider, described, err := app.DefaultModel(cmd.Context(), config)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Answers: %s.\n", described)
			ctx, cancel := context.WithTimeout(cmd.Context(), probeTimeout)
			defer cancel()
			return printProbe(cmd.OutOrStdout(), model.Probe(ctx, provider, time.Now))
		},
	}
	command.AddSettings(test)
	cmd.AddCommand(test)
	return cmd
}

// printProbe prints the steps of a probe. It returns an error when one of them failed.
func printProbe(w io.Writer, tried []model.Step) error {
	failed := false
	for _, step := range tried {
		mark := "✓"
		if !step.OK {
			mark, failed = "✗", true
		}
		took := step.Took.Round(time.Millisecond).String()
		if step.FirstToken > 0 {
			took += ", first piece after " + step.FirstToken.Round(time.Millisecond).String()
		}
		fmt.Fprintf(w, "%s %s (%s): %s\n", mark, step.Name, took, step.Detail)
		if step.Advice != "" {
			fmt.Fprintf(w, "    %s\n", step.Advice)
		}
	}
	if failed {
		return errors.New("the model does not work as it should; see above")
	}
	return nil
}
