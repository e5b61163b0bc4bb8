package cli_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/fake/openaichat"
)

func TestModelsTest(t *testing.T) {
	t.Parallel()
	llm := openaichat.NewWithKey(t, "sk-right")
	args := func(more ...string) []string {
		return append([]string{"models", "test", "--model-base-url", llm.BaseURL, "--model-name", openaichat.Model}, more...)
	}
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		clitest.Execute(t, "", args("--model-api-key", "sk-right")...).Wants(t, command.ExitDone,
			"Answers: "+openaichat.Model, "✓ stream", "✓ tool call")
	})
	t.Run("WrongKey", func(t *testing.T) {
		t.Parallel()
		got := clitest.Execute(t, "", args("--model-api-key", "sk-wrong")...)
		got.Wants(t, command.ExitFailed, "✗ stream", "the model does not work as it should")
		if strings.Contains(got.Out+got.Err, "sk-wrong") {
			t.Errorf("the key is shown:\n%s%s", got.Out, got.Err)
		}
	})
	t.Run("NotRunning", func(t *testing.T) {
		t.Parallel()
		clitest.Execute(t, "", "models", "test", "--model-base-url", "http://127.0.0.1:1/v1", "--model-name", "m").Wants(t,
			command.ExitFailed, "✗ stream")
	})
	t.Run("Unnamed", func(t *testing.T) {
		t.Parallel()
		clitest.Execute(t, "", "models", "test", "--model-base-url", llm.BaseURL, "--model-name", "").Wants(t,
			command.ExitUsage, "PARLANCE_MODEL_NAME")
	})
}
