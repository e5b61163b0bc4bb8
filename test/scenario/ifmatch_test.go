package scenario

import (
	"context"
	"fmt"
	"testing"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// TestIfMatch changes an agent under the ETag of an answer: it is refused once somebody else has
// changed the agent.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	made := e.Do(t, "POST", e.Tenant.In("/agents"), `{"name":"Grace"}`, withKey("made")).Must(t, 201)
	again := e.Do(t, "POST", e.Tenant.In("/agents"), `{"name":"Grace"}`, withKey("made")).Must(t, 201)
	if made.Header.Get("ETag") != `"1"` || again.Header.Get("ETag") != `"1"` {
		t.Errorf("created with the ETags %q and, replayed, %q", made.Header.Get("ETag"), again.Header.Get("ETag"))
	}
	path := e.Tenant.In("/agents/" + made.Text("id"))
	rename := func(name, match string) harness.Response {
		return e.Do(t, "PATCH", path, fmt.Sprintf(`{"name":%q}`, name), harness.Header("If-Match", match))
	}
	if got := rename("Hopper", `"1"`).Must(t, 200).Header.Get("ETag"); got != `"2"` {
		t.Errorf("changed with the ETag %s", got)
	}
	for _, match := range []string{`"1"`, `W/"1"`, `"1", "7"`} {
		if got := rename("Lost", match); got.Status != 412 || got.Code() != "version-mismatch" {
			t.Errorf("If-Match %s: %d %s", match, got.Status, got.Body)
		}
	}
	for _, match := range []string{"1", `"one"`, `"1`, `"1",`, `"+1"`, "*, *", " "} {
		if got := rename("Lost", match); got.Status != 400 || got.Code() != "invalid-request" {
			t.Errorf("If-Match %s: %d %s", match, got.Status, got.Body)
		}
	}
	renameWorkspace := func(match string) int {
		return e.Do(t, "PATCH", e.Tenant.In(""), `{"name":"Mine"}`, harness.Header("If-Match", match)).Status
	}
	if refused, any := renameWorkspace(`"1"`), renameWorkspace("*"); refused != 400 || any != 200 {
		t.Errorf("a workspace, which has no versions: %d, and with *: %d", refused, any)
	}
	if got := e.Do(t, "GET", e.Tenant.In(""), nil, harness.Header("If-Match", `"1"`)); got.Status != 200 {
		t.Errorf("read: %d %s", got.Status, got.Body)
	}
	if got := e.Do(t, "POST", path+"/versions/1/rollback", `{}`, harness.Header("If-Match", `"1"`)); got.Status != 412 {
		t.Errorf("rolled back: %d %s", got.Status, got.Body)
	}
	if got := e.Do(t, "DELETE", path, nil, harness.Header("If-Match", `"1"`)); got.Status != 412 {
		t.Errorf("deleted: %d %s", got.Status, got.Body)
	}
	read := e.Do(t, "GET", path, nil).Must(t, 200)
	if read.Text("name") != "Hopper" || read.Header.Get("ETag") != `"2"` {
		t.Errorf("got %s with the ETag %s", read.Body, read.Header.Get("ETag"))
	}
	disable := func(match string) harness.Response {
		return e.Do(t, "PATCH", path+"/tools-config", `{"disabled_tools":["search_memory"]}`, harness.Header("If-Match", match))
	}
	if got := disable(`"1"`); got.Status != 412 || got.Code() != "version-mismatch" {
		t.Errorf("disabled a tool: %d %s", got.Status, got.Body)
	}
	if got := disable("1"); got.Status != 400 {
		t.Errorf("disabled a tool: %d %s", got.Status, got.Body)
	}
	if got := e.Do(t, "GET", path, nil).Must(t, 200); got.Header.Get("ETag") != `"2"` {
		t.Errorf("refused, and yet got %s", got.Body)
	}
	disable(`"2"`).Must(t, 200)
	rename("Ada", "*").Must(t, 200)
	rename("Ada L", `"9", W/"4"`).Must(t, 200)
	e.Do(t, "POST", path+"/versions/1/rollback", `{}`, harness.Header("If-Match", `"5"`)).Must(t, 200)
	e.Do(t, "DELETE", path, nil, harness.Header("If-Match", `"6"`)).Must(t, 204)
	e.Do(t, "DELETE", path, nil, harness.Header("If-Match", `"6"`)).Must(t, 204)
}

// TestIfMatchOfProtocols is TestIfMatch over Connect, gRPC and gRPC-Web.
func TestIfMatchOfProtocols(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	for _, p := range harness.Protocols() {
		clients := e.Clients(t, p, e.Tenant.Admin)
		rename := func(ctx context.Context, id string) error {
			_, err := clients.Agents.UpdateAgent(ctx, &parlancev1.UpdateAgentRequest{
				WorkspaceId: e.Tenant.WorkspaceID, AgentId: id, Instructions: new("Be " + p.Name),
			})
			return err
		}
		ctx, info := connect.NewClientContext(t.Context())
		made, err := clients.Agents.CreateAgent(ctx, &parlancev1.CreateAgentRequest{WorkspaceId: e.Tenant.WorkspaceID, Name: "Grace"})
		if err != nil || info.ResponseHeader().Get("ETag") != `"1"` {
			t.Fatalf("%s: %v, %v", p.Name, err, info.ResponseHeader())
		}
		ctx, info = connect.NewClientContext(t.Context())
		info.RequestHeader().Set("If-Match", `"1"`)
		if err := rename(ctx, made.GetId()); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if err := rename(ctx, made.GetId()); connect.CodeOf(err) != connect.CodeAborted {
			t.Errorf("%s: the lost update got %v", p.Name, err)
		}
	}
}
