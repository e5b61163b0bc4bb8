package tools_test

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// TestSecretHeaders shows that secret headers are sealed, sent with each call, shown by name only,
// and found when the endpoint repeats them.
func TestSecretHeaders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/orders", httptool.Step{
		Body: "key hunter2-hunter2, session 0123456789abcdef, pin fixed-4711-4711 of " + hex.EncodeToString([]byte("hunter2-hunter2")),
	})
	params := f.orderParams("/orders")
	params.Config.AllowDynamicVars = true
	params.SecretHeaders = map[string]seal.Secret{
		"x-api-key": "hunter2-hunter2", "Cookie": "session=0123456789abcdef; theme=dark", "X-Pin": "fixed-{{pin}}",
		"User-Agent": "of-the-shop-1",
	}
	tool := f.create(t, params)
	if diff := cmp.Diff(tool.SecretHeaderNames, []string{"Cookie", "User-Agent", "X-Api-Key", "X-Pin"}); diff != "" {
		t.Error(diff)
	}
	entry := f.attached(t, tool, 0)
	outcome := f.call(t, entry, `{"note":"my key is hunter2-hunter2"}`, map[string]string{"pin": "4711-4711"})
	if want := "key REDACTED, session REDACTED, pin REDACTED of REDACTED"; outcome.OutputText != want || outcome.Error != nil {
		t.Errorf("got %q, %v, want %q", outcome.OutputText, outcome.Error, want)
	}
	sent := f.endpoint.Requests("/orders")
	if len(sent) != 1 {
		t.Fatalf("%d requests", len(sent))
	}
	for name, want := range map[string]string{
		"X-Api-Key": "hunter2-hunter2", "Cookie": "session=0123456789abcdef; theme=dark", "X-Pin": "fixed-4711-4711",
		"User-Agent": "of-the-shop-1",
	} {
		if got := sent[0].Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if got := outcome.Request.Headers[name]; got != "REDACTED" {
			t.Errorf("%s is shown as %q", name, got)
		}
	}
	dump := dumpOf(t, f.db)
	for _, clear := range []string{"hunter2", hex.EncodeToString([]byte("hunter2")), "0123456789abcdef", "of-the-shop"} {
		if strings.Contains(dump, clear) {
			t.Errorf("the database holds %q", clear)
		}
	}
	// A blob moved to another field does not open.
	f.must(t, "UPDATE tools SET auth_header = secret_headers, secret_headers = NULL WHERE id = ?", tool.ID)
	outcome = f.call(t, f.entry(t, tool.Slug), `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.Internal || len(f.endpoint.Requests("/orders")) != 1 {
		t.Errorf("a moved secret was used: %+v", outcome)
	}
}

// TestSecretHeadersAreReplaced shows that an update replaces all of them, keeps them, or removes
// them, and that a header stands in one place only.
func TestSecretHeadersAreReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("/orders")
	params.SecretHeaders = map[string]seal.Secret{"X-One": "1-1-1", "X-Two": "2-2-2"}
	tool := f.create(t, params)
	update := func(p tools.UpdateParams) []string {
		t.Helper()
		changed, err := f.Update(t.Context(), f.ref, tool.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		return changed.SecretHeaderNames
	}
	text := "Other."
	if diff := cmp.Diff(update(tools.UpdateParams{Description: &text}), []string{"X-One", "X-Two"}); diff != "" {
		t.Error(diff)
	}
	_, err := f.Update(t.Context(), f.ref, tool.ID, tools.UpdateParams{Apply: func(c *tools.Config) {
		c.Headers = map[string]string{"x-two": "seen"}
	}})
	wantField(t, err, "secret_headers")
	other := map[string]seal.Secret{"X-Three": "3-3-3"}
	if diff := cmp.Diff(update(tools.UpdateParams{SecretHeaders: &other}), []string{"X-Three"}); diff != "" {
		t.Error(diff)
	}
	entry := f.attached(t, tool, 0)
	f.call(t, entry, `{}`, nil)
	if got := f.endpoint.Requests("/orders")[0].Header; got.Get("X-Three") != "3-3-3" || got.Get("X-One") != "" {
		t.Errorf("sent: %v", got)
	}
	if got := update(tools.UpdateParams{SecretHeaders: &map[string]seal.Secret{}}); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	f.call(t, f.entry(t, tool.Slug), `{}`, nil)
	if got := f.endpoint.Requests("/orders")[1].Header; got.Get("X-Three") != "" {
		t.Errorf("sent: %v", got)
	}
}

func TestSecretHeadersRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, headers := range map[string]map[string]seal.Secret{
		"Authorization":  {"authorization": "Bearer x"},
		"Managed":        {"idempotency-key": "x"},
		"Host":           {"Host": "elsewhere.example"},
		"Name":           {"X A": "x"},
		"Line break":     {"X-A": "secret-value\r\nX-B: b"},
		"Blank":          {"X-A": "  "},
		"Twice":          {"X-A": "a", "x-a": "b"},
		"Also a headers": {"x-open": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			params := f.orderParams("/")
			params.Config.Headers = map[string]string{"X-Open": "seen"}
			params.SecretHeaders = headers
			_, err := f.Create(t.Context(), f.ref, params)
			wantField(t, err, "secret_headers")
			if err != nil && strings.Contains(err.Error(), "secret-value") {
				t.Errorf("the refusal has the secret: %v", err)
			}
		})
	}
}

// wantField wants a refusal of a field.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	decided := fault.From(err)
	if decided == nil || decided.Reason != fault.InvalidRequest || len(decided.Fields) == 0 || decided.Fields[0].Field != field {
		t.Errorf("got %v, want invalid-request on %s", err, field)
	}
}

// TestSecretHeadersOfMCP shows that the server gets them with every request, and that neither its
// list of tools nor its answers show them.
func TestSecretHeadersOfMCP(t *testing.T) {
	t.Parallel()
	f := newMCPFixture(t)
	answer := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "found by hunter2-hunter2"}}}
	f.server.Tool("find", "Finds, with the key hunter2-hunter2.", anyArguments,
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return answer, nil })
	params := f.params(tools.Config{})
	params.SecretHeaders = map[string]seal.Secret{"X-Api-Key": "hunter2-hunter2"}
	f.add(t, params)
	registry := f.compose(t, f.Service, "ses_1", nil)
	find, found := registry.Find("crm__find")
	if !found || strings.Contains(find.Description, "hunter2") || !strings.Contains(find.Description, "REDACTED") {
		t.Errorf("entry %+v", find)
	}
	outcome := f.call(t, find, `{}`, nil)
	if outcome.Output != "found by REDACTED" || outcome.Request.Headers["X-Api-Key"] != "REDACTED" {
		t.Errorf("got %+v", outcome)
	}
	for _, r := range f.server.Requests() {
		if r.Header.Get("X-Api-Key") != "hunter2-hunter2" {
			t.Errorf("%s %s without the header", r.HTTPMethod, r.Method)
		}
	}
	if dump := dumpOf(t, f.db); strings.Contains(dump, "hunter2") {
		t.Error("the database holds the header")
	}
	// Another secret is another endpoint: the list of before is not used.
	before := f.server.Count("tools/list")
	if _, err := f.Update(t.Context(), f.ref, find.Tool.ID, tools.UpdateParams{
		SecretHeaders: &map[string]seal.Secret{"X-Api-Key": "other-other"},
	}); err != nil {
		t.Fatal(err)
	}
	f.compose(t, f.Service, "ses_2", nil)
	if f.server.Count("tools/list") == before {
		t.Error("the list of tools was not asked for with the new secret")
	}
}
