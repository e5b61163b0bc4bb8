package dev

import (
	"context"
	"errors"
	"strings"

	"parlance.dev/parlance/platform/devstack"
)

// prepareTools installs the programs that read PDF files and pictures and the one that speaks. If
// they cannot be installed it says so, and the start goes on: everything else works without them.
func (d *dev) prepareTools(ctx context.Context) error {
	tools := append(devstack.DocumentTools(), devstack.SpeechTools()...)
	options := devstack.Options{Tools: tools, Log: d.steps.Note, Confirm: d.confirm(ctx)}
	if devstack.MissingTools(options).Empty() {
		return nil
	}
	d.steps.Begin("Looking for what reads PDF files and pictures, and what speaks")
	err := devstack.InstallTools(ctx, options)
	if err == nil {
		d.steps.Done("PDF files and pictures can be read, and text spoken")
		return nil
	}
	d.steps.Fail()
	missing, ok := errors.AsType[*devstack.MissingError](err)
	if !ok {
		return err
	}
	d.say("    without %s, PDF files or pictures are refused or read without a sandbox, or nothing speaks without a server",
		strings.Join(missing.Plan.Missing, ", "))
	if missing.Cause != "" {
		d.say("    not installed: %s", missing.Cause)
	}
	if missing.Plan.Command != "" {
		d.say("    install with: %s", missing.Plan.Command)
	}
	if missing.Plan.NeedsRoot {
		d.say("    or run `parlance dev --yes` as root")
	}
	return nil
}
