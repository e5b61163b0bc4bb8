package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/test/fake/receiver"
	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/test/harness"
)

// world is an installation in which one tenant has one of everything, so that a request to any
// method can be made from the names of its fields.
type world struct {
	*harness.Env
	owner harness.Tenant
	// mark is in every name and text of the owner's, and nowhere else.
	mark string
	// values are by field name, or by "Method.field" where a method needs its own.
	values map[string]any
}

func newWorld(t *testing.T) *world {
	t.Helper()
	hook := receiver.New(t)
	env := harness.Start(t, harness.Options{Settings: worldSettings(t, hook)})
	return settle(t, env, env.Tenant, hook)
}

// worldSettings are those of an installation for worlds: everything that can be bought or called is
// there.
func worldSettings(t *testing.T, hook *receiver.Receiver) map[string]string {
	t.Helper()
	carrier, board := harness.Switchboard(t)
	harness.BusyPhone(board, busyNumber)
	carrier["PARLANCE_EGRESS_CA_FILE"] = hook.CAFile(t)
	return stripeSettings(t, fake.New(t), carrier)
}

// settle gives a tenant one of everything.
func settle(t *testing.T, env *harness.Env, owner harness.Tenant, hook *receiver.Receiver) *world {
	t.Helper()
	shop := httptool.New(t)
	w := &world{Env: env, owner: owner, mark: "mark-" + owner.ID}
	made := func(path string, body any, status int) string {
		return w.do(t, "POST", path, body).Must(t, status).Text("id")
	}
	in := w.owner.In
	w.values = map[string]any{
		"workspace_id": w.owner.WorkspaceID, "name": "n", "version": 1, "slug": "made_here", "description": "d", "kind": "http",
		"webhook_url": shop.URL + "/made", "text": "Hello?", "q": "What?", "content": "Something to read.", "user_id": "u", "url": hook.URL,
		"ListSessions.user_id": nil, "ListSessions.agent_id": nil, "ListSessionToolCalls.tool_id": nil,
		"ListToolCalls.session_id": nil, "ListToolCalls.agent_id": nil,
		"ListWorkspaceToolCalls.tool_id": nil, "ListWorkspaceToolCalls.session_id": nil, "ListWorkspaceToolCalls.agent_id": nil,
		"CreateSession.modality": "text", "CompareAgentVersions.version": 2, "UpdateTool.webhook_url": nil,
		"UpdateTool.slug": nil, "UpdateWebhookEndpoint.url": nil, "QueryKnowledge.explain": true,
		"CreateProviderCredential.kind": "model", "provider": "anthropic", "api_key": "sk-made-here-0000000000",
		"EndSession.status": "completed", "UpdateChunk.disabled": true, "DecideApproval.approve": true, "CreateApiKey.workspace_id": nil,
		"TestWebhookEndpoint.event":      "kb.source_ingested",
		"ListWebhookDeliveries.event_id": nil, "RecoverWebhookDeliveries.since": "2026-01-01T00:00:00Z",
		"AddMemory.kind": "note", "UpdateMemory.text": "Something else.", "query": "Something?",
		"resource_id": nil, "ListAuditEntries.workspace_id": nil, "ListAuditEntries.user_id": nil, "ListWorkspaceAuditEntries.user_id": nil,
		"ListMemories.kind": nil, "ListMemories.q": nil, "DeleteMemories.user_id": "nobody",
		"CreatePrivacyRequest.user_id": "nobody", "CreatePrivacyRequest.kind": "export", "CreatePrivacyRequest.dry_run": true,
		"ListPrivacyRequests.kind": nil, "ListPrivacyRequests.user_id": nil,
		"CreateUsageAlert.meter": "turns", "CreateUsageAlert.percent": 0, "CreateUsageAlert.quantity": 12,
		"GetUsage.workspace_id": nil, "GetUsage.agent_id": nil, "ListUsageDays.workspace_id": nil, "ListUsageDays.agent_id": nil,
		"ListUsageDays.meter": nil, "ListUsageDays.group_by": nil, "ListUsageDays.from": nil, "ListUsageDays.to": nil,
		"month": nil,
		"plan":  "pro", "success_url": "https://app.example.com/", "cancel_url": "https://app.example.com/",
		"return_url": "https://app.example.com/",
		"operator":   "Ruth", "handover": nil,
		"stripe_customer_id": "cus_" + owner.ID, "UpdateTenant.stripe_customer_id": nil, "timezone": "Europe/Berlin",
	}
	w.do(t, "PATCH", "/v1/tenant", map[string]any{"stripe_customer_id": w.values["stripe_customer_id"]}).Must(t, 200)
	agent := made(in("/agents"), `{"name":"Ada `+w.mark+`"}`, 201)
	w.do(t, "PATCH", in("/agents/"+agent), `{"language":"de"}`).Must(t, 200) // version 2
	tool := made(in("/tools"), `{"slug":"shop","description":"`+w.mark+`","kind":"http","webhook_url":"`+shop.URL+`/x"}`, 201)
	turnOf := func(session string) string {
		return w.do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`).Must(t, 200).Text("turn_id")
	}
	endpoint := made(in("/webhooks"), `{"url":"`+hook.URL+`","events":["kb.source_ingested"]}`, 201)
	source := made(in("/knowledge-base/sources/inline"), `{"name":"n `+w.mark+`","content":"Something to read: `+w.mark+`."}`, 202)
	site := startSite(t)
	w.values["CreateSitemapSources.url"] = site + "/sitemap.xml"
	page := made(in("/knowledge-base/sources/url"), `{"name":"p `+w.mark+`","url":"`+site+`/none"}`, 202)
	session := made("/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u `+w.mark+`","modality":"text"}`, 201)
	for name, value := range map[string]any{
		"agent_id": agent, "agent_ids": []string{agent}, "tool_id": tool, "endpoint_id": endpoint,
		"RefreshSource.source_id": page, "source_id": source, "source_ids": []string{source}, "session_id": session, "explain_source_id": source,
		"credential_id": made(in("/provider-credentials"),
			`{"kind":"model","provider":"openai","name":"`+w.mark+`","api_key":"sk-0000000000000000","base_url":"`+shop.URL+`"}`, 201),
		"memory_id":                    made(in("/users/u/memory"), `{"text":"Something `+w.mark+`."}`, 201),
		"alert_id":                     made("/v1/usage/alerts", `{"meter":"turns","quantity":10}`, 201),
		"api_key_id":                   made("/v1/api-keys", `{"name":"spare","scope":"read"}`, 201),
		"DeleteWorkspace.workspace_id": made("/v1/workspaces", `{"name":"spare"}`, 201),
		"DeleteSession.session_id":     made("/v1/sessions", `{"agent_id":"`+agent+`","user_id":"spare","modality":"text"}`, 201),
	} {
		w.values[name] = value
	}
	taken := func() string {
		id := made("/v1/sessions", `{"agent_id":"`+agent+`","user_id":"taken","modality":"text"}`, 201)
		w.do(t, "POST", "/v1/sessions/"+id+"/take-over", `{"operator":"Ruth"}`).Must(t, 200)
		return id
	}
	w.values["ReleaseSession.session_id"] = taken()
	w.values["SendOperatorMessage.session_id"] = taken()
	w.values["TakeOverSession.session_id"] = w.values["SendOperatorMessage.session_id"]
	recorded := made(in("/agents"), `{"name":"Recorder `+w.mark+`","voice":{"recording":{"enabled":true}}}`, 201)
	voice := made("/v1/sessions", `{"agent_id":"`+recorded+`","user_id":"u `+w.mark+`"}`, 201)
	recording(t, env, owner, voice, w.mark, 100)
	w.values["DownloadRecording.session_id"], w.values["GetRecordingMarks.session_id"] = voice, voice
	w.values["request_id"] = made(in("/privacy/requests"), `{"user_id":"nobody `+w.mark+`","kind":"erasure"}`, 201)
	harness.Await(t, harness.Patience, "an erasure of nothing", func() bool {
		return w.do(t, "GET", in("/privacy/requests/"+w.id("request_id")), nil).Must(t, 200).Text("status") == "ready"
	})
	w.settlePeople(t)
	w.values["turn_id"] = turnOf(session)
	w.values["call_id"] = harness.Rows[string](t, env, `
		INSERT INTO call_approvals (id, tenant_id, workspace_id, session_id, turn_id, slug, arguments, status, reason,
			created_at, expires_at, decided_at)
		VALUES ($1, $2, $3, $4, $5, $6, '{}', 'approved', $6, now(), now(), now()) RETURNING id`,
		idgen.New(idgen.ToolCall), owner.ID, owner.WorkspaceID, session, w.values["turn_id"], w.mark)[0]
	w.awaitDelivery(t, in("/webhooks/"+endpoint+"/deliveries"))
	w.values["questions"] = []any{map[string]any{"q": "What? " + w.mark, "source_ids": []string{source}}}
	evaluation := made(in("/knowledge-base/evaluations"), map[string]any{
		"agent_id": agent, "name": w.mark,
		"questions": w.values["questions"],
	}, 201)
	w.values["evaluation_id"], w.values["compare_to"] = evaluation, evaluation
	w.settleCalls(t)
	w.settleDraft(t)
	w.settleDiscovery(t)
	return w
}

