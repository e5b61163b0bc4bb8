package rpc_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// sessionsFixture is SessionService on a real wire, with the extractive responder.
type sessionsFixture struct {
	client parlancev1connect.SessionServiceClient
	caller workspaces.Principal
	agent  string
	other  workspaces.Principal // of another tenant
}

func newSessionsFixture(t *testing.T) *sessionsFixture {
	t.Helper()
	db := pgtest.Open(t)
	keys := sealtest.New(t, db)
	guard, err := publicnet.New(publicnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &sessionsFixture{}
	tenants := workspaces.New(workspaces.Deps{DB: db})
	keeper := agents.New(agents.Deps{DB: db, Workspaces: tenants})
	toolbox := tools.New(tools.Deps{DB: db, Workspaces: tenants, Agents: keeper, Keys: keys, Guard: guard})
	for name, builtin := range turns.SystemTools() {
		toolbox.Register(name, builtin)
	}
	for _, p := range []*workspaces.Principal{&f.other, &f.caller} {
		made, err := tenants.CreateTenant(t.Context(), "Acme", "free")
		if err != nil {
			t.Fatal(err)
		}
		*p = workspaces.Principal{TenantID: made.Tenant.ID, Scope: workspaces.ScopeAdmin}
		agent, err := keeper.Create(t.Context(), workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}, "Ada",
			agents.Config{FirstMessage: "Hello!", LockedOverrides: []string{"model"}})
		if err != nil {
			t.Fatal(err)
		}
		f.agent = string(agent.ID)
	}
	node := rooms.New(rooms.Deps{
		DB: db, Agents: keeper, Workspaces: tenants, Tools: toolbox, Seal: keys, PublicURL: "http://localhost:8080",
		Models: func(context.Context, workspaces.Ref, agents.Model) (model.Provider, error) {
			return extractive.New(), nil
		},
	})
	f.serve(t, rpc.NewSessions(rpc.Conversations{
		Sessions: node.Sessions, Turns: node.Turns, Requests: node.Requests, Analysis: node.Analysis, Tools: toolbox, Handover: node.Handover,
	}))
	return f
}

// serve puts the handler behind the interceptor of the product, with the caller already known.
func (f *sessionsFixture) serve(t *testing.T, handler parlancev1connect.SessionServiceHandler) {
	t.Helper()
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	chain := &interceptor.RPC{
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test"), Now: time.Now, Validator: validator, Undecoded: rest.Undecoded,
		Pages: interceptor.NewPages(nil),
	}
	_, mux := parlancev1connect.NewSessionServiceHandler(handler, connect.WithInterceptors(chain))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(workspaces.WithPrincipal(r.Context(), f.caller)))
	}))
	t.Cleanup(server.Close)
	f.client = parlancev1connect.NewSessionServiceClient(server.Client(), server.URL)
}

func (f *sessionsFixture) create(t *testing.T) *parlancev1.CreateSessionResponse {
	t.Helper()
	made, err := f.client.CreateSession(t.Context(), &parlancev1.CreateSessionRequest{AgentId: f.agent, UserId: "u", Modality: "text"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestSessionOnTheWire(t *testing.T) {
	t.Parallel()
	f := newSessionsFixture(t)
	ctx := t.Context()
	made := f.create(t)
	if made.GetStatus() != "pending" || made.GetExpiresAt() == nil ||
		made.GetWsUrl() != "ws://localhost:8080/v1/realtime/voice/"+made.GetId()+"?token="+made.GetToken() {
		t.Errorf("created %v", made)
	}
	answer, err := f.client.CreateTurn(ctx, &parlancev1.CreateTurnRequest{SessionId: made.GetId(), Text: "/tool skip_turn {}"})
	if err != nil || len(answer.GetToolCalls()) != 1 || answer.GetToolCalls()[0].GetSlug() != "skip_turn" ||
		answer.GetUsage().GetModel() != "extractive" {
		t.Errorf("answered %v, %v", answer, err)
	}
	stream, err := f.client.StreamTurn(ctx, &parlancev1.StreamTurnRequest{SessionId: made.GetId(), Text: "What do you know about refunds?"})
	if err != nil {
		t.Fatal(err)
	}
	text, types := "", []string{}
	var last *parlancev1.StreamTurnResponse
	for stream.Receive() {
		last = stream.Msg()
		text += last.GetDelta()
		types = append(types, last.GetType())
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	follow, err := f.client.FollowTurn(ctx, &parlancev1.FollowTurnRequest{SessionId: made.GetId(), TurnId: last.GetTurnId()})
	if err != nil {
		t.Fatal(err)
	}
	replayed := ""
	for follow.Receive() {
		replayed += follow.Msg().GetDelta()
	}
	if follow.Err() != nil || replayed != text || last.GetTurn().GetStatus() != "completed" {
		t.Errorf("followed %q, %v; want %q", replayed, follow.Err(), text)
	}
	cancelled, err := f.client.CancelTurn(ctx, &parlancev1.CancelTurnRequest{SessionId: made.GetId(), TurnId: last.GetTurnId()})
	if err != nil || cancelled.GetStatus() != "completed" {
		t.Errorf("cancelling a turn that is over: %v, %v", cancelled, err)
	}
	if types[0] != "turn.started" || last.GetType() != "turn.done" || last.GetTurn().GetText() != text ||
		text == "" || last.GetTurnId() == "" {
		t.Errorf("streamed %v, %q, %v", types, text, last)
	}
	transcript, err := f.client.GetTranscript(ctx, &parlancev1.GetTranscriptRequest{SessionId: made.GetId(), PageSize: 2})
	if err != nil || len(transcript.GetTurns()) != 2 || transcript.GetTurns()[0].GetAgentText() != "Hello!" ||
		transcript.GetNextPageToken() == "" {
		t.Fatalf("transcript %v, %v", transcript, err)
	}
	transcript, err = f.client.GetTranscript(ctx, &parlancev1.GetTranscriptRequest{
		SessionId: made.GetId(),
		PageSize:  2, PageToken: transcript.GetNextPageToken(),
	})
	if err != nil || len(transcript.GetTurns()) != 1 || transcript.GetTurns()[0].GetIndex() != 2 || transcript.GetNextPageToken() != "" {
		t.Errorf("second page %v, %v", transcript, err)
	}
	calls, err := f.client.ListSessionToolCalls(ctx, &parlancev1.ListSessionToolCallsRequest{SessionId: made.GetId()})
	if err != nil || len(calls.GetToolCalls()) != 1 || calls.GetToolCalls()[0].GetId() != answer.GetToolCalls()[0].GetId() {
		t.Errorf("traces %v, %v", calls, err)
	}
	ended, err := f.client.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: made.GetId(), Status: "completed", Reason: "done"})
	if err != nil || ended.GetStatus() != "completed" || ended.GetEndReason() != "done" ||
		ended.GetTurnCount() != 3 || ended.GetEndedAt() == nil {
		t.Errorf("ended %v, %v", ended, err)
	}
	again, err := f.client.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: made.GetId(), Status: "failed", Reason: "again"})
	if err != nil || again.GetStatus() != "completed" || again.GetEndReason() != "done" {
		t.Errorf("ended again %v, %v", again, err)
	}
	list, err := f.client.ListSessions(ctx, &parlancev1.ListSessionsRequest{Status: "completed", AgentId: f.agent})
	if err != nil || len(list.GetSessions()) != 1 || strings.Contains(list.String(), made.GetToken()) {
		t.Errorf("listed %v, %v", list, err)
	}
}

