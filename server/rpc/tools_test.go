package rpc_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// toolsFixture is ToolService on a real wire, over a database of its own.
type toolsFixture struct {
	client     parlancev1connect.ToolServiceClient
	url        string
	workspaces *workspaces.Service
	agents     *agents.Service
	caller     workspaces.Principal // who every request comes from
	workspace  string
	agent      string
	endpoint   *httptool.Server
}

func newToolsFixture(t *testing.T) *toolsFixture {
	t.Helper()
	db := pgtest.Open(t)
	keys := sealtest.New(t, db)
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &toolsFixture{endpoint: httptool.New(t), workspaces: workspaces.New(workspaces.Deps{DB: db})}
	f.agents = agents.New(agents.Deps{DB: db, Workspaces: f.workspaces, CheckDisabledTools: tools.CheckDisabledTools})
	service := tools.New(tools.Deps{DB: db, Workspaces: f.workspaces, Agents: f.agents, Keys: keys, Guard: guard})
	f.caller, f.workspace, f.agent = f.tenant(t, "pro")
	f.serve(t, rpc.NewTools(service))
	return f
}

// serve puts the handler behind the interceptor of the product, with the caller already known.
func (f *toolsFixture) serve(t *testing.T, handler parlancev1connect.ToolServiceHandler) {
	t.Helper()
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	chain := &interceptor.RPC{
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test"), Now: time.Now, Validator: validator, Undecoded: rest.Undecoded,
		Pages: interceptor.NewPages(nil),
	}
	_, mux := parlancev1connect.NewToolServiceHandler(handler, connect.WithInterceptors(chain, rpc.NewAccess(f.workspaces).Interceptor()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(workspaces.WithPrincipal(r.Context(), f.caller)))
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	f.client = parlancev1connect.NewToolServiceClient(server.Client(), server.URL)
}

func (f *toolsFixture) tenant(t *testing.T, plan string) (caller workspaces.Principal, workspace, agent string) {
	t.Helper()
	created, err := f.workspaces.CreateTenant(t.Context(), "Acme", plan)
	if err != nil {
		t.Fatal(err)
	}
	ref := workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	made, err := f.agents.Create(t.Context(), ref, "Ada", agents.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return workspaces.Principal{TenantID: ref.TenantID, Scope: workspaces.ScopeAdmin}, string(ref.ID), string(made.ID)
}

func object(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	s := new(structpb.Struct)
	if err := s.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// order is a request for a valid tool.
func (f *toolsFixture) order(t *testing.T) *parlancev1.CreateToolRequest {
	return &parlancev1.CreateToolRequest{
		WorkspaceId: f.workspace, Slug: "find_order", Description: "Find an order.", Kind: "http",
		WebhookUrl: f.endpoint.URL + "/orders/{id}", PathParams: []string{"id"}, AuthHeader: "Bearer hunter2",
		InputSchema: object(t, `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
	}
}

func TestToolLifecycle(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	ctx := t.Context()
	tool, err := f.client.CreateTool(ctx, f.order(t))
	if err != nil {
		t.Fatal(err)
	}
	if !tool.GetAuthHeaderSet() || tool.GetMethod() != "POST" || tool.GetTimeoutSeconds() != 20 ||
		tool.GetBucket() != "custom" || tool.GetCreatedAt() == nil {
		t.Errorf("created: %v", tool)
	}
	if strings.Contains(tool.String(), "hunter2") {
		t.Error("the answer holds auth_header")
	}
	// In the mask without a value: back to the default. Not in the mask: kept.
	updated, err := f.client.UpdateTool(ctx, &parlancev1.UpdateToolRequest{
		WorkspaceId: f.workspace, ToolId: tool.GetId(), Method: new("PUT"),
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"method", "auth_header"}},
	})
	if err != nil || updated.GetMethod() != "PUT" || updated.GetAuthHeaderSet() || updated.GetWebhookUrl() != tool.GetWebhookUrl() {
		t.Errorf("updated: %v, %v", updated, err)
	}
	attachment, err := f.client.AttachTool(ctx, &parlancev1.AttachToolRequest{
		WorkspaceId: f.workspace,
		AgentId:     f.agent, ToolId: tool.GetId(),
	})
	if err != nil || !attachment.GetEnabled() || attachment.GetSlug() != "find_order" {
		t.Errorf("attached: %v, %v", attachment, err)
	}
	registry, err := f.client.ListAgentTools(ctx, &parlancev1.ListAgentToolsRequest{WorkspaceId: f.workspace, AgentId: f.agent})
	if err != nil || len(registry.GetTools()) != 9 || registry.GetTools()[0].GetTool().GetSlug() != "find_order" {
		t.Errorf("registry: %v, %v", registry, err)
	}
	first, err := f.client.ListAgentTools(ctx, &parlancev1.ListAgentToolsRequest{WorkspaceId: f.workspace, AgentId: f.agent, PageSize: 1})
	if err != nil || len(first.GetTools()) != 1 || first.GetTools()[0].GetTool().GetSlug() != "find_order" {
		t.Fatalf("first page of the registry: %v, %v", first, err)
	}
	config, err := f.client.UpdateToolsConfig(ctx, &parlancev1.UpdateToolsConfigRequest{
		WorkspaceId: f.workspace,
		AgentId:     f.agent, DisabledTools: []string{"search_memory"},
	})
	if err != nil || cmp.Diff([]string{"search_memory"}, config.GetDisabledTools()) != "" {
		t.Errorf("config: %v, %v", config, err)
	}
	if _, err := f.client.DetachTool(ctx, &parlancev1.DetachToolRequest{
		WorkspaceId: f.workspace, AgentId: f.agent,
		ToolId: tool.GetId(),
	}); err != nil {
		t.Error(err)
	}
	// The tool that the token names is off the registry by now; nothing after it is lost.
	rest, err := f.client.ListAgentTools(ctx, &parlancev1.ListAgentToolsRequest{
		WorkspaceId: f.workspace,
		AgentId:     f.agent, PageToken: first.GetNextPageToken(),
	})
	if err != nil || len(rest.GetTools()) != 8 || rest.GetTools()[0].GetTool().GetSlug() != "search_memory" || rest.GetNextPageToken() != "" {
		t.Errorf("the rest of the registry: %v, %v", rest, err)
	}
	for range 2 {
		if _, err := f.client.DeleteTool(ctx, &parlancev1.DeleteToolRequest{WorkspaceId: f.workspace, ToolId: tool.GetId()}); err != nil {
			t.Error(err)
		}
	}
	_, err = f.client.GetTool(ctx, &parlancev1.GetToolRequest{WorkspaceId: f.workspace, ToolId: tool.GetId()})
	if got := problem.FromConnect(err); got.Reason != fault.ResourceNotFound {
		t.Errorf("get after delete: %v", err)
	}
}

// TestRequiresUserIntentField: the field is kept, and goes back to false by the mask.
func TestRequiresUserIntentField(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	order := f.order(t)
	order.RequiresUserIntent = true
	tool, err := f.client.CreateTool(t.Context(), order)
	if err != nil || !tool.GetRequiresUserIntent() {
		t.Fatalf("created: %v, %v", tool, err)
	}
	update := &parlancev1.UpdateToolRequest{WorkspaceId: f.workspace, ToolId: tool.GetId(), Description: new("Finds.")}
	if tool, err = f.client.UpdateTool(t.Context(), update); err != nil || !tool.GetRequiresUserIntent() {
		t.Errorf("after another update: %v, %v", tool, err)
	}
	update.Description, update.UpdateMask = nil, &fieldmaskpb.FieldMask{Paths: []string{"requires_user_intent"}}
	if tool, err = f.client.UpdateTool(t.Context(), update); err != nil || tool.GetRequiresUserIntent() {
		t.Errorf("cleared: %v, %v", tool, err)
	}
}

func TestRunTool(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	tool, err := f.client.CreateTool(t.Context(), f.order(t))
	if err != nil {
		t.Fatal(err)
	}
	f.endpoint.Script("/orders/7",
		httptool.Step{Status: 404, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"echo":"hunter2"}`})
	run, err := f.client.RunTool(t.Context(), &parlancev1.RunToolRequest{
		WorkspaceId: f.workspace,
		ToolId:      tool.GetId(), Args: object(t, `{"id":"7"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.GetError().GetCode() != "http-status" || run.GetStatusCode() != 404 || run.GetAttempts() != 1 ||
		run.GetRequest().GetHeaders()["Authorization"] != "REDACTED" {
		t.Errorf("got %v", run)
	}
	if got := run.GetOutput().GetStructValue().GetFields()["echo"].GetStringValue(); got != "REDACTED" {
		t.Errorf("output is %v", run.GetOutput())
	}
	calls, err := f.client.ListToolCalls(t.Context(), &parlancev1.ListToolCallsRequest{WorkspaceId: f.workspace, ToolId: tool.GetId()})
	if err != nil || len(calls.GetToolCalls()) != 1 || calls.GetToolCalls()[0].GetInput().GetFields()["id"].GetStringValue() != "7" {
		t.Errorf("calls: %v, %v", calls, err)
	}
	for status, want := range map[string]int{"failed": 1, "succeeded": 0} {
		filtered, err := f.client.ListWorkspaceToolCalls(t.Context(), &parlancev1.ListWorkspaceToolCallsRequest{
			WorkspaceId: f.workspace, ToolId: tool.GetId(), Status: status, StartedAfter: calls.GetToolCalls()[0].GetStartedAt(),
		})
		if err != nil || len(filtered.GetToolCalls()) != want {
			t.Errorf("%s: %v, %v", status, filtered, err)
		}
	}
}

// refused is a request and its error, as a client sees it.
type refused struct {
	name   string
	try    func(context.Context) error
	reason fault.Reason
	code   connect.Code
	status int
	field  string
}

// create tries a valid tool changed in one respect.
func (f *toolsFixture) create(t *testing.T, change func(*parlancev1.CreateToolRequest)) func(context.Context) error {
	return func(ctx context.Context) error {
		req := f.order(t)
		req.Slug = "another"
		change(req)
		_, err := f.client.CreateTool(ctx, req)
		return err
	}
}

func (f *toolsFixture) run(t *testing.T, id, args string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := f.client.RunTool(ctx, &parlancev1.RunToolRequest{WorkspaceId: f.workspace, ToolId: id, Args: object(t, args)})
		return err
	}
}

func (f *toolsFixture) attach(agent, id string, enabled bool) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := f.client.AttachTool(ctx, &parlancev1.AttachToolRequest{WorkspaceId: f.workspace, AgentId: agent, ToolId: id, Enabled: &enabled})
		return err
	}
}

func (f *toolsFixture) disable(names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := f.client.UpdateToolsConfig(ctx, &parlancev1.UpdateToolsConfigRequest{
			WorkspaceId: f.workspace,
			AgentId:     f.agent, DisabledTools: names,
		})
		return err
	}
}

// TestToolErrors is the error rows of decisions, Tools and Errors, as a client sees them.
func TestToolErrors(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	tool, err := f.client.CreateTool(t.Context(), f.order(t))
	if err != nil {
		t.Fatal(err)
	}
	_, foreignWorkspace, foreignAgent := f.tenant(t, "pro")
	rows := []refused{
		{
			"reserved", f.create(t, func(r *parlancev1.CreateToolRequest) { r.Slug = "End-Call" }),
			fault.ToolNameReserved, connect.CodeAlreadyExists, 409, "slug",
		},
		{
			"taken", f.create(t, func(r *parlancev1.CreateToolRequest) { r.Slug = "Find_Order" }), fault.ToolSlugTaken,
			connect.CodeAlreadyExists, 409, "slug",
		},
		{
			"slug", f.create(t, func(r *parlancev1.CreateToolRequest) { r.Slug = "a b" }), fault.InvalidRequest,
			connect.CodeInvalidArgument, 400, "slug",
		},
		{
			"http without URL", f.create(t, func(r *parlancev1.CreateToolRequest) { r.WebhookUrl = "" }),
			fault.InvalidRequest, connect.CodeInvalidArgument, 400, "webhook_url",
		},
		{
			"mcp without URL", f.create(t, func(r *parlancev1.CreateToolRequest) { r.Kind = "mcp" }),
			fault.InvalidRequest, connect.CodeInvalidArgument, 400, "mcp_server_url",
		},
		{
			"path_params", f.create(t, func(r *parlancev1.CreateToolRequest) { r.PathParams = nil }),
			fault.InvalidRequest, connect.CodeInvalidArgument, 400, "path_params",
		},
		{"schema", f.create(t, func(r *parlancev1.CreateToolRequest) {
			r.InputSchema = object(t,
				`{"type":"array"}`)
		}), fault.InvalidRequest, connect.CodeInvalidArgument, 400, "input_schema"},
		{
			"private address", f.create(t,
				func(r *parlancev1.CreateToolRequest) { r.WebhookUrl = "http://169.254.169.254/{id}" }),
			fault.InvalidRequest, connect.CodeInvalidArgument, 400, "webhook_url",
		},
		{
			"another tenant's workspace",
			f.create(t, func(r *parlancev1.CreateToolRequest) { r.WorkspaceId = foreignWorkspace }),
			fault.ResourceNotFound, connect.CodeNotFound, 404, "",
		},
		{"arguments", f.run(t, tool.GetId(), `{"id":1}`), fault.ToolArgumentsInvalid, connect.CodeInvalidArgument, 400, "args.id"},
		{"arguments missing", f.run(t, tool.GetId(), `{}`), fault.ToolArgumentsInvalid, connect.CodeInvalidArgument, 400, "args.id"},
		{"run of a system tool", f.run(t, "system:end_call", `{}`), fault.InvalidRequest, connect.CodeInvalidArgument, 400, "tool_id"},
		{"run of a built-in", f.run(t, "builtin:search_memory", `{}`), fault.InvalidRequest, connect.CodeInvalidArgument, 400, "tool_id"},
		{"run of nothing", f.run(t, "nonsense", `{}`), fault.ResourceNotFound, connect.CodeNotFound, 404, ""},
		{
			"system tool attached disabled", f.attach(f.agent, "system:skip_turn", false), fault.SystemToolAlwaysOn,
			connect.CodeInvalidArgument, 400, "enabled",
		},
		{
			"memory tool attached disabled", f.attach(f.agent, "builtin:search_memory", false), fault.InvalidRequest,
			connect.CodeInvalidArgument, 400, "enabled",
		},
		{"another tenant's agent", f.attach(foreignAgent, tool.GetId(), true), fault.ResourceNotFound, connect.CodeNotFound, 404, ""},
		{
			"system tool in disabled_tools", f.disable("search_memory", "end_call"), fault.SystemToolAlwaysOn,
			connect.CodeInvalidArgument, 400, "disabled_tools[1]",
		},
		{"unknown name in disabled_tools", f.disable("find_order"), fault.InvalidRequest, connect.CodeInvalidArgument, 400, "disabled_tools[0]"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := row.try(t.Context())
			got := problem.FromConnect(err)
			if got == nil || got.Reason != row.reason || connect.CodeOf(err) != row.code || got.Kind().Status() != row.status {
				t.Fatalf("got %v, want %s", err, row.reason)
			}
			if row.field != "" && (len(got.Fields) == 0 || got.Fields[0].Field != row.field) {
				t.Errorf("fields %+v, want %s", got.Fields, row.field)
			}
		})
	}
	if len(f.endpoint.Requests("")) != 0 {
		t.Error("a refused request reached the endpoint")
	}
}

func TestToolPlans(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	f.caller, f.workspace, f.agent = f.tenant(t, "free")
	_, err := f.client.CreateTool(t.Context(), &parlancev1.CreateToolRequest{
		WorkspaceId: f.workspace, Slug: "remote", Description: "Remote.", Kind: "mcp", McpServerUrl: "https://example.com/mcp",
	})
	if got := problem.FromConnect(err); got == nil || got.Reason != fault.PlanMCPNotEnabled || got.Kind().Status() != 403 {
		t.Errorf("got %v", err)
	}
}

// TestToolJSON reads the handler's own JSON: an error's slug is where a client without protos
// looks.
func TestToolJSON(t *testing.T) {
	t.Parallel()
	f := newToolsFixture(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+parlancev1connect.ToolServiceGetToolProcedure,
		strings.NewReader(`{"workspace_id":"`+f.workspace+`","tool_id":"system:nonsense"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var wire struct {
		Code    string `json:"code"`
		Details []struct {
			Type  string `json:"type"`
			Debug struct {
				Reason string `json:"reason"`
			} `json:"debug"`
		} `json:"details"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusNotFound || wire.Code != "not_found" || len(wire.Details) == 0 ||
		wire.Details[0].Debug.Reason != "not-found" {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
}
