package dev

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/devstack"
)

func TestChooseModel(t *testing.T) {
	t.Parallel()
	server := ollama(t)
	configured := app.Config{Model: app.Provider{APIKey: "sk-1"}, AnthropicAPIKey: "sk-2", Azure: app.Azure{APIKey: "sk-3"}}
	refused := chosen(t, configured, options{model: none, embedding: tell}, lookAt(server))
	if refused.config.Model.APIKey.IsSet() || refused.config.AnthropicAPIKey.IsSet() || refused.config.Azure.APIKey.IsSet() {
		t.Errorf("--model none keeps %+v", refused.config.Model)
	}
	kept := chosen(t, configured, options{model: auto, embedding: tell}, lookAt(server))
	if kept.config.Model != configured.Model || kept.noticed != "" {
		t.Errorf("a configured model became %+v (%s)", kept.config.Model, kept.noticed)
	}
	used := chosen(t, app.Config{}, options{model: auto, embedding: none}, lookAt(server))
	if want := (app.Provider{BaseURL: server.URL, Name: "llama3.2:latest"}); used.config.Model != want ||
		!strings.Contains(used.noticed, "Ollama is running") {
		t.Errorf("it uses %+v (%s), want %+v", used.config.Model, used.noticed, want)
	}
}

// devWith returns a dev with this input, and its output.
func devWith(input string) (*dev, *bytes.Buffer) {
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&out)
	return &dev{cmd: cmd, steps: term.NewSteps(&out, time.Now)}, &out
}

func TestAsksBeforeInstalling(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{"\n": true, "y\n": true, "Yes\n": true, "n\n": false, "what?\n": false} {
		d, _ := devWith(input)
		if got, err := d.ask(t.Context()); got != want || err != nil {
			t.Errorf("%q is %v, %v; want %v", input, got, err, want)
		}
	}
	d, _ := devWith("")
	d.cmd.SetIn(blocked{t.Context()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := d.ask(ctx); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("when it is interrupted it says %v, %v", yes, err)
	}
}

// blocked is an input that nobody types on.
type blocked struct{ ctx context.Context }

// Read implements io.Reader.
func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

// Without a terminal it does not ask: it prints what it installs and goes on.
func TestSaysWhatItInstalls(t *testing.T) {
	t.Parallel()
	d, out := devWith("n\n")
	d.steps.Begin("Starting")
	yes, err := d.confirm(t.Context())(devstack.InstallPlan{
		Missing: []string{"Redis 7"}, Packages: []string{"redis-server"}, Command: "apt-get install -y redis-server", BuildVector: true,
	})
	if !yes || err != nil {
		t.Errorf("got %v, %v", yes, err)
	}
	for _, text := range []string{"missing on this machine: Redis 7", "apt-get install -y redis-server", "pgvector from its source"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, out)
		}
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"/var/tmp/a-b_c.d": "/var/tmp/a-b_c.d", "/my data": "'/my data'", "it's": `'it'\''s'`, "$HOME": "'$HOME'",
	} {
		if got := shellQuote(word); got != want {
			t.Errorf("%s is quoted %s, want %s", word, got, want)
		}
	}
}
