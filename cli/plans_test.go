package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/pgtest"
)

// TestPlans: an operator sees the plans, changes one by a file, and takes the change back.
func TestPlans(t *testing.T) {
	t.Parallel()
	database := []string{"--database-url", pgtest.New(t).URL}
	plans := func(args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append(append([]string{"plans"}, args...), database...)...)
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plans("list").Wants(t, command.ExitDone, "enterprise", "pro", "5.0 GiB", "no limit")
	plans("set", "small").Wants(t, command.ExitUsage, "--file")
	write(`{"kb_storage_bytes": 1048576, "kb_upload_bytes": 1048576, "monthly": {"turns": 1000}, "models": ["openai/*"]}`)
	plans("set", "small", "--file", file).Wants(t, command.ExitDone, "small is set")
	plans("list").Wants(t, command.ExitDone, "1,000 turns", "models openai/*")
	plans("show", "small").Wants(t, command.ExitDone, `"turns": 1000`)
	for content, said := range map[string]string{
		`{"kb_storage_bytes": 1, "kb_upload_bytes": 1, "telephony": true}`:               "telephony",
		`{"kb_storage_bytes": 0, "kb_upload_bytes": 1}`:                                  "above 0",
		`{"kb_storage_bytes": 1, "kb_upload_bytes": 1, "monthly": {"tokns": 1}}`:         "tokns",
		`{"kb_storage_bytes": 1, "kb_upload_bytes": 1, "rates_per_minute": {"read": 0}}`: "read",
		`{"kb_storage_bytes": 1, "kb_upload_bytes": 1, "models": ["gpt"]}`:               "provider/name",
		`[]`: "JSON object",
	} {
		write(content)
		plans("set", "small", "--file", file).Wants(t, command.ExitFailed, said)
	}
	plans("show", "small").Wants(t, command.ExitDone, `"turns": 1000`)
	tenant := append([]string{"tenants", "create", "acme", "--plan", "small"}, database...)
	clitest.Execute(t, "", tenant...).Wants(t, command.ExitDone, "small")
	plans("delete", "small").Wants(t, command.ExitFailed, "1 tenants are on the plan")
	plans("delete", "nothing").Wants(t, command.ExitFailed, "nothing")
	write(`{"kb_storage_bytes": 1, "kb_upload_bytes": 1}`)
	plans("set", "pro", "--file", file).Wants(t, command.ExitDone)
	plans("delete", "pro").Wants(t, command.ExitDone)
	plans("show", "pro").Wants(t, command.ExitDone, `"mcp": true`)
}
