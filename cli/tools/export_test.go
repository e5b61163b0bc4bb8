package tools

import (
	"context"
	"io"

	"parlance.dev/parlance/cli/client"
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
		b.interactive = true
		return (&adder{toolbox: b, o: addOptions{from: document}}).run(ctx)
	})(cmd, nil)
}
