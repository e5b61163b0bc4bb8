package tools_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/workspaces"
)

func TestCreateDefaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tool := f.create(t, tools.CreateParams{
		Slug: "ping", Description: "Ping.", Kind: tools.KindHTTP, Config: tools.Config{WebhookURL: "https://example.com/ping"},
	})
	got, err := f.Get(t.Context(), f.ref, tool.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := tools.Config{
		WebhookURL: "https://example.com/ping", Method: "POST", InputSchema: got.Config.InputSchema,
		TimeoutSeconds: 20, ResponseMaxBytes: 262_144,
	}
	if diff := cmp.Diff(want, got.Config); diff != "" || got.Bucket != tools.BucketCustom || got.AuthHeaderSet() {
		t.Errorf("got %+v, %s", got, diff)
	}
	if schema := strings.ReplaceAll(string(got.Config.InputSchema), " ", ""); schema != `{"type":"object"}` {
		t.Errorf("input_schema is %s", schema)
	}
	mcp := f.create(t, tools.CreateParams{
		Slug: "remote", Description: "Remote.", Kind: tools.KindMCP, Config: tools.Config{MCPServerURL: "https://example.com/mcp"},
	})
	if mcp.Config.TimeoutSeconds != 30 || mcp.Config.Method != "" {
		t.Errorf("mcp: got %+v", mcp.Config)
	}
}

// refusal is a valid tool changed in one respect, and the field that is wrong then.
type refusal struct {
	name   string
	change func(*tools.CreateParams)
	field  string
}

func urlOf(text string) func(*tools.CreateParams) {
	return func(p *tools.CreateParams) { p.Config.WebhookURL = text }
}

func schemaText(text string) func(*tools.CreateParams) {
	return func(p *tools.CreateParams) { p.Config.InputSchema = json.RawMessage(text) }
}

func headerOf(name, value string) func(*tools.CreateParams) {
	return func(p *tools.CreateParams) { p.Config.Headers = map[string]string{name: value} }
}

// basicRefusals are about names, kinds and URLs.
func basicRefusals() []refusal {
	return []refusal{
		{"slug", func(p *tools.CreateParams) { p.Slug = "1st" }, "slug"},
		{"no description", func(p *tools.CreateParams) { p.Description = " " }, "description"},
		{"NUL in description", func(p *tools.CreateParams) { p.Description = "a\x00" }, "description"},
		{"kind", func(p *tools.CreateParams) { p.Kind = "grpc" }, "kind"},
		{"http without URL", urlOf(""), "webhook_url"},
		{"mcp without URL", func(p *tools.CreateParams) { p.Kind = tools.KindMCP }, "mcp_server_url"},
		{"mcp with an http field", func(p *tools.CreateParams) { p.Kind = tools.KindMCP }, "webhook_url"},
		{"http with an mcp field", func(p *tools.CreateParams) { p.Config.MCPToolName = "x" }, "mcp_tool_name"},
		{"scheme", urlOf("ftp://example.com"), "webhook_url"},
		{"no host", urlOf("https:///x"), "webhook_url"},
		{"user name", urlOf("https://u:p@example.com"), "webhook_url"},
		{"fragment", urlOf("https://example.com/#x"), "webhook_url"},
		{"bad escape", urlOf("https://example.com/%zz"), "webhook_url"},
		{"private address", urlOf("http://10.0.0.1/x"), "webhook_url"},
		{"private address in hexadecimal", urlOf("http://0xa9.0xfe.0xa9.0xfe/latest"), "webhook_url"},
		{"private MCP server", func(p *tools.CreateParams) {
			*p = tools.CreateParams{Slug: "m", Description: "m", Kind: tools.KindMCP, Config: tools.Config{MCPServerURL: "http://[fd00::1]/"}}
		}, "mcp_server_url"},
		{"placeholder in the host", urlOf("https://{{region}}.example.com/"), "webhook_url"},
	}
}

