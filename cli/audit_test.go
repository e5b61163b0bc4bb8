package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

// TestAudit lists, exports and verifies the log, and finds what was changed in it.
func TestAudit(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	w.Env.Do(t, "PATCH", w.Env.Tenant.In(""), `{"name":"renamed"}`).Must(t, 200)
	overAPI := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "audit", args[0], append(args[1:], "--api-key", w.Env.Tenant.Admin)...)
	}
	overAPI("list", "--action", "workspace.").Wants(t, command.ExitDone, "workspace.update", "first key", w.Env.Tenant.WorkspaceID)
	overAPI("list", "--actor", "nobody").Wants(t, command.ExitDone, "no such entry")
	overAPI("list", "--since", "yesterday").Wants(t, command.ExitUsage, "--since")
	verify := func(args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append([]string{"audit", "verify"}, args...)...)
	}
	database := []string{"--database-url", w.Env.DatabaseURL, "--tenant", w.Env.Tenant.ID}
	head := headOf(t, verify(database...))
	w.Env.Do(t, "POST", w.Env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201)
	file := filepath.Join(t.TempDir(), "audit.ndjson")
	exported := overAPI("export")
	if err := os.WriteFile(file, []byte(exported.Out), 0o600); err != nil {
		t.Fatal(err)
	}
	verify("--file", file, "--expect-head", head).Wants(t, command.ExitDone, w.Env.Tenant.ID, "entries, from number 1", "head ")
	verify(append(database, "--expect-head", head)...).Wants(t, command.ExitDone, "entries, from number 1")
	verify("--database-url", w.Env.DatabaseURL).Wants(t, command.ExitDone, w.Env.Tenant.ID)
	verify("--expect-head", head).Wants(t, command.ExitUsage, "--tenant")
	verify(append(database, "--expect-head", "x")...).Wants(t, command.ExitUsage, "HASH@NUMBER")

	tampered := strings.Replace(exported.Out, `"renamed"`, `"another"`, 1)
	if err := os.WriteFile(file, []byte(tampered), 0o600); err != nil {
		t.Fatal(err)
	}
	verify("--file", file).Wants(t, command.ExitFailed, "broken", "its fields do not have its hash")
	for _, statement := range []string{
		"ALTER TABLE audit_entries DISABLE TRIGGER USER", "UPDATE audit_entries SET actor_id = 'key_x' WHERE number = 2",
	} {
		w.Env.Exec(t, statement)
	}
	verify(database...).Wants(t, command.ExitFailed, "broken", "entry 2")
}

// TestAuditOfCommands: what commands change in the database is in the log, with who ran them.
func TestAuditOfCommands(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	database := []string{"--database-url", w.Env.DatabaseURL}
	run := func(args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append(args, database...)...)
	}
	made := run("tenants", "create", "new", "--json").JSONLines(t)[0]
	tenant := made["tenant_id"].(string)
	run("tenants", "set-plan", tenant, "pro").Wants(t, command.ExitDone, "pro")
	run("tenants", "set-plan", tenant, "nope").Wants(t, command.ExitFailed, "plan")
	key := run("keys", "create", "ops", "--scope", "admin", "--tenant", tenant, "--json").JSONLines(t)[0]
	run("keys", "rotate", key["id"].(string), "--tenant", tenant).Wants(t, command.ExitDone)
	run("keys", "revoke", key["id"].(string), "--tenant", tenant).Wants(t, command.ExitDone)
	run("keys", "ls", "--tenant", tenant).Wants(t, command.ExitDone)
	rows := harness.Rows[string](t, w.Env, `SELECT action || ' ' || resource_id || ' ' || outcome FROM audit_entries
		WHERE tenant_id = $1 AND actor_kind = 'cli' AND actor_name <> '' ORDER BY number`, tenant)
	id := key["id"].(string)
	want := []string{
		"tenant.create " + tenant + " done", "tenant.set_plan " + tenant + " done", "api_key.create " + id + " done",
		"api_key.rotate " + id + " done", "api_key.delete " + id + " done",
	}
	if got := strings.Join(rows, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	const holding = "SELECT count(*) FROM audit_entries AS e WHERE strpos(e::text, $1) > 0"
	if leaked := harness.Rows[int](t, w.Env, holding, key["api_key"]); leaked[0] != 0 {
		t.Error("the key's secret is in the log")
	}
	run("audit", "verify", "--tenant", tenant).Wants(t, command.ExitDone, "5 entries")
}

// headOf is the head that verify printed.
func headOf(t *testing.T, r clitest.Result) string {
	t.Helper()
	found := regexp.MustCompile(`head ([0-9a-f]{64}@[0-9]+)`).FindStringSubmatch(r.Out)
	if len(found) != 2 {
		t.Fatalf("verify printed %q %q", r.Out, r.Err)
	}
	return found[1]
}
