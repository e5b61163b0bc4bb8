package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/workspaces"
)

// elsewhere are the reasons that no call of a procedure ends with, and where they are tested. One
// that stands neither here nor in provocations fails TestEveryReasonOverEveryProtocol.
var elsewhere = map[fault.Reason]string{
	fault.RouteNotFound:          "is about paths: TestUnknownProcedures, TestPaths",
	fault.MethodNotAllowedReason: "is about verbs: TestUnknownProcedures, TestPaths",
	fault.UnsupportedEncoding:    "is about HTTP bodies: TestBadInput, TestUnknownProcedures",
	fault.QuotaKBUploadSize:      "uploads are no transcoded call: TestUploadReasonsOverEveryProtocol",
	fault.KBUnsupportedMediaType: "uploads are no transcoded call: TestUploadReasonsOverEveryProtocol",
	fault.IdempotencyReused:      "Idempotency-Key is of REST: TestIdempotencyRefusals",
	fault.IdempotencyInFlight:    "Idempotency-Key is of REST: TestIdempotencyInFlight",
	fault.VersionMismatch:        "takes a header: TestIfMatch, TestIfMatchOfProtocols",
	fault.DeadlineExceeded:       "REST callers set no deadline: TestDeadlines",
	fault.CallerCanceled:         "nobody is left to read it: TestDeadlines",
	fault.SessionModality:        "answers an upgrade to WebSocket: server/realtime",
	fault.OriginNotAllowed:       "answers an upgrade to WebSocket: server/realtime",
	fault.EgressRefused:          "takes a server that redirects: server/rpc",
	fault.STTNotConfigured:       "is an event on a socket: server/realtime",
	fault.EventsCursorExpired:    "takes events that were deleted by age: webhooks",
	fault.WorkspacesFull:         "takes as many workspaces as a tenant may have: TestWorkspacesAndKeysAreCounted",
	fault.KeysFull:               "takes as many keys as a tenant may have: TestWorkspacesAndKeysAreCounted",
	fault.WebhookEndpointsFull:   "takes as many endpoints as a workspace may have: webhooks",
	fault.MemoryFull:             "takes as many memories as the setting allows: memory",
	fault.QuotaUsage:             "takes a month's usage: TestUsage",
	fault.QuotaBudget:            "takes a budget that is used up: TestBudgetOfAUser",
	fault.PlanModelNotEnabled:    "takes a plan in the database: TestPlansInTheDatabase",
	fault.UsageAlertsFull:        "takes as many alerts as a tenant may have: usage",
	fault.ApprovalDecided:        "takes a turn that waits: TestApprovalOverREST, conversation",
	fault.SignatureInvalid:       "answers the payment provider: TestStripeRefuses",
	fault.BillingCustomerMissing: "takes a payment provider: TestBillingRefuses",
	fault.ToolVariableMissing:    "is in a tool's result and trace, not an answer: tools",
	fault.PersonIsLastOwner:      "takes a person who has signed in: TestPeople",
	fault.NameTaken:              "cannot occur yet: no name is unique but a tool's slug",
}

// provocation is a REST request that ends with a reason; the same message is sent over every
// other protocol.
type provocation struct {
	key                string // empty: the operator's; "-": none
	method, path, body string
	fields             []string
	retry              bool // the error has a time to wait, of a limit that may let some pass before
}

// breaker is a trigger that makes the database fail as an agent's name says.
const breaker = `
	CREATE FUNCTION break_as_named() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
	    IF NEW.name = 'internal' THEN RAISE EXCEPTION 'hunter2' USING ERRCODE = 'XX000'; END IF;
	    IF NEW.name = 'conflict' THEN RAISE EXCEPTION 'hunter2' USING ERRCODE = '40001'; END IF;
	    IF NEW.name = 'unavailable' THEN RAISE EXCEPTION 'hunter2' USING ERRCODE = '57P03'; END IF;
	    RETURN NEW;
	END $$;
	CREATE TRIGGER break_as_named BEFORE INSERT ON agents FOR EACH ROW EXECUTE FUNCTION break_as_named()`

