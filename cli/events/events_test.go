package events_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	w.AddText(t, "one")
	list := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "events", "ls", args...)
	}
	harness.Await(t, harness.Patience, "the event is in the feed", func() bool {
		return len(list("--events", "kb.source_ingested", "--json").JSONLines(t)) == 1
	})
	one := list("--events", "kb.source_ingested", "--json").JSONLines(t)[0]
	list().Wants(t, command.ExitDone, "kb.source_ingested", one["event_id"].(string), "CURSOR")
	list("--after", one["cursor"].(string), "--events", "kb.source_ingested").Wants(t, command.ExitDone, "There is no such event.")
	list("--events", "nonsense").Wants(t, command.ExitFailed, "nonsense")

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Execute(ctx, cli.IO{In: &bytes.Buffer{}, Out: write, Err: io.Discard},
			[]string{"events", "follow", "--after", "0", "--data-dir", w.DataDir})
	}()
	line := make([]byte, 4096)
	n, err := read.Read(line)
	if err != nil || !strings.Contains(string(line[:n]), "kb.") {
		t.Errorf("it printed %q, %v", line[:n], err)
	}
	stop()
	_ = read.Close() // nobody reads on
	if got := <-code; got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
}
