package numbers_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	e := &exchange{}
	w := clitest.Start(t, clitest.Options{Between: e.before})
	numbers := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "numbers", args[0], args[1:]...)
	}
	numbers("ls").Wants(t, command.ExitDone, "There is no number", "parlance numbers create")
	numbers("show").Wants(t, command.ExitFailed, "there is no number yet")
	numbers("create").Wants(t, command.ExitUsage, "NUMBER")
	numbers("create", "+12015550123", "--var", "shop").Wants(t, command.ExitUsage, "is not NAME=VALUE")

	made := numbers("create", "+1 201 555 0123", "--name", "Orders", "--lookup-url", "https://example.org/callers", "--var", "shop=Berlin")
	made.Wants(t, command.ExitDone, "+12015550123 is answered by "+w.Agent+" (num_1).", "whsec_secret1001", "not shown again")
	if strings.Contains(made.Out, "Have the carrier call") {
		t.Errorf("the carrier knows already: %s", made.Out)
	}
	numbers("create", "+12015550123").Wants(t, command.ExitFailed, "has the number already")
	numbers("show").Wants(t, command.ExitDone, "+12015550123  answers  num_1", "Orders", w.Agent, "https://example.org/callers", "whsec_…1001",
		"shop=Berlin", "https://parlance.example/+12015550123")
	if got := numbers("get", "num_1", "--json").JSONLines(t)[0]; got["phone_number"] != "+12015550123" || got["enabled"] != true {
		t.Errorf("shown: %v", got)
	}

	numbers("update").Wants(t, command.ExitUsage, "nothing is to change")
	numbers("update", "--var", "a=b", "--no-vars").Wants(t, command.ExitUsage, "contradict")
	numbers("update", "--enabled=false", "--lookup-url", "").Wants(t, command.ExitDone, "rejects calls", "Orders", "shop=Berlin")
	changed := numbers("update", "+1 (201) 555-0123", "--no-vars", "--enabled", "--agent", "agt_2", "--json").JSONLines(t)[0]
	if changed["agent_id"] != "agt_2" || changed["enabled"] != true || changed["lookup_url"] != "" || changed["name"] != "Orders" ||
		len(changed["dynamic_variables"].(map[string]any)) != 0 {
		t.Errorf("changed: %v", changed)
	}
	rotated := numbers("rotate-secret")
	rotated.Wants(t, command.ExitDone, "whsec_secret1002", "not shown again")
	if got := numbers("rotate-secret", "num_1", "--json").JSONLines(t)[0]; got["lookup_secret"] != "whsec_secret1003" {
		t.Errorf("rotated: %v", got)
	}
}

func TestSeveralNumbers(t *testing.T) {
	t.Parallel()
	e := &exchange{manual: true}
	w := clitest.Start(t, clitest.Options{Between: e.before})
	numbers := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "numbers", args[0], args[1:]...)
	}
	numbers("create", "+12015550123").Wants(t, command.ExitDone, "Have the carrier call this", "https://parlance.example/+12015550123")
	second := numbers("create", "+4930123456", "--agent", "agt_2", "--enabled=false", "--json").JSONLines(t)[0]
	if second["enabled"] != false || second["agent_id"] != "agt_2" || !strings.HasPrefix(second["lookup_secret"].(string), "whsec_") {
		t.Errorf("made: %v", second)
	}
	numbers("list").Wants(t, command.ExitDone, "+4930123456", "rejects calls", "+12015550123", "not set up", "num_1", "num_2")
	if lines := numbers("ls", "--json").JSONLines(t); len(lines) != 2 || lines[0]["id"] != "num_2" {
		t.Errorf("listed: %v", lines)
	}
	numbers("ls", "--limit", "1").Wants(t, command.ExitDone, "there are more")
	numbers("show").Wants(t, command.ExitUsage, "which number?", "num_1  +12015550123", "num_2  +4930123456")
	numbers("show", "+49 30 123456").Wants(t, command.ExitDone, "num_2")
	numbers("show", "030 123456").Wants(t, command.ExitUsage, "country's code")
	numbers("show", "+12015550199").Wants(t, command.ExitFailed, "there is no number +12015550199")
	numbers("show", "num_9").Wants(t, command.ExitFailed, "there is no number num_9")
	numbers("rm", "+49 30 123456", "num_1").Wants(t, command.ExitDone, "+4930123456 is answered no more (num_2)", "+12015550123")
	numbers("rm").Wants(t, command.ExitUsage, "PHONE")
	numbers("ls").Wants(t, command.ExitDone, "There is no number")
}

// TestHelp: what somebody needs to know before the first number.
func TestHelp(t *testing.T) {
	t.Parallel()
	clitest.Execute(t, "", "numbers", "--help").Wants(t, command.ExitDone, "ls", "create", "show", "update", "rotate-secret", "rm", "carrier")
	clitest.Execute(t, "", "numbers", "create", "--help").Wants(t, command.ExitDone, "call.lookup", "3 seconds", "secret__", "Examples:")
}
