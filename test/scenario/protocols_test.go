package scenario

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"connectrpc.com/connect"
	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// tinyPlan has next to no storage, and everything else.
const tinyPlan = `{"tiny":{"kb_storage_bytes":5,"kb_upload_bytes":5,"concurrent_sessions":0,"tools":true,"mcp":true},
	"enterprise":{"kb_storage_bytes":1000000,"kb_upload_bytes":1000000,"concurrent_sessions":0,"tools":true,"mcp":true}}`

// sameCall is one call over every protocol, and what it must fail with.
type sameCall struct {
	key string
	// method, path and body are of REST.
	method, path, body string
	rpcFunc            func(context.Context, harness.Clients) error
	reason             string
	status             int
	code               connect.Code
	fields             []string
}

func TestSameErrorOverEveryProtocol(t *testing.T) {
	t.Parallel()
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(tinyPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	env := harness.Start(t, harness.Options{Plan: "tiny", Settings: map[string]string{"PARLANCE_PLANS_FILE": plans}})
	before := env.Counts(t)
	t.Run("calls", func(t *testing.T) { everyProtocol(t, env) })
	after := env.Counts(t)
	after["embedding_models"] = before["embedding_models"] // the service's own note, made when it first has the time
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("refused calls have stored something:\n%s", diff)
	}
}

func everyProtocol(t *testing.T, env *harness.Env) {
	t.Helper()
	for name, call := range sameCalls(env.Tenant) {
		t.Run(name+"/REST", func(t *testing.T) {
			t.Parallel()
			got := env.Do(t, call.method, call.path, call.body, harness.Key(call.key))
			checkProblem(t, got, call.status, call.reason)
			if diff := cmp.Diff(call.fields, sorted(got.Problem.Fields())); diff != "" {
				t.Errorf("fields (-want +got):\n%s\n%s", diff, got.Body)
			}
		})
		for _, protocol := range harness.Protocols() {
			t.Run(name+"/"+protocol.Name, func(t *testing.T) {
				t.Parallel()
				checkWire(t, call.rpcFunc(t.Context(), env.Clients(t, protocol, call.key)), call)
			})
		}
	}
}

func sameCalls(own harness.Tenant) map[string]sameCall {
	agent := func(ctx context.Context, c harness.Clients) error {
		_, err := c.Agents.CreateAgent(ctx, &parlancev1.CreateAgentRequest{WorkspaceId: own.WorkspaceID, Name: "Ada"})
		return err
	}
	tool := func(request *parlancev1.CreateToolRequest) func(context.Context, harness.Clients) error {
		request.WorkspaceId = own.WorkspaceID
		return func(ctx context.Context, c harness.Clients) error {
			_, err := c.Tools.CreateTool(ctx, request)
			return err
		}
	}
	return map[string]sameCall{
		"NoKey": {
			method: "POST", path: own.In("/agents"), body: `{"name":"Ada"}`, rpcFunc: agent,
			reason: "auth-missing", status: 401, code: connect.CodeUnauthenticated,
		},
		"WrongKey": {
			key: "prl_wrong", method: "POST", path: own.In("/agents"), body: `{"name":"Ada"}`, rpcFunc: agent,
			reason: "auth-invalid-key", status: 401, code: connect.CodeUnauthenticated,
		},
		"Scope": {
			key: own.Runtime, method: "POST", path: own.In("/agents"), body: `{"name":"Ada"}`, rpcFunc: agent,
			reason: "auth-scope", status: 403, code: connect.CodePermissionDenied,
		},
		"NotFound": {key: own.Read, method: "GET", path: own.In("/agents/agt_none"), rpcFunc: func(ctx context.Context, c harness.Clients) error {
			_, err := c.Agents.GetAgent(ctx, &parlancev1.GetAgentRequest{WorkspaceId: own.WorkspaceID, AgentId: "agt_none"})
			return err
		}, reason: "not-found", status: 404, code: connect.CodeNotFound},
		"ReservedName": {
			key: own.Operator, method: "POST", path: own.In("/tools"),
			body:    `{"slug":"End_Call","description":"x","kind":"http","webhook_url":"https://example.com"}`,
			rpcFunc: tool(&parlancev1.CreateToolRequest{Slug: "End_Call", Description: "x", Kind: "http", WebhookUrl: "https://example.com"}),
			reason:  "tool-name-reserved", status: 409, code: connect.CodeAlreadyExists, fields: []string{"slug"},
		},
		"Validation": {
			key: own.Operator, method: "POST", path: own.In("/tools"),
			body:    `{"slug":"1","kind":"ftp","timeout_seconds":500}`,
			rpcFunc: tool(&parlancev1.CreateToolRequest{Slug: "1", Kind: "ftp", TimeoutSeconds: 500}),
			reason:  "invalid-request", status: 400, code: connect.CodeInvalidArgument, fields: []string{
				"description",
				"kind", "slug", "timeout_seconds",
			},
		},
		"Quota": {
			key: own.Operator, method: "POST", path: own.In("/knowledge-base/sources/inline"), body: `{"name":"n","content":"more than five bytes"}`,
			rpcFunc: func(ctx context.Context, c harness.Clients) error {
				_, err := c.Knowledge.CreateInlineSource(ctx,
					&parlancev1.CreateInlineSourceRequest{WorkspaceId: own.WorkspaceID, Name: "n", Content: "more than five bytes"})
				return err
			}, reason: "quota-exceeded-kb-storage", status: 402, code: connect.CodeResourceExhausted,
		},
		"TooLarge": {
			key: own.Operator, method: "POST", path: own.In("/knowledge-base/sources/inline"),
			body: `{"name":"n","content":"` + long(1<<20+1) + `"}`,
			rpcFunc: func(ctx context.Context, c harness.Clients) error {
				_, err := c.Knowledge.CreateInlineSource(ctx,
					&parlancev1.CreateInlineSourceRequest{WorkspaceId: own.WorkspaceID, Name: "n", Content: long(1<<20 + 1)})
				return err
			}, reason: "body-too-large", status: 413, code: connect.CodeResourceExhausted, fields: []string{"content"},
		},
	}
}