const reasonPlans = `{
	"enterprise": {"kb_storage_bytes": 5000000, "kb_upload_bytes": 5000000, "tools": true, "mcp": true},
	"tiny": {"kb_storage_bytes": 5, "kb_upload_bytes": 5, "tools": true, "mcp": false, "concurrent_sessions": 1},
	"bare": {"kb_storage_bytes": 5, "kb_upload_bytes": 5, "tools": false, "mcp": false, "rates_per_minute": {"read": 1}}}`

func reasonEnv(t *testing.T) *harness.Env {
	t.Helper()
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(reasonPlans), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, board := harness.Switchboard(t)
	harness.BusyPhone(board, busyNumber)
	maps.Copy(settings, map[string]string{
		// a dead one would open its circuit
		"PARLANCE_PLANS_FILE": plans, "PARLANCE_MODEL_BASE_URL": openaichat.NewWithKey(t, "another key").BaseURL,
		"PARLANCE_MODEL_NAME": openaichat.Model,
	})
	return harness.Start(t, harness.Options{WithoutWorker: true, Settings: settings})
}

// provocations makes what the reasons need and gives a request for each.
func provocations(t *testing.T, env *harness.Env) map[fault.Reason]provocation {
	t.Helper()
	env.Exec(t, breaker)
	tiny, bare := env.NewTenant(t, "tiny"), env.NewTenant(t, "bare")
	own := env.Tenant
	made := func(tenant harness.Tenant, path, body string, status int) string {
		return env.Do(t, "POST", path, body, harness.Key(tenant.Admin)).Must(t, status).Text("id")
	}
	agent, full := made(own, own.In("/agents"), `{"name":"a","locked_overrides":["voice"]}`, 201),
		made(tiny, tiny.In("/agents"), `{"name":"a"}`, 201)
	tool := made(own, own.In("/tools"),
		`{"slug":"shop","description":"d","kind":"http","webhook_url":"https://shop.example/",`+
			`"input_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}`, 201)
	queued := made(own, own.In("/knowledge-base/sources/inline"), `{"name":"n","content":"Something."}`, 202)
	made(own, own.In("/knowledge-base/sources/url"), `{"url":"https://example.com/taken"}`, 202)
	open := made(own, "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`, 201)
	closed := made(own, "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`, 201)
	env.Do(t, "POST", "/v1/sessions/"+closed+"/end", `{"status":"completed"}`).Must(t, 200)
	taken := made(own, "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`, 201)
	env.Do(t, "POST", "/v1/sessions/"+taken+"/take-over", `{"operator":"Ruth"}`).Must(t, 200)
	tiring := made(own, own.In("/agents"), `{"name":"t","fatigue":[{"window":"1h","max_turns":1,"action":"refuse"}]}`, 201)
	tired := made(own, "/v1/sessions", `{"agent_id":"`+tiring+`","user_id":"u","modality":"text"}`, 201)
	env.Do(t, "POST", "/v1/sessions/"+tired+"/turns", `{"text":"Hello?"}`).Must(t, 502)
	rotate := "/v1/api-keys/" + made(own, "/v1/api-keys", `{"name":"k"}`, 201) + "/rotate"
	env.Do(t, "POST", rotate, `{"overlap_seconds":60}`).Must(t, 200)
	made(tiny, "/v1/sessions", `{"agent_id":"`+full+`","user_id":"u","modality":"text"}`, 201)
	post := func(path, body string, fields ...string) provocation {
		return provocation{method: "POST", path: path, body: body, fields: fields}
	}
	as := func(key string, p provocation) provocation { p.key = key; return p }
	agents, tools, hooks, sources := own.In("/agents"), own.In("/tools"), own.In("/webhooks"), "/knowledge-base/sources/inline"
	http := `{"slug":"x","description":"d","kind":"http","webhook_url":"https://x.example/"}`
	all := map[fault.Reason]provocation{
		fault.AuthMissing:      as("-", post(agents, `{"name":"x"}`)),
		fault.AuthInvalidKey:   as("prl_wrong", post(agents, `{"name":"x"}`)),
		fault.AuthScope:        as(own.Runtime, post(agents, `{"name":"x"}`)),
		fault.ResourceNotFound: {method: "GET", path: agents + "/agt_none"},
		fault.InvalidRequest: post(tools, `{"slug":"1","kind":"ftp","timeout_seconds":500}`, "description",
			"kind", "slug", "timeout_seconds"),
		fault.BodyTooLarge:         post(own.In(sources), `{"name":"n","content":"`+long(1<<20+1)+`"}`, "content"),
		fault.APIKeyOverlap:        as(own.Admin, post(rotate, `{"overlap_seconds":60}`)),
		fault.ToolNameReserved:     post(tools, strings.Replace(http, `"x"`, `"End_Call"`, 1), "slug"),
		fault.ToolSlugTaken:        post(tools, strings.Replace(http, `"x"`, `"SHOP"`, 1), "slug"),
		fault.ToolArgumentsInvalid: post(tools+"/"+tool+"/run", `{"args":{"id":5}}`, "args.id"),
		fault.PlanToolsNotEnabled:  as(bare.Operator, post(bare.In("/tools"), http)),
		fault.PlanMCPNotEnabled: as(tiny.Operator,
			post(tiny.In("/tools"), `{"slug":"x","description":"d","kind":"mcp","mcp_server_url":"https://x.example/"}`)),
		fault.SystemToolAlwaysOn: {
			method: "PATCH", path: agents + "/" + agent + "/tools-config",
			body: `{"disabled_tools":["end_call"]}`, fields: []string{"disabled_tools[0]"},
		},
		fault.QuotaKBStorage:         as(tiny.Operator, post(tiny.In(sources), `{"name":"n","content":"more than five"}`)),
		fault.KBSourceNotReady:       post(agents+"/"+agent+"/knowledge-base/attach", `{"source_ids":["`+queued+`"]}`, "source_ids"),
		fault.KBNothingToRestore:     post(own.In("/knowledge-base/sources/"+queued+"/restore"), `{}`),
		fault.KBURLTaken:             post(own.In("/knowledge-base/sources/url"), `{"url":"https://example.com/taken"}`),
		fault.KBNoURL:                post(own.In("/knowledge-base/sources/"+queued+"/refresh"), `{}`),
		fault.FatigueWindowUsedUp:    post("/v1/sessions", `{"agent_id":"`+tiring+`","user_id":"u","modality":"text"}`),
		fault.QuotaSessions:          as(tiny.Operator, post("/v1/sessions", `{"agent_id":"`+full+`","user_id":"u","modality":"text"}`)),
		fault.OverrideNotAllowed:     post("/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","overrides":{"voice":{}}}`, "overrides.voice"),
		fault.SessionTokenInvalid:    as("e30.e30.x", post("/v1/sessions/"+open+"/turns", `{"text":"Hello?"}`)),
		fault.SessionTakenOver:       post("/v1/sessions/"+taken+"/take-over", `{"operator":"Paul"}`),
		fault.SessionNotTakenOver:    post("/v1/sessions/"+open+"/operator-messages", `{"text":"Hello."}`),
		fault.SessionClosed:          post("/v1/sessions/"+closed+"/turns", `{"text":"Hello?"}`),
		fault.WebhookURLNotHTTPS:     post(hooks, `{"url":"http://example.com/","events":[]}`, "url"),
		fault.WebhookURLNotPublic:    post(hooks, `{"url":"https://10.0.0.1/","events":[]}`, "url"),
		fault.WebhookURLUnresolvable: post(hooks, `{"url":"https://nothing.invalid/","events":[]}`, "url"),
		fault.WebhookEventUnknown:    post(hooks, `{"url":"https://example.com/","events":["nothing"]}`, "events[0]"),
		fault.RateLimitedReason:      {key: bare.Read, method: "GET", path: bare.In("/agents"), retry: true},
		fault.UpstreamFailed:         post("/v1/sessions/"+open+"/turns", `{"text":"Hello?"}`),
		fault.NotImplemented:         post(agents, `{"name":"x","guards":[{"name":"g","action":"end","examples":["Buy shares."]}]}`),
		fault.ProviderNotConfigured:  as(own.Admin, post("/v1/billing/portal", `{"return_url":"https://a.example/"}`)),
		fault.Conflict:               post(agents, `{"name":"conflict"}`),
		fault.ServiceUnavailable:     post(agents, `{"name":"unavailable"}`),
		fault.InternalError:          post(agents, `{"name":"internal"}`),
	}
	maps.Copy(all, callProvocations(t, env, agent))
	maps.Copy(all, draftProvocations(t, env))
	return all
}

// draftProvocations are those that take drafts.
func draftProvocations(t *testing.T, env *harness.Env) map[fault.Reason]provocation {
	t.Helper()
	made := func() string {
		return env.Tenant.In("/agents/" + env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"d"}`).Must(t, 201).Text("id"))
	}
	none, stale := made(), made()
	env.Do(t, "PUT", stale+"/draft", `{"agent":{"name":"e"}}`).Must(t, 200)
	env.Do(t, "PATCH", stale, `{"name":"f"}`).Must(t, 200)
	return map[fault.Reason]provocation{
		fault.AgentDraftNotFound: {method: "POST", path: none + "/draft/publish", body: `{}`},
		fault.AgentDraftChanged:  {method: "PUT", path: stale + "/draft", body: `{"agent":{"name":"g"},"revision":7}`},
		fault.AgentDraftStale:    {method: "POST", path: stale + "/draft/publish", body: `{"revision":1}`},
	}
}

// callProvocations are those that take calls and callbacks.
func callProvocations(t *testing.T, env *harness.Env, agent string) map[fault.Reason]provocation {
	t.Helper()
	in := env.Tenant.In
	made := func(path, body string) string { return env.Do(t, "POST", in(path), body).Must(t, 201).Text("id") }
	plan := func(user, at string) string {
		return `{"agent_id":"` + agent + `","user_id":"` + user + `","phone_number":"` + busyNumber + `",` + at + `"ignore_limits":true}`
	}
	env.Do(t, "POST", in("/users/refuses/call-consent"), `{"granted":false}`).Must(t, 200)
	canceled := made("/callbacks", plan("u", `"in_minutes":60,`))
	env.Do(t, "POST", in("/callbacks/"+canceled+"/cancel"), nil).Must(t, 200)
	batch := made("/callback-batches", `{"agent_id":"`+agent+`","name":"n","recipients":[{"phone_number":"`+busyNumber+`"}]}`)
	env.Do(t, "POST", in("/callback-batches/"+batch+"/control"), `{"action":"stop"}`).Must(t, 200)
	dialed := made("/callbacks", plan("u", `"at":"now",`))
	ref := workspaces.Ref{TenantID: workspaces.TenantID(env.Tenant.ID), ID: workspaces.ID(env.Tenant.WorkspaceID)}
	if err := env.App.Callbacks.Dial(t.Context(), ref, callbacks.ID(dialed)); err != nil { // there is no worker to do it
		t.Fatal(err)
	}
	var call string
	harness.Await(t, harness.Patience, "a call that nobody took", func() bool {
		got := env.Do(t, "GET", in("/callbacks/"+dialed), nil).Must(t, 200)
		call = got.Text("attempts", 0, "call_id")
		return got.Text("attempts", 0, "status") == "busy"
	})
	return map[fault.Reason]provocation{
		fault.CallbackNotAllowed:   {method: "POST", path: in("/callbacks"), body: plan("refuses", `"at":"now",`)},
		fault.CallbackNotScheduled: {method: "PATCH", path: in("/callbacks/" + canceled), body: `{"reason":"x"}`},
		fault.CallbackBatchOver:    {method: "POST", path: in("/callback-batches/" + batch + "/control"), body: `{"action":"resume"}`},
		fault.CallNotInProgress:    {method: "POST", path: in("/calls/" + call + "/transfer"), body: `{"to":"+12015550199"}`},
	}
}

// TestEveryReasonOverEveryProtocol provokes each reason of the table through the public door over
// every protocol, and compares.
func TestEveryReasonOverEveryProtocol(t *testing.T) {
	t.Parallel()
	env := reasonEnv(t)
	all := provocations(t, env)
	for _, entry := range fault.Table() {
		provoked, ok := all[entry.Reason]
		if _, known := elsewhere[entry.Reason]; known == ok {
			t.Errorf("the reason %s stands in both lists or in none: provoke it, or say where it is tested", entry.Reason)
		}
		if !ok {
			continue
		}
		switch provoked.key {
		case "":
			provoked.key = env.Tenant.Operator
		case "-":
			provoked.key = ""
		}
		t.Run(string(entry.Reason), func(t *testing.T) { provoked.everywhere(t, env, entry) })
	}
}

func (p provocation) everywhere(t *testing.T, env *harness.Env, entry fault.Entry) {
	t.Helper()
	var body any
	if p.body != "" {
		body = p.body
	}
	var rest harness.Response
	untilRefused(t, func() bool {
		rest = env.Do(t, p.method, p.path, body, harness.Key(p.key))
		return rest.Status >= 400 || !p.retry
	})
	checkProblem(t, rest, entry.Kind.Status(), string(entry.Reason))
	if strings.Contains(string(rest.Body), "hunter2") {
		t.Errorf("the cause is shown: %s", rest.Body)
	}
	if diff := cmp.Diff(p.fields, sorted(rest.Problem.Fields())); diff != "" {
		t.Errorf("REST: fields (-want +got)\n%s\n%s", diff, rest.Body)
	}
	if p.retry && rest.Header.Get("Retry-After") == "" {
		t.Errorf("REST: no Retry-After: %v", rest.Header)
	}
	to, fields := procedureOf(t, p.method, p.path, p.body)
	for _, protocol := range harness.Protocols() {
		var err error
		untilRefused(t, func() bool {
			err = callRaw(t, env, protocol, p.key, to, fields)
			return err != nil || !p.retry
		})
		checkWire(t, err, sameCall{reason: string(entry.Reason), code: entry.Kind.Code(), fields: p.fields})
		wire, _ := errors.AsType[*connect.Error](err)
		if wire == nil {
			continue
		}
		if !p.retry && entry.Reason != fault.RateLimitedReason && wire.Message() != rest.Problem.Detail {
			t.Errorf("%s says %q, REST %q", protocol.Name, wire.Message(), rest.Problem.Detail)
		}
		if p.retry && !hasDetail[*errdetails.RetryInfo](wire) {
			t.Errorf("%s: no RetryInfo: %v", protocol.Name, wire)
		}
		if p.retry && (wire.Meta().Get("RateLimit-Limit") == "" || wire.Meta().Get("Retry-After") == "") {
			t.Errorf("%s: no RateLimit-Limit or Retry-After: %v", protocol.Name, wire.Meta())
		}
	}
}

// hasDetail reports whether an error has a detail of the type.
func hasDetail[Detail proto.Message](err *connect.Error) bool {
	return slices.ContainsFunc(err.Details(), func(d *connect.ErrorDetail) bool {
		value, decodeErr := d.Value()
		_, ok := value.(Detail)
		return decodeErr == nil && ok
	})
}

// procedureOf is the route of a REST request, and the fields of its message.
func procedureOf(t *testing.T, method, path, body string) (route.Route, map[string]any) {
	t.Helper()
	segments := strings.Split(path, "/")
	for _, r := range parlancev1rest.Routes {
		pattern := strings.Split(r.Pattern, "/")
		fields := map[string]any{}
		fits := r.Method == method && len(pattern) == len(segments)
		for i := 0; fits && i < len(pattern); i++ {
			if name, ok := strings.CutPrefix(pattern[i], "{"); ok {
				fields[strings.TrimSuffix(name, "}")] = segments[i]
				continue
			}
			fits = pattern[i] == segments[i]
		}
		if !fits {
			continue
		}
		if body != "" {
			var more map[string]any
			if err := json.Unmarshal([]byte(body), &more); err != nil {
				t.Fatal(err)
			}
			maps.Copy(fields, more)
		}
		return r, fields
	}
	t.Fatalf("no route %s %s", method, path)
	return route.Route{}, nil
}

// rawMessage is a message as bytes of the protocol's codec.
type rawMessage struct{ encoded []byte }

// rawCodec passes rawMessages through under the name of another codec.
type rawCodec struct{ name string }

func (c rawCodec) Name() string { return c.name }

func (rawCodec) Marshal(message any) ([]byte, error) { return message.(*rawMessage).encoded, nil }

func (rawCodec) Unmarshal(encoded []byte, message any) error {
	if status, ok := message.(proto.Message); ok { // of an error in gRPC
		return proto.Unmarshal(encoded, status)
	}
	message.(*rawMessage).encoded = slices.Clone(encoded)
	return nil
}

// callRaw calls a route's procedure with the fields and returns its error.
func callRaw(t *testing.T, env *harness.Env, p harness.Protocol, key string, to route.Route, fields map[string]any) error {
	t.Helper()
	encoded, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	codec := rawCodec{"json"}
	if !strings.Contains(p.Name, "JSON") {
		codec.name = "proto"
		message := to.Request.ProtoReflect().New()
		if err := protojson.Unmarshal(encoded, message.Interface()); err != nil {
			t.Fatal(err)
		}
		if encoded, err = proto.Marshal(message.Interface()); err != nil {
			t.Fatal(err)
		}
	}
	options := append(slices.Clone(p.Options), connect.WithCodec(codec))
	client := connect.NewClient[rawMessage, rawMessage](env.Clients(t, p, key).HTTP, env.URL+to.Procedure, options...)
	request := connect.NewRequest(&rawMessage{encoded})
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	_, err = client.CallUnary(ctx, request)
	return err
}

// TestEveryReasonHasAPage: /errors/<code> answers for every reason, to browsers and to machines.
func TestEveryReasonHasAPage(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	for _, entry := range fault.Table() {
		path := "/errors/" + string(entry.Reason)
		machine := env.Do(t, "GET", path, nil, harness.Key("")).Must(t, 200)
		if machine.Text("code") != string(entry.Reason) || machine.At("status") != float64(entry.Kind.Status()) ||
			machine.Text("title") == "" || machine.Text("advice") == "" {
			t.Errorf("%s: %s", path, machine.Body)
		}
		page := env.Do(t, "GET", path, nil, harness.Key(""), harness.Header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")).Must(t, 200)
		if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(page.Body), string(entry.Reason)) {
			t.Errorf("%s for a browser: %s", path, page.Header.Get("Content-Type"))
		}
		if head := env.Do(t, http.MethodHead, path, nil, harness.Key("")).Must(t, 200); len(head.Body) != 0 {
			t.Errorf("HEAD %s has a body", path)
		}
	}
	for _, path := range []string{"/errors/none", "/errors/not-found/x"} {
		checkProblem(t, env.Do(t, "GET", path, nil), 404, "not-found")
	}
	checkProblem(t, env.Do(t, "POST", "/errors/internal", nil), 405, "method-not-allowed")
}
