package scenario

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/redistest"
)

// insightsModel fails for "Fail.", calls the tool shop for "Call.", and answers everything else.
func insightsModel(r modeltest.Received) modeltest.Reply {
	switch {
	case strings.Contains(r.LastText(), "Fail."):
		return modeltest.Reply{Status: 400}
	case strings.Contains(r.LastText(), "Call."):
		return modeltest.Reply{Calls: []modeltest.Call{{ID: "c1", Name: "shop", Arguments: []string{"{}"}}}}
	}
	return modeltest.Reply{Text: []string{"All is well."}}
}

// TestActivity: what conversations, sources, tools and webhooks have come to is counted once, for
// their tenant and for keys that may see it, over REST and RPC, and agrees with the usage.
func TestActivity(t *testing.T) {
	t.Parallel()
	llm, hook, shop := openaichat.New(t), receiver.New(t), httptool.New(t)
	llm.Else = insightsModel
	hook.Always(receiver.Answer{Status: 500})
	prices := filepath.Join(t.TempDir(), "prices.json")
	err := os.WriteFile(prices, []byte(`{"currency":"EUR","models":{"openai":{"input_per_million":"3","output_per_million":"7"}}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	env := harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model, "PARLANCE_EGRESS_CA_FILE": hook.CAFile(t),
		"PARLANCE_WEBHOOK_SCHEDULE": "0s", "PARLANCE_MODEL_PRICES_FILE": prices,
	}})
	agent := converse(t, env, env.Tenant, hook, shop)
	other := env.NewTenant(t, "")
	converse(t, env, other, hook, shop)
	key := env.NewKey(t, env.Tenant, "read", env.Tenant.WorkspaceID)
	elsewhere := env.Do(t, "POST", "/v1/workspaces", `{"name":"empty"}`).Must(t, 201).Text("id")
	read := func(query string, with ...harness.With) harness.Response {
		return env.Do(t, "GET", "/v1/activity?"+query, nil, with...).Must(t, 200)
	}
	for _, key := range []string{env.Tenant.Read, other.Read} {
		harness.Await(t, harness.Patience, "everything is counted", func() bool {
			got := read("", harness.Key(key))
			return got.At("total", "turns") == 7.0 && got.At("total", "failed_deliveries") == 2.0 && got.At("total", "deliveries") == 2.0
		})
	}
	tokens, cost := activityUsage(t, env)
	without := withoutPassage(t, env, agent)
	want := map[string]any{
		"sessions": 2.0, "failed_sessions": 1.0, "voice_minutes": 0.0, "turns": 7.0, "failed_turns": 1.0,
		"knowledge_answers": 5.0, "answers_without_passage": without, "tokens": tokens, "cost": cost, "tool_calls": 2.0, "failed_tool_calls": 1.0,
		"deliveries": 2.0, "failed_deliveries": 2.0, "sources_ready": 1.0, "failed_sources": 1.0,
	}
	nothing := map[string]any{
		"sessions": 0.0, "failed_sessions": 0.0, "voice_minutes": 0.0, "turns": 0.0, "failed_turns": 0.0,
		"knowledge_answers": 0.0, "answers_without_passage": 0.0, "tokens": 0.0, "cost": "0", "tool_calls": 0.0, "failed_tool_calls": 0.0,
		"deliveries": 0.0, "failed_deliveries": 0.0, "sources_ready": 0.0, "failed_sources": 0.0,
	}
	ofAgent := map[string]any{"deliveries": 0.0, "failed_deliveries": 0.0, "sources_ready": 0.0, "failed_sources": 0.0}
	begins := func(got harness.Response) any { return got.At("steps", 0, "starts_at") }
	for name, row := range map[string]struct {
		query string
		with  []harness.With
		want  map[string]any
		but   map[string]any
	}{
		"all":                          {"", nil, want, nil},
		"by hour":                      {"step=hour&timezone=Asia%2FTokyo", nil, want, nil},
		"its workspace":                {"workspace_id=" + env.Tenant.WorkspaceID, nil, want, nil},
		"another workspace":            {"workspace_id=" + elsewhere, nil, nothing, nil},
		"a key for the workspace":      {"", []harness.With{harness.Key(key)}, want, nil},
		"a key for another workspace":  {"", []harness.With{harness.Key(env.NewKey(t, env.Tenant, "read", elsewhere))}, nothing, nil},
		"the agent":                    {"agent_id=" + agent, nil, want, ofAgent},
		"an agent that is not there":   {"agent_id=agt_none", nil, nothing, nil},
		"another tenant of the same":   {"", []harness.With{harness.Key(other.Read)}, want, nil},
		"another tenant of this agent": {"agent_id=" + agent, []harness.With{harness.Key(other.Read)}, nothing, nil},
		"before":                       {"until=" + url.QueryEscape(time.Now().Add(-48*time.Hour).Format(time.RFC3339)), nil, nothing, nil},
	} {
		got := read(row.query, row.with...)
		expected := map[string]any{}
		for field, value := range row.want {
			expected[field] = value
		}
		for field, value := range row.but {
			expected[field] = value
		}
		expected["starts_at"] = begins(got)
		if diff := cmp.Diff(expected, got.At("total")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, query := range map[string]string{
		"the order": "since=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z", "too many": "since=2001-01-01T00:00:00Z&step=hour",
		"a step": "step=week", "a zone": "timezone=Mars", "a time": "since=yesterday",
	} {
		if got := env.Do(t, "GET", "/v1/activity?"+query, nil); got.Status != 400 || got.Code() != "invalid-request" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	checkProblem(t, env.Do(t, "GET", "/v1/activity?workspace_id="+other.WorkspaceID, nil), 404, "not-found")
	checkProblem(t, env.Do(t, "GET", "/v1/activity?workspace_id="+elsewhere, nil, harness.Key(key)), 404, "not-found")
	activityOverRPC(t, env)
	backlogOf(t, env)
}

// converse makes, in a tenant: a source that is read and one that cannot be; an agent, which has a
// session with one turn before it has the first source, and then one that ends as failed, with two
// questions that the source answers, one that it does not, two with a call, of which one fails, and
// a turn that fails; a run of the tool by an operator, which fails; and a webhook message for the
// end of each session, which nobody takes.
func converse(t *testing.T, env *harness.Env, tenant harness.Tenant, hook *receiver.Receiver, shop *httptool.Server) (agent string) {
	t.Helper()
	key := harness.Key(tenant.Admin)
	do := func(method, path string, body any) harness.Response {
		t.Helper()
		return env.Do(t, method, path, body, key)
	}
	shop.Script("/shop", httptool.Step{Status: 404}, httptool.Step{Body: "open"}, httptool.Step{Status: 404})
	content := `{"name":"Hours","content":"The reception opens at nine o'clock."}`
	source := do("POST", tenant.In("/knowledge-base/sources/inline"), content).Must(t, 202).Text("id")
	broken := uploadFile(t, env, tenant, "broken.pdf", []byte("%PDF-1.4 and nothing else"))
	for id, want := range map[string]string{source: "ready", broken: "failed"} {
		harness.Await(t, harness.Patience, "the source is "+want, func() bool {
			return do("GET", tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200).Text("status") == want
		})
	}
	do("POST", tenant.In("/webhooks"), map[string]any{"url": hook.URL, "events": []string{"post_call_transcription"}}).Must(t, 201)
	tool := do("POST", tenant.In("/tools"), map[string]any{
		"slug": "shop", "description": "Asks the shop.", "kind": "http", "method": "GET", "webhook_url": shop.URL + "/shop",
	}).Must(t, 201).Text("id")
	agent = do("POST", tenant.In("/agents"), `{"name":"Ada","memory":{}}`).Must(t, 201).Text("id")
	do("POST", tenant.In("/agents/"+agent+"/tools/attach"), map[string]any{"tool_id": tool}).Must(t, 200)
	session := func() string {
		return do("POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u", "modality": "text"}).Must(t, 201).Text("id")
	}
	say := func(session, text string, status int) {
		t.Helper()
		do("POST", "/v1/sessions/"+session+"/turns", map[string]string{"text": text}).Must(t, status)
	}
	end := func(session, status string) {
		t.Helper()
		do("POST", "/v1/sessions/"+session+"/end", map[string]string{"status": status, "reason": "done"}).Must(t, 200)
	}
	before := session()
	say(before, "When does the reception open?", 200) // there is no knowledge yet
	end(before, "completed")
	do("POST", tenant.In("/agents/"+agent+"/knowledge-base/attach"), map[string]any{"source_ids": []string{source}}).Must(t, 200)
	after := session()
	say(after, "When does the reception open?", 200)
	say(after, "Does the reception open at nine o'clock?", 200)
	say(after, "Xylophone!", 200)
	say(after, "Call.", 200)
	say(after, "Call.", 200)
	say(after, "Fail.", 502)
	end(after, "failed")
	do("POST", tenant.In("/tools/"+tool+"/run"), `{"args":{}}`) // fails, and is no call of an agent
	return agent
}

// activityUsage returns the tokens and the cost of the tenant's month.
func activityUsage(t *testing.T, env *harness.Env) (tokens float64, cost string) {
	t.Helper()
	month := env.Do(t, "GET", "/v1/usage", nil).Must(t, 200)
	for i := range month.List("meters") {
		if month.Text("meters", i, "meter") == "tokens" {
			tokens, _ = month.At("meters", i, "quantity").(float64)
		}
	}
	if tokens == 0 || month.Text("cost") == "0" {
		t.Errorf("the usage: %s", month.Body)
	}
	return tokens, month.Text("cost")
}

// withoutPassage counts the complete answers of the agent's session with knowledge that cite
// nothing, as its transcript has them.
func withoutPassage(t *testing.T, env *harness.Env, agent string) float64 {
	t.Helper()
	session := env.Do(t, "GET", "/v1/sessions?status=failed&agent_id="+agent, nil).Must(t, 200).Text("sessions", 0, "id")
	turns := env.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	without := 0.0
	for i := range turns.List("turns") {
		if turns.Text("turns", i, "status") == "completed" && len(turns.List("turns", i, "citations")) == 0 {
			without++
		}
	}
	if without < 1 || without > 4 {
		t.Errorf("%v answers of 5 cite nothing: %s", without, turns.Body)
	}
	return without
}

// activityOverRPC: over every protocol the answer is that of REST.
func activityOverRPC(t *testing.T, env *harness.Env) {
	t.Helper()
	rest := env.Do(t, "GET", "/v1/activity?step=day", nil).Must(t, 200)
	var first *parlancev1.Activity
	for _, p := range harness.Protocols() {
		client := parlancev1connect.NewInsightServiceClient(env.Clients(t, p, env.Tenant.Read).HTTP, env.URL, p.Options...)
		got, err := client.GetActivity(t.Context(), &parlancev1.GetActivityRequest{Step: "day"})
		if err != nil {
			t.Fatal(p.Name, err)
		}
		if first == nil {
			first = got
		}
		if len(got.GetSteps()) != 8 || !proto.Equal(got.GetTotal(), first.GetTotal()) ||
			rest.At("total", "turns") != float64(got.GetTotal().GetTurns()) || got.GetCurrency() != "EUR" ||
			rest.Text("total", "cost") != got.GetTotal().GetCost() || got.GetTimezone() != "UTC" {
			t.Errorf("%s: %v", p.Name, got)
		}
	}
}

// backlogOf: what was given up is in the tenant's backlog, the queues and this process are listed,
// and keys that may not see them are refused.
func backlogOf(t *testing.T, env *harness.Env) {
	t.Helper()
	admin, operator := harness.Key(env.Tenant.Admin), harness.Key(env.Tenant.Operator)
	backlog := env.Do(t, "GET", "/v1/backlog", nil, operator).Must(t, 200)
	failed := map[string]any{}
	for i := range backlog.List("kinds") {
		failed[backlog.Text("kinds", i, "kind")] = backlog.At("kinds", i, "failed")
	}
	want := map[string]any{"events": 0.0, "sources": 1.0, "deliveries": 2.0, "callbacks": 0.0, "privacy": 0.0, "analyses": 0.0}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Errorf("given up (-want +got):\n%s", diff)
	}
	harness.Await(t, harness.Patience, "the worker has reported", func() bool {
		queues := env.Do(t, "GET", "/v1/queues", nil, admin).Must(t, 200)
		return len(queues.List("queues")) == 7 && queues.At("workers", 0, "pid") == float64(os.Getpid()) &&
			queues.At("queues", indexOf(queues, "deliver"), "processed_today") != 0.0
	})
	restricted := harness.Key(env.NewKey(t, env.Tenant, "operator", env.Tenant.WorkspaceID))
	for _, path := range []string{"/v1/backlog", "/v1/queues"} {
		checkProblem(t, env.Do(t, "GET", path, nil, restricted), 403, "auth-scope")
		checkProblem(t, env.Do(t, "GET", path, nil, harness.Key(env.Tenant.Runtime)), 403, "auth-scope")
	}
	checkProblem(t, env.Do(t, "GET", "/v1/queues", nil, operator), 403, "auth-scope")
}

// indexOf is the place of a queue in an answer.
func indexOf(queues harness.Response, name string) int {
	for i := range queues.List("queues") {
		if queues.Text("queues", i, "name") == name {
			return i
		}
	}
	return -1
}

// TestQueuesWithoutRedis: without Redis the queues cannot be listed, and the tenant's backlog and
// activity are counted all the same.
func TestQueuesWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	socket, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := harness.NewProxy(t, harness.Target{Network: "unix", Address: socket.Path})
	env := harness.Start(t, harness.Options{
		RedisURL: server.URL, WithoutWorker: true, Settings: map[string]string{"REDIS_URL": "redis://" + proxy.Address},
	})
	admin := harness.Key(env.Tenant.Admin)
	if got := env.Do(t, "GET", "/v1/queues", nil, admin).Must(t, 200); len(got.List("workers")) != 0 {
		t.Errorf("workers: %s", got.Body)
	}
	proxy.Down()
	got := env.Do(t, "GET", "/v1/queues", nil, admin)
	checkProblem(t, got, 503, "unavailable")
	if seconds, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After: %q", got.Header.Get("Retry-After"))
	}
	env.Do(t, "GET", "/v1/backlog", nil, admin).Must(t, 200)
	env.Do(t, "GET", "/v1/activity", nil, admin).Must(t, 200)
	proxy.Up()
	env.Do(t, "GET", "/v1/queues", nil, admin).Must(t, 200)
}