// checkProblem holds an answer to decisions, Errors.
func checkProblem(t *testing.T, got harness.Response, status int, code string) {
	t.Helper()
	p := got.Problem
	if got.Status != status || p.Code != code {
		t.Errorf("got %d %s, want %d %s", got.Status, got.Body, status, code)
		return
	}
	if p.Status != status || p.Title == "" || p.Detail == "" || p.Instance == "" || p.RequestID == "" ||
		p.RequestID != got.Header.Get("X-Request-Id") {
		t.Errorf("an incomplete problem: %s (X-Request-Id %q)", got.Body, got.Header.Get("X-Request-Id"))
	}
	if filepath.Base(p.Type) != code {
		t.Errorf("type %q", p.Type)
	}
	for _, e := range p.Errors {
		if e.Code == "" || e.Message == "" || e.Field == "" {
			t.Errorf("an incomplete violation: %+v", e)
		}
	}
}

// checkWire holds an error of a generated client to the same.
func checkWire(t *testing.T, err error, want sameCall) {
	t.Helper()
	wire, ok := errors.AsType[*connect.Error](err)
	if !ok {
		t.Fatalf("no Connect error: %v", err)
	}
	if wire.Code() != want.code || wire.Message() == "" {
		t.Errorf("got %v, want the code %v", wire, want.code)
	}
	var reason string
	var fields []string
	for _, detail := range wire.Details() {
		value, err := detail.Value()
		if err != nil {
			t.Errorf("detail %s: %v", detail.Type(), err)
		}
		switch value := value.(type) {
		case *errdetails.ErrorInfo:
			reason = value.GetReason()
		case *errdetails.BadRequest:
			for _, v := range value.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	if reason != want.reason {
		t.Errorf("reason %q, want %q (%v)", reason, want.reason, wire)
	}
	if diff := cmp.Diff(want.fields, sorted(fields)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if wire.Meta().Get("X-Request-Id") == "" {
		t.Errorf("no X-Request-Id in %v", wire.Meta())
	}
}

// sorted is nil for nothing.
func sorted(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(names))
}

func long(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'x'
	}
	return string(text)
}

func TestCreateOverEveryProtocol(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	for _, protocol := range harness.Protocols() {
		t.Run(protocol.Name, func(t *testing.T) {
			t.Parallel()
			clients := env.Clients(t, protocol, env.Tenant.Operator)
			made, err := clients.Agents.CreateAgent(t.Context(),
				&parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: protocol.Name})
			if err != nil {
				t.Fatal(err)
			}
			seen := env.Do(t, "GET", env.Tenant.In("/agents/"+made.GetId()), nil).Must(t, 200)
			if seen.Text("name") != protocol.Name || seen.At("version") != 1.0 {
				t.Errorf("REST sees %s", seen.Body)
			}
			session, err := clients.Sessions.CreateSession(t.Context(),
				&parlancev1.CreateSessionRequest{AgentId: made.GetId(), UserId: "u", Modality: "text"})
			if err != nil {
				t.Fatal(err)
			}
			checkStreamedTurn(t, clients, session.GetId())
		})
	}
}

