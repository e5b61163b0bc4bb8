package complete_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

// runVariable makes the test binary act as parlance: shells run the program.
const runVariable = "PARLANCE_TEST_RUN_CLI"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) == "" {
		os.Exit(m.Run())
	}
	os.Exit(cli.Execute(context.Background(), cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:]))
}

// shell is the environment in which a person presses Tab.
type shell []string

func shellOn(t *testing.T, url, key, workspace string) shell {
	t.Helper()
	return shell{
		runVariable + "=1", "HOME=" + t.TempDir(), command.EnvBaseURL + "=" + url + "/v1", command.EnvAPIKey + "=" + key,
		command.EnvWorkspace + "=" + workspace,
	}
}

// complete returns what the program says to complete the last word: a line for each suggestion,
// and the directive to the shell.
func (s shell) complete(t *testing.T, words ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"__complete"}, words...)...)
	cmd.Env = s
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return string(out)
}

// nothing is the answer without suggestions, and without files in their place.
const nothing = ":4\n"

// TestIDs completes every kind of id, in arguments and in flags.
func TestIDs(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{Settings: map[string]string{ // a carrier that is not there
		"PARLANCE_TWILIO_ACCOUNT_SID": "AC00000000000000000000000000000001", "PARLANCE_TWILIO_AUTH_TOKEN": "token-of-a-test-0123456789",
		"PARLANCE_TWILIO_FROM_NUMBER": "+15005550006", "PARLANCE_TWILIO_BASE_URL": "http://127.0.0.1:1",
	}})
	create := func(path, body string) string {
		t.Helper()
		made := w.Env.Do(t, http.MethodPost, path, body, harness.Key(w.Env.Tenant.Admin))
		if made.Status/100 != 2 {
			t.Fatalf("make %s: %s", path, made.Body)
		}
		return made.Text("id")
	}
	in := w.Env.Tenant.In
	sh := shellOn(t, w.Env.URL, w.Env.Tenant.Admin, w.Env.Tenant.WorkspaceID)
	bob := create(in("/agents"), `{"name": "Bob of sales"}`)
	tool := create(in("/tools"), `{"slug": "orders", "kind": "http", "description": "Lists orders.", "webhook_url": "https://127.0.0.1/orders",
		"input_schema": {"type": "object"}}`)
	source := create(in("/knowledge-base/sources/inline"), `{"name": "Returns", "content": "Books can be returned."}`)
	session := create("/v1/sessions", `{"agent_id": "`+bob+`", "user_id": "eve", "modality": "text"}`)
	endpoint := create(in("/webhooks"), `{"url": "https://127.0.0.1/hook", "events": ["post_call_transcription"]}`)
	plan := func(group string, args ...string) string {
		t.Helper()
		id, _ := w.Run(t, "phone_number\n+4930123457\n", group, "create", append(args, "--json")...).JSONLines(t)[0]["id"].(string)
		return id
	}
	callback := plan("callbacks", "+4930123456", "--in", "10h", "--ignore-limits")
	schedule := plan("schedules", "+4930123456", "--cron", "@daily")
	batch := plan("batches", "-", "--name", "Reminders", "--starts-at", "2099-01-01")
	key := create("/v1/api-keys", `{"name": "backend", "scope": "read"}`)

	for words, want := range map[string]string{
		"agents show":                  bob + "\tBob of sales\n",
		"agents rm " + bob:             w.Agent + "\tAda\n",
		"agents versions":              bob + "\tBob of sales\n",
		"agents rollback":              bob + "\tBob of sales\n",
		"sessions ls --agent":          bob + "\tBob of sales\n",
		"kb attach --agent":            bob + "\tBob of sales\n",
		"tools traces --of-agent":      w.Agent + "\tAda\n",
		"webhooks update --agents":     w.Agent + "\tAda\n",
		"tools show":                   tool + "\torders\n",
		"kb show":                      source + "\tReturns\n",
		"kb attach":                    source + "\tReturns\n",
		"sessions receipt":             session + "\teve, ",
		"chat --session":               session + "\teve, ",
		"webhooks test":                endpoint + "\thttps://127.0.0.1/hook\n",
		"webhooks delivery --endpoint": endpoint + "\thttps://127.0.0.1/hook\n",
		"callbacks show":               callback + "\t+4930123456, scheduled, ",
		"callbacks ls --schedule":      schedule + "\t+4930123456, @daily\n",
		"schedules rm":                 schedule + "\t+4930123456, @daily\n",
		"batches results":              batch + "\tReminders, running\n",
		"workspaces show":              w.Env.Tenant.WorkspaceID + "\tdefault\n",
		"agents ls --workspace":        w.Env.Tenant.WorkspaceID + "\tdefault\n",
		"keys rotate":                  key + "\tbackend (read)\n",
		"keys create ci --workspace":   w.Env.Tenant.WorkspaceID + "\tdefault\n",
	} {
		if got := sh.complete(t, append(strings.Fields(words), "")...); !strings.Contains(got, want) || !strings.HasSuffix(got, nothing) {
			t.Errorf("%s: offered %q, want %q", words, got, want)
		}
	}
	for words, want := range map[string]string{
		"agents rm " + w.Agent + " agt_":                       bob + "\tBob of sales\n" + nothing,
		"webhooks update --agents " + w.Agent + ",":            w.Agent + "," + bob + "\tBob of sales\n" + nothing,
		"agents show agt_x":                                    nothing,
		"keys rotate --tenant ten_x key_":                      nothing,
		"kb eval q":                                            ":0\n", // files
		"kb add q":                                             ":0\n",
		"agents show --api-key prl_wrong agt_":                 nothing,
		"agents show --base-url http://127.0.0.1:1/v1 agt_":    nothing,
		"agents show --workspace ws_none agt_":                 nothing,
		"agents show --base-url http://" + silent(t) + "/v1 a": nothing,
	} {
		if got := sh.complete(t, strings.Fields(words)...); got != want {
			t.Errorf("%s: offered %q, want %q", words, got, want)
		}
	}
}

// silent is the address of a server that takes connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // nobody is connected any more
	return listener.Addr().String()
}
