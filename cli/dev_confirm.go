package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"parlance.dev/parlance/platform/devstack"
)

// confirm says what is about to be installed and, when a person is there and has not said
// --yes, asks.
func (d *dev) confirm(ctx context.Context) func(devstack.InstallPlan) (bool, error) {
	return func(plan devstack.InstallPlan) (bool, error) {
		d.steps.pause()
		d.say("    missing on this machine: %s", strings.Join(plan.Missing, ", "))
		if len(plan.Packages) > 0 {
			d.say("    about to run: %s", plan.Command)
		}
		if plan.BuildVector {
			d.say("    about to build pgvector from its source package, into a private copy of Postgres")
		}
		if !d.options.yes && isTerminal(d.cmd.InOrStdin()) {
			yes, err := d.ask(ctx)
			if err != nil || !yes {
				return false, err
			}
		}
		d.steps.begin("Installing")
		return true, nil
	}
}

// ask reads yes or no; just Enter is yes. The read cannot be called back when ctx ends first,
// which is the end of the process.
func (d *dev) ask(ctx context.Context) (bool, error) {
	fmt.Fprint(d.cmd.OutOrStdout(), "    Go ahead? [Y/n] ")
	answers := make(chan string, 1) // the reader must not wait for us when ctx has ended
	go func() {
		line, _ := bufio.NewReader(d.cmd.InOrStdin()).ReadString('\n') // no line is no answer
		if line == "" {
			line = "n"
		}
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case answer := <-answers:
		return answer == "" || answer == "y" || answer == "yes", nil
	}
}
