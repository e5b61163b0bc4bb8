package people_test

import (
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/test/clitest"
)

func TestPeople(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	id := idgen.New(idgen.Person)
	w.Env.Exec(t, `INSERT INTO people (id, tenant_id, issuer, subject, name, email, groups, group_role, created_at, signed_in_at)
		VALUES ($1, $2, 'https://issuer.example', 's', 'Ada', 'ada@example.com', '{support}', 'operator', now(), now())`, id, w.Env.Tenant.ID)
	people := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "people", args[0], append(args[1:], "--api-key", w.Env.Tenant.Admin)...)
	}
	people("list").Wants(t, command.ExitDone, "Ada", "ada@example.com", "operator", id)
	people("show", id).Wants(t, command.ExitDone, "Ada", "support", "https://issuer.example")
	people("set-role", id, "analyst").Wants(t, command.ExitDone, "analyst")
	people("set-role", id, "king").Wants(t, command.ExitFailed, "change the person")
	if got := people("set-role", id, "groups", "--json").JSONLines(t)[0]; got["role"] != "operator" || got["assigned_role"] != "" {
		t.Errorf("got %v", got)
	}
	people("disable", id).Wants(t, command.ExitDone, "disabled")
	if got := people("enable", id, "--json").JSONLines(t)[0]; got["disabled"] != false {
		t.Errorf("got %v", got)
	}
	people("delete", id).Wants(t, command.ExitDone, id)
	people("show", id).Wants(t, command.ExitFailed, "find the person")
	people("list").Wants(t, command.ExitDone, "Nobody has signed in yet.")
	clitest.Execute(t, "", "whoami", "--data-dir", w.DataDir).Wants(t, command.ExitDone, "scope", "Acme", w.Env.Tenant.ID)
	got := clitest.Execute(t, "", "whoami", "--data-dir", w.DataDir, "--json").JSONLines(t)[0]
	if got["kind"] != "api_key" || got["role"] != "" {
		t.Errorf("got %v", got)
	}
}
