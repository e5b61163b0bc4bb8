package parlance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestReadme runs the program that the README begins with.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(readme), "```go\n")
	program, _, _ = strings.Cut(program, "```\n")
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"With ", "a secret."}})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent, err := open(t, env.URL, env.Tenant.Admin).Agents.CreateAgent(t.Context(),
		&parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", path)
	run.Env = append(os.Environ(),
		parlance.EnvBaseURL+"="+env.URL+"/v1", parlance.EnvAPIKey+"="+env.Tenant.Runtime, "PARLANCE_AGENT_ID="+agent.GetId())
	printed, err := run.CombinedOutput()
	if err != nil || string(printed) != "With a secret." {
		t.Errorf("it prints %q, %v", printed, err)
	}
}

// TestNew says what is missing, without showing what is there.
func TestNew(t *testing.T) {
	for name, value := range map[string]string{parlance.EnvBaseURL: "", parlance.EnvAPIKey: ""} {
		t.Setenv(name, value)
	}
	for _, row := range []struct {
		options parlance.Options
		want    string
	}{
		{parlance.Options{BaseURL: "http://localhost"}, parlance.EnvAPIKey},
		{parlance.Options{APIKey: "k"}, parlance.EnvBaseURL},
		{parlance.Options{APIKey: "pass1\npass1", BaseURL: "http://localhost"}, "the API key is not one"},
		{parlance.Options{APIKey: " \n", BaseURL: "http://localhost"}, parlance.EnvAPIKey},
		{parlance.Options{APIKey: "k", BaseURL: "localhost:8080"}, "base URL is not one such as"},
		{parlance.Options{APIKey: "k", BaseURL: "http://localhost/a path"}, "base URL is not one such as"},
		{parlance.Options{APIKey: "k", BaseURL: "ftp://user:pass1@host"}, "base URL is not one such as"},
		{parlance.Options{APIKey: "k", BaseURL: "http://user:pass1@ho st"}, "base URL is not one such as"},
	} {
		if _, err := parlance.New(row.options); err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "pass1") {
			t.Errorf("%+v: %v", row.options, err)
		}
	}
	// A file ends with a line break.
	if _, err := parlance.New(parlance.Options{APIKey: "k\r\n", BaseURL: " http://localhost/v1/\n"}); err != nil {
		t.Error(err)
	}
}
