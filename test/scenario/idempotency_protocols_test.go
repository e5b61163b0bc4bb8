package scenario

import (
	"testing"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/test/harness"
)

// TestIdempotencyOfProtocols: a key works over Connect, gRPC and gRPC-Web as over REST, and the
// same request over two of them is the same request.
func TestIdempotencyOfProtocols(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	session := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	for _, p := range harness.Protocols() {
		ctx, info := connect.NewClientContext(t.Context())
		info.RequestHeader().Set("Idempotency-Key", "key of "+p.Name)
		clients := e.Clients(t, p, e.Tenant.Admin)
		make := func(name string) (*parlancev1.Agent, error) {
			return clients.Agents.CreateAgent(ctx, &parlancev1.CreateAgentRequest{WorkspaceId: e.Tenant.WorkspaceID, Name: name})
		}
		first, err := make("Grace")
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		again, err := make("Grace")
		if err != nil || again.GetId() != first.GetId() || info.ResponseHeader().Get(replayed) != "true" {
			t.Errorf("%s: got %v, %v and %q, want agent %s replayed", p.Name, again, err, info.ResponseHeader(), first.GetId())
		}
		over := e.Do(t, "POST", e.Tenant.In("/agents"), `{"name":"Grace"}`, withKey("key of "+p.Name)).Must(t, 201)
		if over.Text("id") != first.GetId() || over.Header.Get(replayed) != "true" || over.Header.Get("Location") == "" {
			t.Errorf("%s: REST got %s and %v", p.Name, over.Body, over.Header)
		}
		if _, err := make("Hopper"); connect.CodeOf(err) != connect.CodeAlreadyExists {
			t.Errorf("%s: another request under the key got %v", p.Name, err)
		}
		e.streamOnce(t, clients.Sessions, p.Name, session)
	}
	if turns := e.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200).List("turns"); len(turns) != len(harness.Protocols()) {
		t.Errorf("there are %d turns", len(turns))
	}
}

// streamOnce takes a turn as a stream, twice with one key: both streams are the same.
func (e *idem) streamOnce(t *testing.T, client parlancev1connect.SessionServiceClient, protocol, session string) {
	t.Helper()
	var turns []string
	for range 2 {
		ctx, info := connect.NewClientContext(t.Context())
		info.RequestHeader().Set("Idempotency-Key", "stream of "+protocol)
		stream, err := client.StreamTurn(ctx, &parlancev1.StreamTurnRequest{SessionId: session, Text: "Hello."})
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		seen := ""
		for stream.Receive() {
			seen += stream.Msg().GetType() + stream.Msg().GetEventId() + stream.Msg().GetDelta()
		}
		if stream.Err() != nil || seen == "" {
			t.Errorf("%s: got %q and %v", protocol, seen, stream.Err())
		}
		turns = append(turns, seen)
	}
	if turns[0] != turns[1] {
		t.Errorf("%s: got %q, then %q", protocol, turns[0], turns[1])
	}
}

// TestIdempotencyAfterTime: a refusal that time mends is not the answer to the next request under
// the key.
func TestIdempotencyAfterTime(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	source := e.Do(t, "POST", e.Tenant.In("/knowledge-base/sources/inline"), `{"name":"n","content":"Something."}`).Must(t, 202).Text("id")
	path, body := e.Tenant.In("/agents/"+e.agent+"/knowledge-base/attach"), `{"source_ids":["`+source+`"]}`
	if got := e.Do(t, "POST", path, body, withKey("attach")).Must(t, 409); got.Code() != "kb-source-not-ready" {
		t.Fatalf("got %s", got.Body)
	}
	harness.Rows[string](t, e.Env, "UPDATE sources SET status = 'ready', ready_at = now() WHERE id = '"+source+"' RETURNING id")
	if got := e.Do(t, "POST", path, body, withKey("attach")); got.Status != 200 || got.Header.Get(replayed) != "" {
		t.Errorf("after the source is ready: %d %s", got.Status, got.Body)
	}
}
