package workspaces_test

import (
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	workspaces := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "workspaces", args[0], append(args[1:], "--api-key", w.Env.Tenant.Admin)...)
	}
	workspaces("show").Wants(t, command.ExitDone, w.Env.Tenant.WorkspaceID, w.Env.Tenant.ID)
	id := workspaces("create", "staging", "--json").JSONLines(t)[0]["id"].(string)
	workspaces("update", id, "--name", "production").Wants(t, command.ExitDone, "production")
	workspaces("ls").Wants(t, command.ExitDone, "production", id, w.Env.Tenant.WorkspaceID)
	workspaces("update", id).Wants(t, command.ExitUsage, "--name")
	workspaces("update", id, "--transcript-days", "90").Wants(t, command.ExitDone, "90 days", "production")
	workspaces("update", id, "--audio-days", "7").Wants(t, command.ExitDone, "90 days", "recordings for 7 days")
	workspaces("update", id, "--transcript-days", "4000").Wants(t, command.ExitFailed, "retention.transcript_days")
	workspaces("update", id, "--transcript-days", "0").Wants(t, command.ExitDone, "for ever")
	workspaces("rm", id).Wants(t, command.ExitUsage, "add --yes")
	workspaces("rm", id, "--yes").Wants(t, command.ExitDone, "deleted")
	workspaces("get", id).Wants(t, command.ExitFailed, "find the workspace")
	w.Run(t, "", "workspaces", "create", "x").Wants(t, command.ExitFailed, "make the workspace", "admin")
}
