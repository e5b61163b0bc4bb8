package dev

import (
	"errors"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/test/pty"
)

// A terminal that nobody answers on, such as that of a container without an input, does not refuse.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	typed, terminal := pty.Open(t)
	const endOfInput = "\x04"
	if _, err := typed.WriteString(endOfInput); err != nil {
		t.Fatal(err)
	}
	d, out := devWith("")
	d.cmd.SetIn(terminal)
	plan := devstack.InstallPlan{Missing: []string{"Redis 7"}, Packages: []string{"redis-server"}, Command: "apt-get install redis-server"}
	yes, err := d.confirm(t.Context())(plan)
	missing, ok := errors.AsType[*devstack.MissingError](err)
	if yes || !ok || !strings.Contains(err.Error(), plan.Command) || !strings.Contains(missing.Cause, "--yes") {
		t.Errorf("got %v, %v\n%s", yes, err, out)
	}
}

// Who is not root is told what --yes does for root.
func TestAdvisesRoot(t *testing.T) {
	t.Parallel()
	err := advise(&devstack.MissingError{Plan: devstack.InstallPlan{Missing: []string{"Redis 7"}, NeedsRoot: true}})
	if !strings.Contains(err.Error(), "As root, `parlance dev --yes`") {
		t.Error(err)
	}
}
