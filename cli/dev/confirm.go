package dev

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/devstack"
)

// confirm says what is about to be installed. It asks first when the input is a terminal and --yes
// was not given.
func (d *dev) confirm(ctx context.Context) func(devstack.InstallPlan) (bool, error) {
	return func(plan devstack.InstallPlan) (bool, error) {
		d.steps.End() // the question stands alone on the terminal
		d.say("    missing on this machine: %s", strings.Join(plan.Missing, ", "))
		if len(plan.Packages) > 0 {
			d.say("    about to run: %s", plan.Command)
		}
		if plan.BuildVector {
			d.say("    about to build pgvector from its source package, into a private copy of Postgres")
		}
		if !d.options.yes && term.IsTerminal(d.cmd.InOrStdin()) {
			yes, err := d.ask(ctx)
			if errors.Is(err, term.ErrInputEnded) {
				return false, &devstack.MissingError{Plan: plan, Cause: "nobody answered; --yes installs it without asking"}
			}
			if err != nil || !yes {
				return false, err
			}
		}
		d.steps.Begin("Installing")
		return true, nil
	}
}

// ask reads yes or no. An input that ends before the answer is term.ErrInputEnded.
func (d *dev) ask(ctx context.Context) (bool, error) {
	person := term.Asker{In: d.cmd.InOrStdin(), Out: d.cmd.OutOrStdout()}
	yes, err := person.Confirm(ctx, "    Go ahead? [Y/n] ")
	if errors.Is(err, term.ErrInputEnded) {
		d.say("") // ends the line of the question
	}
	return yes, err
}

// advise adds to a MissingError that --yes installs what is missing, where it would as root.
func advise(err error) error {
	if missing, ok := errors.AsType[*devstack.MissingError](err); ok && missing.Plan.NeedsRoot {
		return fmt.Errorf("%w\n\nAs root, `parlance dev --yes` installs what is missing without asking", err)
	}
	return err
}