// detailRefusals are about arguments, schemas, headers and bounds.
func detailRefusals() []refusal {
	return []refusal{
		{"placeholder without path_params", urlOf("https://example.com/{id}"), "path_params"},
		{"path_params without placeholder", func(p *tools.CreateParams) { p.Config.PathParams = []string{"id"} }, "path_params[0]"},
		{"path_params no property", func(p *tools.CreateParams) {
			p.Config.WebhookURL, p.Config.PathParams = "https://example.com/{nr}", []string{"nr"}
		}, "path_params[0]"},
		{"query_params no property", func(p *tools.CreateParams) { p.Config.QueryParams = []string{"id", "nr"} }, "query_params[1]"},
		{"schema is no object type", schemaText(`{"type":"string"}`), "input_schema"},
		{"schema without type", schemaText(`{}`), "input_schema"},
		{"schema is no schema", schemaText(`{"type":"object","properties":{"a":{"type":"strin"}}}`), "input_schema"},
		{"schema of another draft", schemaText(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`), "input_schema"},
		{"schema with remote reference", schemaText(`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1/s.json"}}}`), "input_schema"},
		{"schema with file reference", schemaText(`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`), "input_schema"},
		{"schema with a bad pattern", schemaText(`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`), "input_schema"},
		{"schema with NUL", schemaText(`{"type":"object","title":"\u0000"}`), "input_schema"},
		{"method", func(p *tools.CreateParams) { p.Config.Method = "HEAD" }, "method"},
		{"body on GET", func(p *tools.CreateParams) {
			p.Config.Method, p.Config.HardcodedBodyParams = "GET", json.RawMessage(`{"a":1}`)
		}, "hardcoded_body_params"},
		{"body is no object", func(p *tools.CreateParams) { p.Config.HardcodedBodyParams = json.RawMessage(`[1]`) }, "hardcoded_body_params"},
		{"header with line break", headerOf("X-A", "a\r\nX-B: b"), "headers"},
		{"header name", headerOf("X A", "a"), "headers"},
		{"Host", headerOf("hOST", "example.com"), "headers"},
		{"Content-Length", headerOf("Content-Length", "1"), "headers"},
		{"Authorization", headerOf("authorization", "Bearer x"), "headers"},
		{"auth_header with line break", func(p *tools.CreateParams) { p.AuthHeader = "Bearer x\nX-B: b" }, "auth_header"},
		{"time-out", func(p *tools.CreateParams) { p.Config.TimeoutSeconds = 121 }, "timeout_seconds"},
		{"response cap", func(p *tools.CreateParams) { p.Config.ResponseMaxBytes = 1023 }, "response_max_bytes"},
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, row := range append(basicRefusals(), detailRefusals()...) {
		t.Run(row.name, func(t *testing.T) {
			params := f.orderParams("/")
			row.change(&params)
			_, err := f.Create(t.Context(), f.ref, params)
			wantFault(t, err, fault.InvalidRequest, row.field)
		})
	}
	if list := f.custom(t); len(list) != 0 {
		t.Errorf("a refused tool is stored: %v", list)
	}
}

// custom lists the slugs of the workspace's custom tools, in the list's order.
func (f *fixture) custom(t *testing.T) []string {
	t.Helper()
	list, _, err := f.List(t.Context(), f.ref, tools.ListParams{PageParams: postgres.PageParams{Size: 200}})
	if err != nil {
		t.Fatal(err)
	}
	var slugs []string
	for _, tool := range list {
		if tool.Bucket == tools.BucketCustom {
			slugs = append(slugs, tool.Slug)
		}
	}
	return slugs
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, slug := range []string{
		"end_call", "End_Call", "endcall", "end-call", "search_memory", "SearchMemory", "manage--callback", "end_caII", "END_CA1L", "sk1p-turn",
		"5earch_memory", "search_rnernory", "skipTurn", "Ianguage_detect10n",
	} {
		params := f.orderParams("/")
		params.Slug = slug
		_, err := f.Create(t.Context(), f.ref, params)
		wantFault(t, err, fault.ToolNameReserved, "slug")
	}
	f.create(t, f.orderParams("/"))
	params := f.orderParams("/")
	params.Slug = "FIND_ORDER"
	_, err := f.Create(t.Context(), f.ref, params)
	wantFault(t, err, fault.ToolSlugTaken, "slug")
	if _, err := f.Create(t.Context(), f.tenant(t, "free"), params); err != nil {
		t.Errorf("the same slug in another workspace: %v", err)
	}
}

func TestConcurrentCreatesOfOneSlug(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var made, taken atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			_, err := f.Create(t.Context(), f.ref, f.orderParams("/"))
			switch {
			case err == nil:
				made.Add(1)
			case fault.IsReason(err, fault.ToolSlugTaken):
				taken.Add(1)
			}
		})
	}
	wait.Wait()
	if made.Load() != 1 || taken.Load() != 7 {
		t.Errorf("%d made and %d refused, want 1 and 7", made.Load(), taken.Load())
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	mcp := tools.CreateParams{Slug: "m", Description: "m", Kind: tools.KindMCP, Config: tools.Config{MCPServerURL: "http://127.0.0.1:1/mcp"}}
	_, err := f.Create(t.Context(), f.tenant(t, "bare"), f.orderParams("/"))
	wantFault(t, err, fault.PlanToolsNotEnabled, "")
	_, err = f.Create(t.Context(), f.tenant(t, "free"), mcp)
	wantFault(t, err, fault.PlanMCPNotEnabled, "")

	remote := f.create(t, mcp)
	order := f.attached(t, f.create(t, f.orderParams("/orders")), 0)
	f.attached(t, remote, 0)
	if entry := f.entry(t, "m"); entry.Enabled || entry.DisabledReason != tools.ReasonUnreachable {
		t.Errorf("mcp on pro: %+v", entry)
	}
	_, err = f.Run(t.Context(), f.ref, tools.RunParams{ToolID: remote.ID})
	if err != nil {
		t.Error(err)
	}

	if _, err := f.workspaces.SetPlan(t.Context(), f.ref.TenantID, "free"); err != nil {
		t.Fatal(err)
	}
	if entry := f.entry(t, "m"); entry.Enabled || entry.DisabledReason != tools.ReasonPlan {
		t.Errorf("mcp after a downgrade: %+v", entry)
	}
	_, err = f.Run(t.Context(), f.ref, tools.RunParams{ToolID: remote.ID})
	wantFault(t, err, fault.PlanMCPNotEnabled, "")
	_, err = f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: remote.ID, Enabled: true})
	wantFault(t, err, fault.PlanMCPNotEnabled, "")
	if _, err := f.workspaces.SetPlan(t.Context(), f.ref.TenantID, "bare"); err != nil {
		t.Fatal(err)
	}
	_, err = f.Run(t.Context(), f.ref, tools.RunParams{ToolID: order.Tool.ID})
	wantFault(t, err, fault.PlanToolsNotEnabled, "")
	if entry := f.entry(t, "find_order"); entry.DisabledReason != tools.ReasonPlan {
		t.Errorf("http on bare: %+v", entry)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("/a")
	params.AuthHeader = "Bearer one"
	tool := f.create(t, params)
	got, err := f.Update(t.Context(), f.ref, tool.ID, tools.UpdateParams{
		Description: new("New."),
		Apply: func(c *tools.Config) {
			c.Method, c.TimeoutSeconds, c.WebhookURL = "", 0, f.endpoint.URL+"/{id}"
			c.PathParams = []string{"id"}
		},
	})
	if err != nil || got.Description != "New." || got.Config.Method != "POST" || got.Config.TimeoutSeconds != 20 || !got.AuthHeaderSet() {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = f.Update(t.Context(), f.ref, tool.ID, tools.UpdateParams{Apply: func(c *tools.Config) { c.WebhookURL = "" }})
	wantFault(t, err, fault.InvalidRequest, "webhook_url")
	_, err = f.Update(t.Context(), f.ref, tool.ID, tools.UpdateParams{Apply: func(c *tools.Config) { c.PathParams = nil }})
	wantFault(t, err, fault.InvalidRequest, "path_params")
	_, err = f.Update(t.Context(), f.ref, "builtin:search_memory", tools.UpdateParams{Description: new("x")})
	wantFault(t, err, fault.InvalidRequest, "tool_id")
	cleared := seal.Secret("")
	if got, err = f.Update(t.Context(), f.ref, tool.ID, tools.UpdateParams{AuthHeader: &cleared}); err != nil || got.AuthHeaderSet() {
		t.Errorf("auth_header is not cleared: %v", err)
	}
	if stored, err := f.Get(t.Context(), f.ref, tool.ID); err != nil || stored.Config.WebhookURL != f.endpoint.URL+"/{id}" {
		t.Errorf("a refused update changed the tool: %+v, %v", stored.Config, err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	entry := f.attached(t, f.create(t, f.orderParams("/x")), 0)
	f.call(t, entry, `{}`, nil)
	id := entry.Tool.ID
	for range 2 { // a repeated one is no error
		if err := f.Delete(t.Context(), f.ref, id); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := f.ListAgentTools(t.Context(), f.ref, f.agent.ID)
	if _, found := registry.Find("find_order"); found || err != nil {
		t.Errorf("a deleted tool is attached: %v", err)
	}
	if calls, _, err := f.ListCallsOfSession(t.Context(), f.ref, tools.CallFilter{SessionID: "ses_1"}, postgres.PageParams{}); err != nil ||
		len(calls) != 1 {
		t.Errorf("its traces are gone: %v, %v", calls, err)
	}
	if err := f.Detach(t.Context(), f.ref, f.agent.ID, id); err != nil {
		t.Errorf("detaching a deleted tool: %v", err)
	}
	wantFault(t, f.Delete(t.Context(), f.ref, "0198c0de-0000-7000-8000-000000000000"), fault.ResourceNotFound, "")
	wantFault(t, f.Delete(t.Context(), f.ref, "no-uuid"), fault.ResourceNotFound, "")
	wantFault(t, f.Delete(t.Context(), f.ref, "system:end_call"), fault.InvalidRequest, "")
}

// TestOtherTenant tries every operation on a tool of another tenant, and of another workspace.
func TestOtherTenant(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tool := f.create(t, f.orderParams("/x"))
	sibling, err := f.workspaces.CreateWorkspace(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID}, "second")
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range map[string]workspaces.Ref{"tenant": f.tenant(t, "pro"), "workspace": {TenantID: f.ref.TenantID, ID: sibling.ID}} {
		agent := f.newAgent(t, ref)
		ctx := t.Context()
		operations := map[string]func() error{
			"get":    func() error { _, err := f.Get(ctx, ref, tool.ID); return err },
			"update": func() error { _, err := f.Update(ctx, ref, tool.ID, tools.UpdateParams{}); return err },
			"delete": func() error { return f.Delete(ctx, ref, tool.ID) },
			"run":    func() error { _, err := f.Run(ctx, ref, tools.RunParams{ToolID: tool.ID}); return err },
			"calls": func() error {
				_, _, err := f.ListCalls(ctx, ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{})
				return err
			},
			"attach": func() error {
				_, err := f.Attach(ctx, ref, tools.AttachParams{AgentID: agent.ID, ToolID: tool.ID, Enabled: true})
				return err
			},
			"detach": func() error { return f.Detach(ctx, ref, agent.ID, tool.ID) },
			"attach to a foreign agent": func() error {
				_, err := f.Attach(ctx, f.ref, tools.AttachParams{AgentID: agent.ID, ToolID: tool.ID, Enabled: true})
				return err
			},
			"tools of a foreign agent": func() error { _, err := f.ListAgentTools(ctx, f.ref, agent.ID); return err },
			"config of a foreign agent": func() error {
				_, err := f.UpdateConfig(ctx, f.ref, agent.ID, []string{"nonsense"})
				return err
			},
		}
		for operation, try := range operations {
			if err := try(); !fault.IsReason(err, fault.ResourceNotFound) {
				t.Errorf("%s of another %s: got %v, want not-found", operation, name, err)
			}
		}
	}
	if _, err := f.Get(t.Context(), f.ref, tool.ID); err != nil {
		t.Errorf("the owner's tool suffered: %v", err)
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 3 {
		params := f.orderParams("/")
		params.Slug = fmt.Sprintf("tool_%d", i)
		f.create(t, params)
	}
	rows := []struct {
		hidden bool
		want   []string
	}{
		{false, []string{"end_call", "language_detection", "skip_turn", "schedule_callback", "manage_callback", "tool_2", "tool_1", "tool_0"}},
		{true, []string{
			"end_call", "language_detection", "skip_turn", "search_memory", "add_memory_note", "record_persona_statement",
			"schedule_callback", "manage_callback", "tool_2", "tool_1", "tool_0",
		}},
	}
	for _, row := range rows {
		for size := 1; size <= len(row.want)+1; size++ {
			var got []string
			params := tools.ListParams{PageParams: postgres.PageParams{Size: size}, IncludeHidden: row.hidden}
			for range len(row.want) + 1 {
				list, next, err := f.List(t.Context(), f.ref, params)
				if err != nil {
					t.Fatal(err)
				}
				for _, tool := range list {
					got = append(got, tool.Slug)
				}
				if params.Token = next; next == "" {
					break
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("hidden %v, pages of %d: %s", row.hidden, size, diff)
			}
		}
	}
	_, _, err := f.List(t.Context(), f.ref, tools.ListParams{PageParams: postgres.PageParams{Size: 201}})
	wantFault(t, err, fault.InvalidRequest, "page_size")
}

// TestAuthHeaderIsSealed looks for the header in everything the database holds.
func TestAuthHeaderIsSealed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("/orders")
	params.AuthHeader = "Bearer hunter2-hunter2"
	entry := f.attached(t, f.create(t, params), 0)
	f.call(t, entry, `{"note":"my token is hunter2-hunter2"}`, map[string]string{"secret__pin": "4711-4711"})
	sent := f.endpoint.Requests("/orders")
	if len(sent) != 1 || sent[0].Header.Get("Authorization") != "Bearer hunter2-hunter2" {
		t.Fatalf("the endpoint got %+v", sent)
	}
	dump := dumpOf(t, f.db)
	if !strings.Contains(dump, "find_order") {
		t.Fatal("the dump does not hold the tool")
	}
	for _, clear := range []string{"hunter2", hex.EncodeToString([]byte("hunter2")), "4711-4711"} {
		if strings.Contains(dump, clear) {
			t.Errorf("the database holds %q", clear)
		}
	}
	// A blob moved to another row does not open: it is bound to its tool.
	other := f.orderParams("/orders")
	other.Slug, other.AuthHeader = "other", "Bearer mine"
	thief := f.create(t, other)
	if _, err := f.db.ExecContext(
		t.Context(), "UPDATE tools SET auth_header = (SELECT auth_header FROM tools WHERE id = ?) WHERE id = ?", entry.Tool.ID, thief.ID,
	); err != nil {
		t.Fatal(err)
	}
	outcome := f.call(t, f.attached(t, thief, 0), `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.Internal || len(f.endpoint.Requests("/orders")) != 1 {
		t.Errorf("a moved header was used: %+v", outcome)
	}
}

// dumpOf is every row of every table as text.
func dumpOf(t *testing.T, db *postgres.DB) string {
	t.Helper()
	var tables []string
	err := db.NewRaw(
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
	).Scan(t.Context(), &tables)
	if err != nil {
		t.Fatal(err)
	}
	var dump strings.Builder
	for _, table := range tables {
		var rows []string
		if err := db.NewRaw("SELECT x::text FROM ? AS x", bun.Ident(table)).Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		dump.WriteString(strings.Join(rows, "\n"))
	}
	return dump.String()
}

// TestNamesInOtherScripts: letters that only look Latin are no part of a slug at all.
func TestNamesInOtherScripts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, slug := range []string{"\u0435nd_call", "end\u200b_call", "ｅnd_call", "end＿call", "e\u0301nd_call", "end_call ", "end.call"} {
		params := f.orderParams("/")
		params.Slug = slug
		_, err := f.Create(t.Context(), f.ref, params)
		wantFault(t, err, fault.InvalidRequest, "slug")
	}
	for _, slug := range []string{"end_calls", "end_call_2", "call_end", "skip_turns", "search"} {
		params := f.orderParams("/")
		params.Slug = slug
		f.create(t, params)
	}
}

// TestDepth: what is nested deeper than anybody writes is refused with the field, before a database
// or a compiler meets it.
func TestDepth(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for depth, field := range map[int]string{95: "", 150: "input_schema", 5000: "input_schema"} {
		params := f.orderParams("/")
		params.Slug = fmt.Sprint("deep", depth)
		params.Config.InputSchema = json.RawMessage(`{"type":"object","examples":[` + nested(depth) + `]}`)
		_, err := f.Create(t.Context(), f.ref, params)
		if field != "" {
			wantFault(t, err, fault.InvalidRequest, field)
		} else if err != nil {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
	params := f.orderParams("/")
	params.Config.HardcodedBodyParams = json.RawMessage(nested(150))
	_, err := f.Create(t.Context(), f.ref, params)
	wantFault(t, err, fault.InvalidRequest, "hardcoded_body_params")
	entry := f.attached(t, f.create(t, f.orderParams("/x")), 0)
	for depth, attempts := range map[int]int{99: 1, 150: 0, 9000: 0} {
		outcome := f.call(t, entry, nested(depth), nil)
		if outcome.Attempts != attempts || attempts == 0 && (outcome.Error == nil || outcome.Error.Code != failure.ArgumentsInvalid) {
			t.Errorf("%d levels: %+v after %d attempts", depth, outcome.Error, outcome.Attempts)
		}
		if calls, _, err := f.ListCallsOfSession(t.Context(), f.ref, tools.CallFilter{SessionID: "ses_1"}, postgres.PageParams{}); err != nil ||
			calls[len(calls)-1].ID != outcome.CallID {
			t.Errorf("%d levels: the call is not traced, %v", depth, err)
		}
	}
}
