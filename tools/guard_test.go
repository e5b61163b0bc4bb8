package tools_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// TestSlowBody: the time of a call bounds its answer's body too.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ticks := time.NewTicker(20 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-ticks.C:
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	defer server.Close()
	params := f.orderParams("")
	params.Config.WebhookURL, params.Config.TimeoutSeconds = server.URL, 1
	outcome := f.call(t, f.attached(t, f.create(t, params), 0), `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.Timeout || outcome.StatusCode != 200 ||
		!strings.Contains(outcome.Output, "within 1 seconds") {
		t.Errorf("got %+v, status %d", outcome.Error, outcome.StatusCode)
	}
}

// TestSecretsInFailures has calls with secrets in every place fail in every way: neither the model,
// the trace, the request as shown, nor our log says them.
func TestSecretsInFailures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var logged bytes.Buffer
	f.deps.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	node := f.node(0)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	const secret = "hunter2-and-more"
	steps := map[string]httptool.Step{
		"redirect": {Status: 302, Header: map[string]string{"Location": "https://example.com/?k=" + secret}, Body: "Moved to /?k=" + secret},
		"refused":  {Status: 403, Body: "The key " + secret + " is wrong."},
		"reset":    {Reset: true},
		"broken":   {BreakOff: true, Body: secret[:9]},
		"held":     {Hold: true},
		"typed":    {Header: map[string]string{"Content-Type": "application/" + secret}, Body: "\x00\x01"},
	}
	check := func(name, base string, value string) {
		params := f.orderParams("")
		params.Slug, params.AuthHeader = name, "Bearer {{secret__key}}"
		params.Config = tools.Config{
			WebhookURL: base + "/" + name + "/{{secret__key}}?k={{secret__key}}", AllowDynamicVars: true, TimeoutSeconds: 1,
			Headers: map[string]string{"X-Key": "{{secret__key}}"}, HardcodedQueryParams: map[string]string{"h": "{{secret__key}}"},
			HardcodedBodyParams: []byte(`{"key":"{{secret__key}}"}`),
		}
		tool := f.create(t, params)
		outcome := node.Call(t.Context(), tools.CallParams{
			Ref: f.ref, SessionID: "ses_1", Entry: f.attached(t, tool, 0), Arguments: []byte(`{"note":"{{secret__key}}"}`),
			Variables: tools.NewVariables(map[string]string{"secret__key": value}),
		})
		calls, _, err := f.ListCalls(t.Context(), f.ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{})
		if err != nil || len(calls) != 1 {
			t.Fatalf("%s: %d traces, %v", name, len(calls), err)
		}
		shown := fmt.Sprintf("%+v %+v %+v %s", outcome, outcome.Error, outcome.Request, calls[0].Input) + fmt.Sprintf("%+v", calls[0])
		if strings.Contains(shown, "hunter2") {
			t.Errorf("%s: a secret shows in %s", name, shown)
		}
		if outcome.Error == nil && name != "typed" {
			t.Errorf("%s: it did not fail", name)
		}
	}
	for name, step := range steps {
		f.endpoint.Script("/"+name+"/"+secret, step)
		check(name, f.endpoint.URL, secret)
	}
	check("nobody", gone.URL, secret)
	check("no_header", f.endpoint.URL, secret+"\r\nX-Admin: 1")
	check("up", f.endpoint.URL, "../"+secret)
	if strings.Contains(logged.String(), "hunter2") {
		t.Errorf("the log says %s", logged.String())
	}
}

// TestShadowed: when two tools have one name, the first in the registry's order has it, and the
// other is shown with the reason; a tool that is off takes nobody's name.
func TestShadowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Register("skip_turn", tools.BuiltinFunc(nil))
	tool := f.create(t, f.orderParams("/x"))
	f.attached(t, tool, 0)
	// As if the name had been reserved after the tool took it.
	f.must(t, `UPDATE tools SET slug = 'Skip_Turn' WHERE workspace_id = ?`, f.ref.ID)
	of := func() []string {
		var lines []string
		for _, line := range f.registry(t) {
			if strings.HasPrefix(strings.ToLower(line), "skip_turn") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if diff := cmp.Diff([]string{"Skip_Turn: ", "skip_turn: shadowed"}, of()); diff != "" {
		t.Error(diff)
	}
	if _, err := f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Skip_Turn: attachment_disabled", "skip_turn: "}, of()); diff != "" {
		t.Error(diff)
	}
}
