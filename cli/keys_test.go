package cli_test

import (
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

// TestKeysOverTheAPI makes, lists, rotates and revokes a key without access to the database.
func TestKeysOverTheAPI(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	keys := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "keys", args[0], append(args[1:], "--api-key", w.Env.Tenant.Admin)...)
	}
	made := keys("create", "backend", "--scope", "runtime", "--workspace", w.Env.Tenant.WorkspaceID, "--expires", "720h",
		"--json").JSONLines(t)[0]
	id, secret := made["id"].(string), made["api_key"].(string)
	keys("ls").Wants(t, command.ExitDone, "NAME", "backend", "runtime", w.Env.Tenant.WorkspaceID, "…"+secret[len(secret)-4:], id)
	keys("list", "--limit", "1").Wants(t, command.ExitDone, "backend", "there are more")
	keys("create", "everywhere").Wants(t, command.ExitDone, "(operator)", "shown this once")
	for _, line := range keys("ls", "--json").JSONLines(t) {
		if line["name"] == "everywhere" && line["workspace_id"] != "" {
			t.Errorf("restricted to the workspace of the environment: %v", line)
		}
	}
	worksAs := func(secret string, status int) {
		t.Helper()
		w.Env.Do(t, http.MethodGet, w.Env.Tenant.In("/agents"), "", harness.Key(secret)).Must(t, status)
	}
	worksAs(secret, http.StatusOK)
	rotated := keys("rotate", id, "--json").JSONLines(t)[0]["api_key"].(string)
	worksAs(secret, http.StatusUnauthorized)
	worksAs(rotated, http.StatusOK)
	again := keys("rotate", id, "--overlap", "24h", "--json").JSONLines(t)[0]
	worksAs(rotated, http.StatusOK)
	worksAs(again["api_key"].(string), http.StatusOK)
	if until, ok := again["old_secret_expires_at"].(string); !ok || until == "" {
		t.Errorf("it does not say until when the old secret works: %v", again)
	}
	keys("rotate", id, "--overlap", "1h").Wants(t, command.ExitFailed, "still works until")
	for _, overlap := range []string{"169h", "-1s", "1500ms", "1000000h"} {
		keys("rotate", id, "--overlap", overlap).Wants(t, command.ExitUsage, "0 to 168h")
	}
	keys("revoke", id).Wants(t, command.ExitDone, "revoked "+id)
	worksAs(rotated, http.StatusUnauthorized)
	keys("rotate", "key_none").Wants(t, command.ExitFailed, "parlance keys ls")
	w.Run(t, "", "keys", "ls").Wants(t, command.ExitFailed, "admin") // dev.env has an operator's key
}

// TestKeysInTheDatabase makes a key as the operator of an installation does who has none.
func TestKeysInTheDatabase(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	keys := func(args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append([]string{"keys"}, args...)...)
	}
	database := []string{"--database-url", w.Env.DatabaseURL, "--tenant", w.Env.Tenant.ID}
	made := keys(append([]string{"create", "first", "--scope", "admin", "--json"}, database...)...).JSONLines(t)[0]
	id := made["id"].(string)
	w.Env.Do(t, http.MethodGet, "/v1/api-keys/"+id, "", harness.Key(made["api_key"].(string))).Must(t, http.StatusOK)
	keys(append([]string{"ls"}, database...)...).Wants(t, command.ExitDone, "first", id)
	keys(append([]string{"rotate", id}, database...)...).Wants(t, command.ExitDone, "prl_", "The old secret does not work any more.")
	keys(append([]string{"rotate", id, "--overlap", "1h"}, database...)...).Wants(t, command.ExitDone, "The old secret works until 20")
	keys(append([]string{"delete", id}, database...)...).Wants(t, command.ExitDone, "revoked "+id)

	nowhere := t.TempDir()
	keys("ls", "--data-dir", nowhere).Wants(t, command.ExitUsage, "no installation to talk to", "--tenant ten_…")
	keys("ls", "--data-dir", nowhere, "--database-url", w.Env.DatabaseURL).Wants(t, command.ExitUsage, "--tenant is missing")
	keys(append([]string{"ls", "--api-key", "prl_x"}, database...)...).Wants(t, command.ExitUsage, "not both")
	keys("ls", "--tenant", "ten_none", "--database-url", w.Env.DatabaseURL).Wants(t, command.ExitFailed, "ten_none")
	if help := keys("--help").Out; !strings.Contains(help, "--tenant") || !strings.Contains(help, "first key") {
		t.Errorf("the help does not say when the database is used:\n%s", help)
	}
}
