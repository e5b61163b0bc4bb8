package tools

import (
	"context"
	"io"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/term"
)

// AddAtTerminal runs `parlance tools add` as if a person typed the answers.
func AddAtTerminal(ctx context.Context, dataDir, document string, answers io.Reader, out io.Writer) error {
	cmd := newAdd("test")
	client.AddWorkspace(cmd)
	if err := cmd.Flags().Set("data-dir", dataDir); err != nil {
		return err
	}
	cmd.SetContext(ctx)
	cmd.SetOut(out)
	cmd.SetIn(answers)
	return withTools(func(ctx context.Context, b *toolbox, _ []string) error {
		person := &term.Asker{In: b.In, Out: b.Screen.Out}
		return (&adder{toolbox: b, o: addOptions{from: document}, person: person}).run(ctx)
	})(cmd, nil)
}