// settleDraft makes an agent with a draft, beside the one whose versions other methods count.
func (w *world) settleDraft(t *testing.T) {
	t.Helper()
	drafted := w.do(t, "POST", w.owner.In("/agents"), `{"name":"Drafted `+w.mark+`"}`).Must(t, 201).Text("id")
	w.values["agent"] = map[string]any{"name": "Draft " + w.mark, "language": "de"}
	w.do(t, "PUT", w.owner.In("/agents/"+drafted+"/draft"), map[string]any{"agent": w.values["agent"]}).Must(t, 200)
	for _, method := range []string{"GetAgentDraft", "SaveAgentDraft", "CompareAgentDraft", "PublishAgentDraft", "DeleteAgentDraft"} {
		w.values[method+".agent_id"] = drafted
	}
}

// settleDiscovery makes a tool whose MCP server can be asked, and a document that can be read.
func (w *world) settleDiscovery(t *testing.T) {
	t.Helper()
	server := mcpserver.New(t)
	server.Tool("find", "Find "+w.mark+".", `{"type":"object"}`, mcpserver.Text("Found."))
	w.values["DiscoverMcpTools.tool_id"] = w.do(t, "POST", w.owner.In("/tools"), map[string]any{
		"slug": "crm", "description": w.mark, "kind": "mcp", "mcp_server_url": server.URL,
	}).Must(t, 201).Text("id")
	w.values["document"] = `{"openapi":"3.0.0","info":{"title":"` + w.mark + `"},"paths":{"/a":{"get":{"operationId":"a"}}}}`
	w.values["ReadOpenApi.url"] = nil
}

