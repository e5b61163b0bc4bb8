package rpc_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/test/fake/mcpserver"
)

const shopDocument = `
openapi: 3.1.0
info: {title: Shop}
components: {securitySchemes: {key: {type: http, scheme: bearer}}}
security: [{key: []}]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      summary: Find an order.
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    head: {operationId: peek}
  /old:
    post: {operationId: old, deprecated: true}
`

// wantRefused checks the reason of an error, and the field that it is about.
func wantRefused(t *testing.T, err error, reason fault.Reason, field string) {
	t.Helper()
	got := problem.FromConnect(err)
	if got == nil || got.Reason != reason || field != "" && (len(got.Fields) == 0 || got.Fields[0].Field != field) {
		t.Errorf("got %v, want %s on %s", err, reason, field)
	}
}

// TestReadOpenAPI makes a tool of what is read, and reads the document again: it says that the tool
// is there, and in which fields it differs.
func TestReadOpenAPI(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	read := func(change func(*parlancev1.ReadOpenApiRequest)) *parlancev1.ReadOpenApiResponse {
		t.Helper()
		req := &parlancev1.ReadOpenApiRequest{
			WorkspaceId: f.workspace, Document: shopDocument, Server: "https://api.example.org/v1/", Prefix: "shop",
		}
		if change != nil {
			change(req)
		}
		got, err := f.client.ReadOpenApi(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := read(nil)
	if got.GetTitle() != "Shop" || got.GetServer() != "https://api.example.org/v1" || len(got.GetOperations()) != 3 {
		t.Fatalf("read %v", got)
	}
	old, order, peek := got.GetOperations()[0], got.GetOperations()[1], got.GetOperations()[2]
	tool := order.GetTool()
	if order.GetOperation() != "GET /orders/{id}" || order.GetOperationId() != "getOrder" || order.GetSummary() != "Find an order." ||
		order.GetAuthentication() != "Authorization: Bearer …" || tool.GetSlug() != "shop_get_order" || order.GetToolId() != "" ||
		tool.GetWebhookUrl() != "https://api.example.org/v1/orders/{id}" || !slices.Equal(tool.GetPathParams(), []string{"id"}) {
		t.Errorf("the order: %v", order)
	}
	if !old.GetDeprecated() || old.GetTool() == nil || peek.GetTool() != nil || !strings.Contains(peek.GetReason(), "HEAD") {
		t.Errorf("the others: %v, %v", old, peek)
	}
	made, err := f.client.CreateTool(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	order = read(nil).GetOperations()[1]
	if order.GetToolId() != made.GetId() || len(order.GetChangedFields()) > 0 || !proto.Equal(order.GetTool(), tool) {
		t.Errorf("the tool that was made of it: %v", order)
	}
	order = read(func(r *parlancev1.ReadOpenApiRequest) {
		r.Document = strings.ReplaceAll(shopDocument, "Find an order.", "Look an order up.")
		r.Server = "https://other.example.org"
	}).GetOperations()[1]
	if want := []string{"description", "webhook_url"}; order.GetToolId() != made.GetId() || !slices.Equal(order.GetChangedFields(), want) {
		t.Errorf("of another document: %v", order)
	}
	got = read(func(r *parlancev1.ReadOpenApiRequest) { r.Server = "" })
	if got.GetServer() != "" || got.GetOperations()[1].GetTool() != nil ||
		!strings.Contains(got.GetOperations()[1].GetReason(), "give server") {
		t.Errorf("without a server: %v", got)
	}
	f.caller, f.workspace, _ = f.tenant(t, "pro")
	if order = read(nil).GetOperations()[1]; order.GetToolId() != "" {
		t.Errorf("another tenant sees the tool: %v", order)
	}
}

// TestReadOpenAPIOfURL follows redirects to the document, whose servers are relative to where it
// is.
func TestReadOpenAPIOfURL(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	mux := http.NewServeMux()
	mux.Handle("/moved", http.RedirectHandler("/v3/openapi.yaml", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/inside", http.RedirectHandler("http://10.0.0.1/openapi.yaml", http.StatusFound))
	mux.HandleFunc("/v3/openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(shopDocument)) // the test would see it
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 8<<20+1)) // the reader stops earlier
	})
	site := httptest.NewServer(mux)
	defer site.Close()
	read := func(url string) (*parlancev1.ReadOpenApiResponse, error) {
		return f.client.ReadOpenApi(t.Context(), &parlancev1.ReadOpenApiRequest{WorkspaceId: f.workspace, Url: url})
	}
	got, err := read(site.URL + "/moved")
	if err != nil || got.GetServer() != site.URL || got.GetOperations()[1].GetTool().GetWebhookUrl() != site.URL+"/orders/{id}" {
		t.Errorf("read %v (%v)", got, err)
	}
	for _, row := range []struct {
		url    string
		reason fault.Reason
		field  string
	}{
		{site.URL + "/none", fault.UpstreamFailed, ""},
		{site.URL + "/loop", fault.UpstreamFailed, ""},
		{"http://127.0.0.1:1/", fault.UpstreamFailed, ""},
		{site.URL + "/inside", fault.EgressRefused, ""},
		{site.URL + "/large", fault.InvalidRequest, "url"},
		{"http://10.0.0.1/openapi.yaml", fault.InvalidRequest, "url"},
		{"ftp://example.org/openapi.yaml", fault.InvalidRequest, "url"},
	} {
		_, err := read(row.url)
		wantRefused(t, err, row.reason, row.field)
	}
}

func TestBadOpenAPI(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	bomb := "openapi: 3.0.0\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		last, next := string(rune('0'+i)), string(rune('1'+i))
		bomb += "a" + next + ": &a" + next + " [" + strings.TrimSuffix(strings.Repeat("*a"+last+",", 10), ",") + "]\n"
	}
	for _, row := range []struct {
		req   *parlancev1.ReadOpenApiRequest
		field string
		says  string
	}{
		{&parlancev1.ReadOpenApiRequest{}, "document", "either document or url"},
		{&parlancev1.ReadOpenApiRequest{Document: shopDocument, Url: "https://example.org"}, "document", "either document or url"},
		{&parlancev1.ReadOpenApiRequest{Document: "<html>"}, "document", "web page"},
		{&parlancev1.ReadOpenApiRequest{Document: "{\"openapi\": \"3.0.0\",\n\"paths\": }"}, "document", "line 2"},
		{&parlancev1.ReadOpenApiRequest{Document: bomb}, "document", "excessive aliasing"},
		{&parlancev1.ReadOpenApiRequest{Document: "x: [" + strings.Repeat("[],", 800_000) + "]"}, "document", "convert it to JSON"},
		{&parlancev1.ReadOpenApiRequest{Document: shopDocument, Server: "https://a@b"}, "server", "user name"},
		{&parlancev1.ReadOpenApiRequest{Document: shopDocument, Prefix: "Shop"}, "prefix", ""},
	} {
		row.req.WorkspaceId = f.workspace
		_, err := f.client.ReadOpenApi(t.Context(), row.req)
		wantRefused(t, err, fault.InvalidRequest, row.field)
		if row.says != "" && !strings.Contains(problem.FromConnect(err).Fields[0].Message, row.says) {
			t.Errorf("got %v, want %q", err, row.says)
		}
	}
}

// TestDiscoverMCPTools asks servers for their tools: one that nobody has stored, and that of a tool
// with the tool's secrets.
func TestDiscoverMCPTools(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	server := mcpserver.New(t)
	server.Tool("find", "Find a customer. hunter2", `{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890}}}`,
		mcpserver.Text("x"))
	server.Tool("deep", "Deep.", `{"type":"object","properties":{"a":`+strings.Repeat(`{"items":`, 30)+`{}`+strings.Repeat(`}`, 30)+`}}`,
		mcpserver.Text("x"))
	discover := func(req *parlancev1.DiscoverMcpToolsRequest) (*parlancev1.DiscoverMcpToolsResponse, error) {
		req.WorkspaceId = f.workspace
		return f.client.DiscoverMcpTools(t.Context(), req)
	}
	got, err := discover(&parlancev1.DiscoverMcpToolsRequest{
		McpServerUrl: server.URL, AuthHeader: "Bearer hunter2", Headers: map[string]string{"X-Team": "sales-7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetServerName() != "fake" || got.GetServerVersion() != "1" || len(got.GetTools()) != 2 ||
		strings.Contains(got.String(), "hunter2") {
		t.Fatalf("found %v", got)
	}
	deep, find := got.GetTools()[0], got.GetTools()[1]
	if !find.GetUsable() || find.GetReason() != "" || !strings.Contains(find.GetInputSchemaJson(), "12345678901234567890") {
		t.Errorf("a tool that can be used: %v", find)
	}
	if deep.GetUsable() || !strings.Contains(deep.GetReason(), "24 levels") {
		t.Errorf("a tool that cannot: %v", deep)
	}
	for _, r := range server.Requests() {
		if r.Header.Get("Authorization") != "Bearer hunter2" || r.Header.Get("X-Team") != "sales-7" {
			t.Errorf("%s %s came with %v", r.HTTPMethod, r.Method, r.Header)
		}
	}
	made, err := f.client.CreateTool(t.Context(), &parlancev1.CreateToolRequest{
		WorkspaceId: f.workspace, Slug: "crm", Description: "The customers.", Kind: "mcp", McpServerUrl: server.URL,
		AuthHeader: "Bearer stored-9",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err = discover(&parlancev1.DiscoverMcpToolsRequest{ToolId: made.GetId()})
	requests := server.Requests()
	if err != nil || len(got.GetTools()) != 2 || requests[len(requests)-1].Header.Get("Authorization") != "Bearer stored-9" ||
		strings.Contains(got.String(), "stored-9") {
		t.Errorf("by the tool: %v (%v)", got, err)
	}
}

func TestDiscoveryRefused(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	server := mcpserver.New(t)
	order, err := f.client.CreateTool(t.Context(), f.order(t))
	if err != nil {
		t.Fatal(err)
	}
	mcp, err := f.client.CreateTool(t.Context(), &parlancev1.CreateToolRequest{
		WorkspaceId: f.workspace, Slug: "crm", Description: "The customers.", Kind: "mcp", McpServerUrl: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name   string
		req    *parlancev1.DiscoverMcpToolsRequest
		reason fault.Reason
		field  string
	}{
		{"nothing", &parlancev1.DiscoverMcpToolsRequest{}, fault.InvalidRequest, "mcp_server_url"},
		{"private", &parlancev1.DiscoverMcpToolsRequest{McpServerUrl: "http://10.0.0.1/mcp"}, fault.InvalidRequest, "mcp_server_url"},
		{"nobody", &parlancev1.DiscoverMcpToolsRequest{McpServerUrl: "http://127.0.0.1:1/mcp"}, fault.UpstreamFailed, ""},
		{"no MCP", &parlancev1.DiscoverMcpToolsRequest{McpServerUrl: f.endpoint.URL}, fault.UpstreamFailed, ""},
		{
			"a header of the service", &parlancev1.DiscoverMcpToolsRequest{McpServerUrl: server.URL, Headers: map[string]string{"Host": "x"}},
			fault.InvalidRequest, "headers",
		},
		{"an http tool", &parlancev1.DiscoverMcpToolsRequest{ToolId: order.GetId()}, fault.InvalidRequest, "tool_id"},
		{"no tool", &parlancev1.DiscoverMcpToolsRequest{ToolId: "b8f6a1c2-3d4e-4f5a-8b6c-7d8e9f0a1b2c"}, fault.ResourceNotFound, ""},
		{"both", &parlancev1.DiscoverMcpToolsRequest{ToolId: mcp.GetId(), McpServerUrl: server.URL}, fault.InvalidRequest, "tool_id"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			row.req.WorkspaceId = f.workspace
			_, err := f.client.DiscoverMcpTools(t.Context(), row.req)
			wantRefused(t, err, row.reason, row.field)
		})
	}
	f.caller, f.workspace, _ = f.tenant(t, "pro")
	_, err = f.client.DiscoverMcpTools(t.Context(), &parlancev1.DiscoverMcpToolsRequest{WorkspaceId: f.workspace, ToolId: mcp.GetId()})
	wantRefused(t, err, fault.ResourceNotFound, "")
	f.caller, f.workspace, _ = f.tenant(t, "free")
	_, err = f.client.DiscoverMcpTools(t.Context(), &parlancev1.DiscoverMcpToolsRequest{WorkspaceId: f.workspace, McpServerUrl: server.URL})
	wantRefused(t, err, fault.PlanMCPNotEnabled, "")
}

// TestReadOpenAPIRefusesWhatCreateRefuses: what CreateTool refuses is not proposed, and the reason
// is what CreateTool would say.
func TestReadOpenAPIRefusesWhatCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	for name, row := range map[string]struct{ server, path, says string }{
		"Address": {"http://169.254.169.254", "/a", "webhook_url names an address that is not public"},
		"Path":    {"https://api.example.org", `/a\r\nX: b`, "webhook_url cannot have a fragment (#) or control characters"},
		"Escape":  {"https://api.example.org", "/a%zz", "webhook_url is not a valid URL"},
		"Name":    {"https://api.example.org", "/end_ca11", "looks like, the name of a built-in or system tool"},
	} {
		t.Run(name, func(t *testing.T) {
			id := ""
			if name == "Name" {
				id = `"operationId": "end_ca11"`
			}
			got, err := f.client.ReadOpenApi(t.Context(), &parlancev1.ReadOpenApiRequest{
				WorkspaceId: f.workspace, Document: `{"openapi": "3.1.0", "servers": [{"url": "{host}", "variables": {"host": {"default": "` +
					row.server + `"}}}], "paths": {"` + row.path + `": {"get": {` + id + `}}}}`,
			})
			if err != nil {
				t.Fatal(err)
			}
			if one := got.GetOperations()[0]; one.GetTool() != nil || !strings.Contains(one.GetReason(), row.says) {
				t.Errorf("got %v, want the reason %q", one, row.says)
			}
		})
	}
}

func TestReadOpenAPINotes(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	got, err := f.client.ReadOpenApi(t.Context(), &parlancev1.ReadOpenApiRequest{
		WorkspaceId: f.workspace, Document: `{"openapi": "3.1.0", "servers": [{"url": "https://api.example.org"}], "paths": {"/a": {"get": {
			"parameters": [{"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}}],
			"requestBody": {"content": {"application/json": {}}}}}}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"its body is left out: tools send none with GET",
		"the query parameter filter is left out: it is an object, which tools do not write into a query",
	}
	if notes := got.GetOperations()[0].GetNotes(); !slices.Equal(notes, want) {
		t.Errorf("notes %q", notes)
	}
}

// listTools answers tools/list with a result.
func listTools(server *mcpserver.Server, result func(cursor string) string) {
	server.Answer("tools/list", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, result(asked.Params.Cursor)) // the test would see it
	})
}

// TestDiscoverMalformedMCPTools: an entry that cannot be read is listed with the reason, and does
// not hide the others.
func TestDiscoverMalformedMCPTools(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	server := mcpserver.New(t)
	listTools(server, func(string) string {
		return `{"tools":[{"name":1,"inputSchema":{"type":"object"}},{"name":"a","description":{},"inputSchema":{"type":"object"}},
			{"name":"ok","inputSchema":{"type":"object","properties":{"n":{"const":12345678901234567890}}}}]}`
	})
	got, err := f.client.DiscoverMcpTools(t.Context(), &parlancev1.DiscoverMcpToolsRequest{
		WorkspaceId: f.workspace, McpServerUrl: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, tool := range got.GetTools() {
		said = append(said, tool.GetName()+": "+tool.GetReason())
	}
	want := []string{
		": the server's description of the tool cannot be read: its name is of type number",
		"a: the server's description of the tool cannot be read: its description is of type object", "ok: ",
	}
	if !slices.Equal(said, want) || !got.GetTools()[2].GetUsable() || got.GetTruncated() ||
		!strings.Contains(got.GetTools()[2].GetInputSchemaJson(), "12345678901234567890") {
		t.Errorf("got %q: %v", said, got)
	}
}

// TestDiscoverManyMCPTools: the answer says when the server has more tools than are listed, also
// when its pages do not end.
func TestDiscoverManyMCPTools(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	many := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i)
		}
		return "[" + strings.Join(names, ",") + "]"
	}
	for name, row := range map[string]struct {
		result    func(cursor string) string
		listed    int
		truncated bool
	}{
		"All":      {func(string) string { return `{"tools":` + many(500) + `}` }, 500, false},
		"More":     {func(string) string { return `{"tools":` + many(501) + `}` }, 500, true},
		"Endless":  {func(cursor string) string { return `{"tools":` + many(1) + `,"nextCursor":"` + cursor + `x"}` }, 50, true},
		"InCircle": {func(string) string { return `{"tools":` + many(1) + `,"nextCursor":"x"}` }, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := mcpserver.New(t)
			listTools(server, row.result)
			got, err := f.client.DiscoverMcpTools(t.Context(), &parlancev1.DiscoverMcpToolsRequest{
				WorkspaceId: f.workspace, McpServerUrl: server.URL,
			})
			if err != nil || len(got.GetTools()) != row.listed || got.GetTruncated() != row.truncated {
				t.Errorf("%d tools, truncated %v (%v)", len(got.GetTools()), got.GetTruncated(), err)
			}
		})
	}
}