func TestSessionErrorsOnTheWire(t *testing.T) {
	t.Parallel()
	f := newSessionsFixture(t)
	ctx := t.Context()
	closed, open := f.create(t), f.create(t)
	if _, err := f.client.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: closed.GetId(), Status: "failed"}); err != nil {
		t.Fatal(err)
	}
	request := func(change func(*parlancev1.CreateSessionRequest)) error {
		req := &parlancev1.CreateSessionRequest{AgentId: f.agent, UserId: "u"}
		change(req)
		_, err := f.client.CreateSession(ctx, req)
		return err
	}
	rows := []struct {
		name string
		err  error
		code connect.Code
		slug string
	}{
		{"unknown agent", request(func(r *parlancev1.CreateSessionRequest) { r.AgentId = "agt_x" }), connect.CodeNotFound, "not-found"},
		{"no user", request(func(r *parlancev1.CreateSessionRequest) { r.UserId = "" }), connect.CodeInvalidArgument, "invalid-request"},
		{
			"short ttl", request(func(r *parlancev1.CreateSessionRequest) { r.TtlSeconds = new(int32(59)) }),
			connect.CodeInvalidArgument, "invalid-request",
		},
		{"unknown override", request(func(r *parlancev1.CreateSessionRequest) {
			r.Overrides = object(t,
				`{"prompt":"x"}`)
		}), connect.CodeInvalidArgument, "invalid-request"},
		{"locked override", request(func(r *parlancev1.CreateSessionRequest) {
			r.Overrides = object(t,
				`{"model":"x"}`)
		}), connect.CodeInvalidArgument, "override-not-allowed"},
		{"system variable", request(func(r *parlancev1.CreateSessionRequest) {
			r.DynamicVariables = map[string]string{"system__user_id": "x"}
		}), connect.CodeInvalidArgument, "invalid-request"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { wantSlug(t, row.err, row.code, row.slug) })
	}
	_, err := f.client.CreateTurn(ctx, &parlancev1.CreateTurnRequest{SessionId: closed.GetId(), Text: "hello"})
	wantSlug(t, err, connect.CodeFailedPrecondition, "session-closed")
	_, err = f.client.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: open.GetId(), Status: "gone"})
	wantSlug(t, err, connect.CodeInvalidArgument, "invalid-request")
	for range 4 {
		f.create(t)
	}
	wantSlug(t, request(func(*parlancev1.CreateSessionRequest) {}), connect.CodeResourceExhausted, "quota-exceeded-sessions")
	f.caller = f.other
	_, err = f.client.GetSession(ctx, &parlancev1.GetSessionRequest{SessionId: open.GetId()})
	wantSlug(t, err, connect.CodeNotFound, "not-found")
	_, err = f.client.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: open.GetId(), Status: "failed"})
	wantSlug(t, err, connect.CodeNotFound, "not-found")
	_, err = f.client.ListSessionToolCalls(ctx, &parlancev1.ListSessionToolCallsRequest{SessionId: open.GetId()})
	wantSlug(t, err, connect.CodeNotFound, "not-found")
}