// settlePeople makes two people of the tenant, one of whom is deleted. They have not signed in
// here: that takes an issuer.
func (w *world) settlePeople(t *testing.T) {
	t.Helper()
	for _, name := range []string{"person_id", "DeletePerson.person_id"} {
		w.values[name] = harness.Rows[string](t, w.Env, `
			INSERT INTO people (id, tenant_id, issuer, subject, name, email, groups, group_role, created_at, signed_in_at)
			VALUES ($1, $2, 'https://issuer.example', $3, $4, '', '{}', 'analyst', now(), now()) RETURNING id`,
			idgen.New(idgen.Person), w.owner.ID, name, w.mark)[0]
	}
}

// startSite serves a sitemap whose pages are not there, so that no event comes of them.
func startSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	mux.HandleFunc("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "<urlset><url><loc>%s/gone</loc></url></urlset>", site.URL) // the test would see it
	})
	return site.URL
}

// awaitDelivery waits until the source is ready, which makes an event, a delivery and an attempt.
func (w *world) awaitDelivery(t *testing.T, path string) {
	t.Helper()
	harness.Await(t, harness.Patience, "a delivery has succeeded", func() bool {
		return w.do(t, "GET", path, nil).Must(t, 200).Text("deliveries", 0, "status") == "succeeded"
	})
	w.values["delivery_id"] = w.do(t, "GET", path, nil).Text("deliveries", 0, "id")
	// Two events with a cursor between them, so that a watcher of what follows gets one at once.
	more := w.do(t, "POST", w.owner.In("/knowledge-base/sources/inline"), `{"name":"m","content":"More."}`).Must(t, 202).Text("id")
	harness.Await(t, harness.Patience, "two events in the feed", func() bool {
		return len(w.do(t, "GET", w.owner.In("/events"), nil).Must(t, 200).List("events")) == 2
	})
	w.values["after"] = w.do(t, "GET", w.owner.In("/events"), nil).Text("events", 0, "cursor")
	// It is a source that no other method processes again, which gives its chunks other ids.
	w.values["UpdateChunk.source_id"] = more
	w.values["chunk_id"] = w.do(t, "GET", w.owner.In("/knowledge-base/sources/"+more+"/chunks"), nil).Must(t, 200).Text("chunks", 0, "id")
	// No work may be left: tests count rows before and after.
	harness.Await(t, harness.Patience, "both events are delivered", func() bool {
		return len(harness.Rows[int](t, w.Env, "SELECT 1 FROM webhook_deliveries WHERE tenant_id = $1 AND status = 'succeeded'", w.owner.ID)) == 2
	})
}