// checkStreamedTurn takes a turn as a server stream.
func checkStreamedTurn(t *testing.T, clients harness.Clients, sessionID string) {
	t.Helper()
	stream, err := clients.Sessions.StreamTurn(t.Context(), &parlancev1.StreamTurnRequest{SessionId: sessionID, Text: "Hello?"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	var kinds []string
	for stream.Receive() {
		kinds = append(kinds, stream.Msg().GetType())
	}
	if err := stream.Err(); err != nil {
		t.Error(err)
	}
	if len(kinds) < 3 || kinds[0] != "turn.started" || kinds[len(kinds)-1] != "turn.done" {
		t.Errorf("the stream's events: %v", kinds)
	}
}

// TestConnectJSONNames looks at the bytes: snake_case, defaults written, unknown fields tolerated.
func TestConnectJSONNames(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	for _, body := range []string{
		`{"workspace_id":"` + env.Tenant.WorkspaceID + `","name":"a","first_message":"x","invented":1}`,
		`{"workspaceId":"` + env.Tenant.WorkspaceID + `","name":"b","firstMessage":"x"}`,
	} {
		for _, contentType := range []string{"application/json", "application/json; charset=utf-8"} {
			got := env.Do(t, http.MethodPost, "/parlance.v1.AgentService/CreateAgent", body,
				harness.Header("Content-Type", contentType)).Must(t, 200)
			if got.Text("first_message") != "x" || got.At("instructions") != "" || got.At("firstMessage") != nil {
				t.Errorf("%s: %s", contentType, got.Body)
			}
		}
	}
}

func TestContractVersionOverEveryProtocol(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	const header, served = "Parlance-Version", "2026-11-28"
	own := env.Tenant
	for asked, refused := range map[string]bool{"": false, served: false, "2020-01-01": true} {
		got := env.Do(t, http.MethodGet, own.In("/agents"), "", harness.Key(own.Read), harness.Header(header, asked))
		if got.Header.Get(header) != served {
			t.Errorf("REST, %q: the answer's version is %q", asked, got.Header.Get(header))
		}
		if refused {
			checkProblem(t, got, 400, "invalid-request")
			if diff := cmp.Diff([]string{header}, got.Problem.Fields()); diff != "" {
				t.Error(diff)
			}
		} else if got.Status != 200 {
			t.Errorf("REST, %q: %d %s", asked, got.Status, got.Body)
		}
		for _, protocol := range harness.Protocols() {
			ctx, call := connect.NewClientContext(t.Context())
			if asked != "" {
				call.RequestHeader().Set(header, asked)
			}
			_, err := env.Clients(t, protocol, own.Read).Agents.ListAgents(ctx, &parlancev1.ListAgentsRequest{WorkspaceId: own.WorkspaceID})
			version := call.ResponseHeader().Get(header)
			if wire, isError := errors.AsType[*connect.Error](err); isError {
				version = wire.Meta().Get(header)
			}
			if refused != (connect.CodeOf(err) == connect.CodeInvalidArgument) || !refused && err != nil || version != served {
				t.Errorf("%s, %q: %v, version %q", protocol.Name, asked, err, version)
			}
		}
	}
}

// TestContractVersionWithoutMethod: answers that are of no method have a version too, and sockets
// refuse one that is not served.
func TestContractVersionWithoutMethod(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	const header, served = "Parlance-Version", "2026-11-28"
	own := env.Tenant
	for request, status := range map[[2]string]int{{"GET", "/v1/nothing"}: 404, {"PUT", "/v1/sessions"}: 405} {
		got := env.Do(t, request[0], request[1], "", harness.Key(own.Read))
		if got.Status != status || got.Header.Get(header) != served {
			t.Errorf("%v: %d, version %q", request, got.Status, got.Header.Get(header))
		}
	}
	agent := env.Do(t, http.MethodPost, own.In("/agents"), `{"name":"a"}`).Must(t, 201)
	made := env.Do(t, http.MethodPost, "/v1/sessions", `{"agent_id":"`+agent.Text("id")+`","user_id":"u","modality":"voice"}`).Must(t, 201)
	for asked, status := range map[string]int{"": 101, served: 101, "2020-01-01": 400} {
		sent := http.Header{}
		if asked != "" {
			sent.Set(header, asked)
		}
		for _, socket := range []string{"chat_url", "ws_url"} {
			conn, got, err := websocket.Dial(t.Context(), made.Text(socket), &websocket.DialOptions{HTTPHeader: sent})
			if err == nil {
				_ = conn.CloseNow()
			}
			if got == nil || got.StatusCode != status || got.Header.Get(header) != served {
				t.Errorf("%s, %q: %v %v", socket, asked, got, err)
			}
		}
	}
}
