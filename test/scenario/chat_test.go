package scenario

import (
	"strings"
	"testing"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/test/capture"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestChatIsCut cuts the connection of `parlance chat` in the middle of an answer: it goes on
// behind the words that are on the screen, and with the next turn.
func TestChatIsCut(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 4) // as many as there are pieces
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"One ", "two ", "three ", "four."}, Gate: gate},
		openaichat.Reply{Text: []string{"Five."}})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	network := harness.NewProxy(t, harness.Target{Network: "tcp", Address: strings.TrimPrefix(env.URL, "http://")})
	out, errs, ended := &capture.Buffer{}, &capture.Buffer{}, make(chan int, 1)
	go func() {
		ended <- cli.Execute(t.Context(), cli.IO{In: strings.NewReader("Count.\nAnd then?\n"), Out: out, Err: errs}, []string{
			"chat", "--base-url", "http://" + network.Address + "/v1", "--api-key", env.Tenant.Admin, "--agent", agent, "--data-dir", t.TempDir(),
		})
	}()
	gate <- struct{}{}
	gate <- struct{}{}
	harness.Await(t, harness.Patience, "half an answer", func() bool { return strings.Contains(out.String(), "One two") })
	network.Cut()
	harness.Await(t, harness.Patience, "a word on the connection",
		func() bool { return strings.Contains(errs.String(), "connection lost, reconnecting") })
	gate <- struct{}{}
	gate <- struct{}{}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if got, want := out.String(), "\nagent ▸ One two \n\nagent ▸ three four.\n\nagent ▸ Five.\n"; got != want {
		t.Errorf("on the screen: %q, want %q", got, want)
	}
}