// do is Do with the owner's key.
func (w *world) do(t *testing.T, method, path string, body any) harness.Response {
	t.Helper()
	return w.Do(t, method, path, body, harness.Key(w.owner.Admin))
}

// request returns the fields of a method's request that the world has values for.
func (w *world) request(method protoreflect.MethodDescriptor) map[string]any {
	request := map[string]any{}
	fields := method.Input().Fields()
	for i := range fields.Len() {
		name := string(fields.Get(i).Name())
		value, known := w.values[string(method.Name())+"."+name]
		if !known {
			value = w.values[name]
		}
		if value != nil {
			request[name] = value
		}
	}
	return request
}

// methodNamed returns the method of a procedure: "/parlance.v1.ToolService/RunTool".
func methodNamed(t *testing.T, procedure string) protoreflect.MethodDescriptor {
	t.Helper()
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(procedure, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		t.Fatalf("%s: %v", procedure, err)
	}
	method, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		t.Fatalf("%s is no method", procedure)
	}
	return method
}

// methods returns all methods of the contract, those that delete last.
func methods() []protoreflect.MethodDescriptor {
	var all []protoreflect.MethodDescriptor
	protoregistry.GlobalFiles.RangeFilesByPackage("parlance.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			of := file.Services().Get(i).Methods()
			for j := range of.Len() {
				all = append(all, of.Get(j))
			}
		}
		return true
	})
	rank := func(m protoreflect.MethodDescriptor) int {
		for i, prefix := range []string{"Attach", "Create", "Detach", "End", "Delete"} {
			if strings.HasPrefix(string(m.Name()), prefix) {
				return [...]int{-2, -1, 1, 2, 3}[i]
			}
		}
		return 0
	}
	slices.SortFunc(all, func(a, b protoreflect.MethodDescriptor) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		if a.Name() == "DeleteWorkspace" || b.Name() == "DeleteAgent" {
			return 1
		}
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return all
}

// policyOf returns the policy of a method.
func policyOf(method protoreflect.MethodDescriptor) *parlancev1.MethodPolicy {
	policy, _ := proto.GetExtension(method.Options(), parlancev1.E_Policy).(*parlancev1.MethodPolicy)
	return policy
}

// rest makes a request to a route, with the world's ids in the path and its values in the body.
func (w *world) rest(t *testing.T, r route.Route) (path string, body any, with []harness.With) {
	t.Helper()
	method := methodNamed(t, r.Procedure)
	fields := w.request(method)
	if r.Manual {
		fields = map[string]any{
			"workspace_id": w.values["workspace_id"], "source_id": w.values["source_id"],
			"session_id": w.values["DownloadRecording.session_id"], "batch_id": w.values["batch_id"],
		}
	}
	path = fill(t, r.Pattern, fields)
	switch {
	case r.Manual && r.Method != http.MethodGet:
		content, contentType := form(t, part{name: "file", filename: "a.txt", mediaType: "text/plain", content: "Some text."})
		return path, content, []harness.With{harness.Header("Content-Type", contentType)}
	case r.Body == "*":
		return path, fields, nil
	}
	return path, nil, nil
}

// fill moves fields into the variables of a path.
func fill(t *testing.T, pattern string, fields map[string]any) string {
	t.Helper()
	for _, name := range variables(pattern) {
		value, err := json.Marshal(fields[name])
		if err != nil || fields[name] == nil {
			t.Fatalf("%s: nothing for %s (%v)", pattern, name, err)
		}
		pattern = strings.Replace(pattern, "{"+name+"}", strings.Trim(string(value), `"`), 1)
		delete(fields, name)
	}
	return pattern
}

// variables returns the names in a pattern.
func variables(pattern string) []string {
	var names []string
	for segment := range strings.SplitSeq(pattern, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.Trim(segment, "{}"))
		}
	}
	return names
}

// with returns the world with other values for some fields.
func (w *world) with(change map[string]any) *world {
	other := *w
	other.values = maps.Clone(w.values)
	maps.Copy(other.values, change)
	return &other
}
