package cli_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"migrat":                         `parlance has no command "migrat"; did you mean migrate?`,
		"migrate pu":                     `parlance migrate has no command "pu"; did you mean up?`,
		"migrate bogus --database-url x": `parlance migrate has no command "bogus"`,
		"kb bogus --data-dir x":          `parlance kb has no command "bogus"`,
		"kb lsit":                        "did you mean ls",
		"help bogus":                     `parlance has no command "bogus"`,
		"help kb bogus":                  `parlance kb has no command "bogus"`,
		"completion bahs":                "did you mean bash",
		"completion bash more":           `"more" is one argument too many`,
		"kb --bogus":                     "unknown flag: --bogus",
		"bogus --data-dir x":             `parlance has no command "bogus"`,
		"keys rotate-mastr":              "did you mean rotate-master",
		"dev --port abc":                 `--port must be a whole number, not "abc"`,
		"kb ls --base-url x --api-key k": `--base-url (PARLANCE_BASE_URL) must be a URL such as http://127.0.0.1:8080, not "x"`,
	} {
		got := clitest.Execute(t, "", strings.Fields(words)...)
		if got.Code != command.ExitUsage || !strings.Contains(got.Err, want) || got.Out != "" {
			t.Errorf("%s: exit code %d\n%s%s", words, got.Code, got.Out, got.Err)
		}
	}
}

// A group alone explains itself.
func TestGroupsShowTheirHelp(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"": "Start here", "kb": "parlance kb add", "migrate": "Available Commands", "help migrate": "status", "help": "Start here",
		"migrate up --help": "Apply what has not been applied", "completion": "bash",
	} {
		clitest.Execute(t, "", strings.Fields(words)...).Wants(t, command.ExitDone, want)
	}
}
