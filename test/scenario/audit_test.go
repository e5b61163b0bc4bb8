package scenario

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/test/harness"
)

// Secrets and contents that must not be in the audit log.
var unrecorded = []string{
	"sk-planted-credential-1", "planted-auth-header", "planted-secret-header", "planted-plain-header", "planted-hook-header",
	"planted-query-value", "planted-body-value", "planted-url-token", "planted memory text", "planted source text", "planted argument",
	"planted end reason", "ada@example.org", "planted-category", "planted variable",
}

// audited is an installation whose audit log is read.
type audited struct {
	*harness.Env
	// shown are the values that answers have shown once.
	shown []string
}

// step makes a request and returns its answer. It wants one new entry about it.
func (a *audited) step(t *testing.T, action, method, path, body string, status int, with ...harness.With) harness.Response {
	t.Helper()
	before := a.entries(t, "")
	answer := a.Do(t, method, path, body, with...).Must(t, status)
	after := a.entries(t, "")
	if len(after) != len(before)+1 {
		t.Fatalf("%s %s left %d entries, want 1", method, path, len(after)-len(before))
	}
	if got := harness.Path(after[0], "action"); got != action {
		t.Errorf("%s %s is recorded as %v, want %s", method, path, got, action)
	}
	for _, name := range []string{"secret", "token"} {
		if secret := answer.Text(name); secret != "" {
			a.shown = append(a.shown, secret)
		}
	}
	return answer
}

// entries lists the log, newest first.
func (a *audited) entries(t *testing.T, query string) []any {
	t.Helper()
	return a.Do(t, "GET", "/v1/audit-log?page_size=200&"+query, "").Must(t, 200).List("entries")
}

// last returns a part of the newest entry.
func (a *audited) last(t *testing.T, steps ...any) any {
	t.Helper()
	return harness.Path(a.entries(t, "")[0], steps...)
}

// want compares parts of the newest entry.
func (a *audited) want(t *testing.T, parts map[string]string) {
	t.Helper()
	newest := a.entries(t, "")[0]
	for path, want := range parts {
		var steps []any
		for step := range strings.SplitSeq(path, "/") {
			steps = append(steps, step)
		}
		if got := fmt.Sprint(harness.Path(newest, steps...)); got != want {
			t.Errorf("%s of %v is %q, want %q", path, harness.Path(newest, "action"), got, want)
		}
	}
}

// verified checks the chain as `parlance audit verify` does, and returns its length.
func (a *audited) verified(t *testing.T, key string) int64 {
	t.Helper()
	export := a.Do(t, "GET", "/v1/audit-log/export", "", harness.Key(key)).Must(t, 200)
	var v audit.Verifier
	for line := range bytes.Lines(export.Body) {
		e, err := audit.ParseLine(line)
		if err == nil {
			err = v.Add(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return v.Count
}

// TestAuditLog goes through the kinds of changes: each has one entry, with who made it and what was
// changed, and no secret or content is in the table.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	a := &audited{Env: harness.Start(t, harness.Options{})}
	in := a.Tenant.In
	t.Run("workspaces and keys", func(t *testing.T) { a.tenancy(t) })
	t.Run("agents", func(t *testing.T) { a.agents(t) })
	t.Run("tools", func(t *testing.T) { a.tools(t) })
	t.Run("credentials and webhooks", func(t *testing.T) { a.outside(t) })
	t.Run("sources", func(t *testing.T) { a.sources(t) })
	t.Run("memory", func(t *testing.T) { a.memory(t) })
	t.Run("conversations", func(t *testing.T) { a.conversations(t) })

	t.Run("nothing is recorded of reads, refused values and unknown ids", func(t *testing.T) {
		before := len(a.entries(t, ""))
		a.Do(t, "GET", in("/agents"), "").Must(t, 200)
		a.Do(t, "POST", in("/agents"), `{"name":""}`).Must(t, 400)
		a.Do(t, "PATCH", in("/agents/agt_00000000000000000000000000"), `{"name":"x"}`).Must(t, 404)
		a.Do(t, "POST", in("/webhooks"), `{"url":"http://example.org/"}`).Must(t, 400)
		if after := len(a.entries(t, "")); after != before {
			t.Errorf("%d entries were added", after-before)
		}
		if waiting := harness.Rows[int](t, a.Env, "SELECT count(*) FROM audit_pending")[0]; waiting != 0 {
			t.Errorf("%d changes are still begun", waiting)
		}
	})
	t.Run("no secret and no content is stored", func(t *testing.T) {
		rows := harness.Rows[string](t, a.Env, "SELECT e::text FROM audit_entries AS e")
		for _, value := range append(slices.Clone(unrecorded), a.shown...) {
			for _, row := range rows {
				if strings.Contains(row, value) {
					t.Errorf("%q is in the entry %s", value, row)
				}
			}
		}
	})
	t.Run("the export verifies", func(t *testing.T) {
		count := a.verified(t, a.Tenant.Admin)
		if stored := harness.Rows[int64](t, a.Env, "SELECT count(*) FROM audit_entries")[0]; count != stored {
			t.Errorf("exported %d entries of %d", count, stored)
		}
	})
}

func (a *audited) tenancy(t *testing.T) {
	in := a.Tenant.In
	a.step(t, "workspace.update", "PATCH", in(""), `{"name":"renamed"}`, 200,
		harness.Header("User-Agent", "ops/1"), harness.Header("X-Request-Id", "r-1"))
	a.want(t, map[string]string{
		"before/name": "default", "after/name": "renamed", "outcome": "done", "actor_kind": "api_key", "actor_name": "first key",
		"user_agent": "ops/1", "request_id": "r-1", "remote_address": "127.0.0.1", "workspace_id": a.Tenant.WorkspaceID,
		"resource_type": "workspace", "resource_id": a.Tenant.WorkspaceID, "before/id": "<nil>",
	})
	id := a.step(t, "workspace.create", "POST", "/v1/workspaces", `{"name":"spare"}`, 201).Text("id")
	a.want(t, map[string]string{"resource_id": id, "workspace_id": id, "before": "<nil>", "after/name": "spare"})
	a.step(t, "workspace.delete", "DELETE", "/v1/workspaces/"+id, "", 204)
	a.want(t, map[string]string{"resource_id": id, "before/name": "spare", "after": "<nil>"})
	key := a.step(t, "api_key.create", "POST", "/v1/api-keys", `{"name":"ci","scope":"operator"}`, 201)
	a.want(t, map[string]string{
		"resource_type": "api_key", "resource_id": key.Text("id"), "after/scope": "operator", "after/secret": "[secret]",
	})
	rotated := a.step(t, "api_key.rotate", "POST", "/v1/api-keys/"+key.Text("id")+"/rotate", `{}`, 200)
	a.want(t, map[string]string{
		"before/secret_hint": key.Text("secret_hint"), "after/secret_hint": rotated.Text("secret_hint"), "after/name": "<nil>",
	})
	a.step(t, "agent.create", "POST", in("/agents"), `{"name":"by ci"}`, 201, harness.Key(rotated.Text("secret")))
	a.want(t, map[string]string{"actor_id": key.Text("id"), "actor_name": "ci"})
	a.step(t, "api_key.delete", "DELETE", "/v1/api-keys/"+key.Text("id"), "", 204)
}

func (a *audited) agents(t *testing.T) {
	in := a.Tenant.In
	id := a.step(t, "agent.create", "POST", in("/agents"), `{"name":"Ada","instructions":"`+strings.Repeat("long ", 300)+`"}`, 201).Text("id")
	if got := fmt.Sprint(a.last(t, "after", "instructions")); !strings.HasPrefix(got, "[sha256:") || !strings.HasSuffix(got, ", 1500 bytes]") {
		t.Errorf("long instructions are recorded as %s", got)
	}
	a.step(t, "agent.update", "PATCH", in("/agents/"+id), `{"model":{"temperature":0.7,"max_output_tokens":500}}`, 200,
		harness.Key(a.Tenant.Operator))
	a.want(t, map[string]string{
		"actor_name": "operator", "before/version": "1", "after/version": "2", "after/name": "<nil>",
		"after/model/temperature": "0.7", "before/model/max_output_tokens": "<nil>", "after/model/max_output_tokens": "500",
	})
	a.step(t, "agent.rollback", "POST", in("/agents/"+id+"/versions/1/rollback"), `{}`, 200)
	a.want(t, map[string]string{"resource_type": "agent", "resource_id": id, "before/version": "2", "after/version": "3"})
	a.step(t, "tools_config.update", "PATCH", in("/agents/"+id+"/tools-config"), `{"disabled_tools":["search_memory"]}`, 200)
	a.want(t, map[string]string{"resource_id": id, "after/disabled_tools": "[search_memory]", "before/disabled_tools": "<nil>"})
	a.step(t, "agent.delete", "DELETE", in("/agents/"+id), "", 204)
	a.want(t, map[string]string{"before/name": "Ada"})
}

func (a *audited) tools(t *testing.T) {
	in := a.Tenant.In
	agent := a.step(t, "agent.create", "POST", in("/agents"), `{"name":"Bob"}`, 201).Text("id")
	id := a.step(t, "tool.create", "POST", in("/tools"), `{"slug":"look","description":"looks","kind":"http",
		"webhook_url":"`+a.URL+`/healthz?token=planted-url-token","headers":{"X-Plain":"planted-plain-header"},
		"hardcoded_query_params":{"k":"planted-query-value"},"hardcoded_body_params":{"p":"planted-body-value"},
		"auth_header":"Bearer planted-auth-header","secret_headers":{"X-Key":"planted-secret-header"}}`, 201).Text("id")
	a.want(t, map[string]string{
		"resource_type": "tool", "after/headers/X-Plain": "[secret]", "after/auth_header": "[secret]", "after/secret_headers/X-Key": "[secret]",
		"after/hardcoded_body_params/p": "[secret]", "after/webhook_url": a.URL + "/healthz?token=***",
	})
	a.step(t, "tool.update", "PATCH", in("/tools/"+id), `{"headers":{"X-Plain":"planted-plain-header","X-New":"planted-plain-header"}}`, 200)
	a.want(t, map[string]string{"after/headers/X-New": "[secret]", "after/headers/X-Plain": "<nil>", "before/headers/X-New": "<nil>"})
	a.step(t, "tool.update", "PATCH", in("/tools/"+id), `{"headers":{"X-Plain":"planted-plain-header-2","X-New":"planted-plain-header"}}`, 200)
	a.want(t, map[string]string{"after/headers/X-Plain": "[secret]", "before/headers/X-Plain": "[secret]", "after/headers/X-New": "<nil>"})
	a.step(t, "tool.run", "POST", in("/tools/"+id+"/run"), `{"args":{"q":"planted argument"}}`, 200)
	a.want(t, map[string]string{"resource_id": id, "after/output_text": "[content]"})
	a.step(t, "tool.attach", "POST", in("/agents/"+agent+"/tools/attach"), `{"tool_id":"`+id+`"}`, 200)
	a.want(t, map[string]string{"resource_id": agent, "after/tool_id": id})
	a.step(t, "tool.detach", "DELETE", in("/agents/"+agent+"/tools/"+id), "", 204)
	a.want(t, map[string]string{"resource_id": id, "parent_id": agent})
	a.step(t, "tool.delete", "DELETE", in("/tools/"+id), "", 204)
}

func (a *audited) outside(t *testing.T) {
	in := a.Tenant.In
	id := a.step(t, "provider_credential.create", "POST", in("/provider-credentials"),
		`{"kind":"model","provider":"openai","base_url":"https://127.0.0.1/v1","api_key":"sk-planted-credential-1"}`, 201).Text("id")
	a.want(t, map[string]string{"resource_type": "provider_credential", "resource_id": id, "after/api_key": "[secret]"})
	a.step(t, "provider_credential.update", "PATCH", in("/provider-credentials/"+id), `{"api_key":"sk-planted-credential-1x"}`, 200)
	a.want(t, map[string]string{"resource_type": "provider_credential", "after/api_key": "[secret]", "after/name": "<nil>"})
	a.step(t, "provider_credential.delete", "DELETE", in("/provider-credentials/"+id), "", 204)
	hook := a.step(t, "webhook_endpoint.create", "POST", in("/webhooks"),
		`{"url":"https://127.0.0.1/hook","headers":{"Authorization":"planted-hook-header"}}`, 201)
	a.want(t, map[string]string{"resource_type": "webhook_endpoint", "after/secret": "[secret]", "after/headers/Authorization": "[secret]"})
	rotated := a.step(t, "webhook_secret.rotate", "POST", in("/webhooks/"+hook.Text("id")+"/rotate-secret"), `{}`, 200)
	a.want(t, map[string]string{
		"resource_type": "webhook_endpoint", "before/secret_hint": hook.Text("secret_hint"), "after/secret_hint": rotated.Text("secret_hint"),
		"after/url": "<nil>",
	})
	a.step(t, "webhook_endpoint.delete", "DELETE", in("/webhooks/"+hook.Text("id")), "", 204)
}

func (a *audited) sources(t *testing.T) {
	in := a.Tenant.In
	base := in("/knowledge-base/sources")
	id := a.step(t, "inline_source.create", "POST", base+"/inline", `{"name":"n","content":"planted source text"}`, 202).Text("id")
	a.want(t, map[string]string{"resource_type": "source", "resource_id": id, "after/size_bytes": "19"})
	const form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n" +
		"planted source text\r\n--b--\r\n"
	file := a.step(t, "source.upload", "POST", base+"/upload", form, 202,
		harness.Header("Content-Type", "multipart/form-data; boundary=b")).Text("id")
	a.want(t, map[string]string{"resource_type": "source", "resource_id": file, "workspace_id": a.Tenant.WorkspaceID, "after/name": "a.txt"})
	a.step(t, "source.download", "GET", base+"/"+file+"/content", "", 200, harness.Key(a.Tenant.Read))
	a.want(t, map[string]string{"resource_id": file, "actor_name": "read", "after": "<nil>"})
	a.step(t, "source.update", "PATCH", base+"/"+id, `{"tags":["x"]}`, 200)
	a.want(t, map[string]string{"after/tags": "[x]"})
	a.step(t, "source.delete", "DELETE", base+"/"+id, "", 204)
	a.want(t, map[string]string{"resource_id": id, "before/name": "n", "before/content": "[content]"})
}

func (a *audited) memory(t *testing.T) {
	base := a.Tenant.In("/users/" + url.PathEscape("ada@example.org") + "/memory")
	id := a.step(t, "memory.add", "POST", base, `{"text":"planted memory text","category":"planted-category"}`, 201).Text("id")
	a.want(t, map[string]string{"resource_type": "memory", "resource_id": id, "after/text": "[content]"})
	hash := fmt.Sprint(a.last(t, "user_hash"))
	if len(hash) != 64 || a.last(t, "after", "user_id") != hash || a.last(t, "parent_id") != hash {
		t.Errorf("the user is recorded as %q, %v and %v", hash, a.last(t, "after", "user_id"), a.last(t, "parent_id"))
	}
	a.step(t, "memory.update", "PATCH", base+"/"+id, `{"text":"planted memory text 2"}`, 200)
	a.want(t, map[string]string{"before/text": "[content]", "after/text": "[content]", "after/category": "<nil>", "user_hash": hash})
	a.step(t, "memory.delete", "DELETE", base+"/"+id, "", 204)
	a.step(t, "memories.delete", "DELETE", base, "", 200)
	a.want(t, map[string]string{"resource_type": "user", "resource_id": hash})
	if got := len(a.entries(t, "user_id="+url.QueryEscape("ada@example.org"))); got != 4 {
		t.Errorf("%d entries are about the user, want 4", got)
	}
	if got := len(a.entries(t, "user_id=somebody")); got != 0 {
		t.Errorf("%d entries are about another user", got)
	}
}

func (a *audited) conversations(t *testing.T) {
	agent := a.step(t, "agent.create", "POST", a.Tenant.In("/agents"), `{"name":"Eve"}`, 201).Text("id")
	before := len(a.entries(t, ""))
	session := func() harness.Response {
		return a.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"ada@example.org","modality":"text",
			"dynamic_variables":{"x":"planted variable"}}`, harness.Key(a.Tenant.Runtime)).Must(t, 201)
	}
	byKey, byToken := session(), session()
	a.Do(t, "POST", "/v1/sessions/"+byKey.Text("id")+"/turns", `{"text":"Hello?"}`, harness.Key(a.Tenant.Runtime)).Must(t, 200)
	a.Do(t, "POST", "/v1/sessions/"+byToken.Text("id")+"/end", `{"status":"completed"}`, harness.Key(byToken.Text("token"))).Must(t, 200)
	a.Do(t, "POST", "/v1/sessions/"+byKey.Text("id")+"/end", `{"status":"completed","reason":"planted end reason"}`,
		harness.Key(a.Tenant.Runtime)).Must(t, 200)
	if after := len(a.entries(t, "")); after != before {
		t.Errorf("a conversation left %d entries", after-before)
	}
	a.step(t, "session.delete", "DELETE", "/v1/sessions/"+byKey.Text("id"), "", 204)
	a.want(t, map[string]string{
		"resource_id": byKey.Text("id"), "workspace_id": a.Tenant.WorkspaceID, "before/status": "completed", "before/end_reason": "[content]",
		"after": "<nil>",
	})
	made := a.step(t, "privacy_request.create", "POST", a.Tenant.In("/privacy/requests"),
		`{"user_id":"ada@example.org","kind":"erasure"}`, 201)
	a.want(t, map[string]string{"resource_id": made.Text("id"), "after/kind": "erasure"})
}

// TestAuditRefusals: a key that lacks the scope leaves an entry, and no change.
func TestAuditRefusals(t *testing.T) {
	t.Parallel()
	a := &audited{Env: harness.Start(t, harness.Options{WithoutWorker: true})}
	restricted := a.NewKey(t, a.Tenant, "operator", a.Tenant.WorkspaceID)
	a.step(t, "agent.create", "POST", a.Tenant.In("/agents"), `{"name":"x"}`, 403, harness.Key(a.Tenant.Read))
	a.want(t, map[string]string{"outcome": "auth-scope", "actor_name": "read", "after": "<nil>"})
	a.step(t, "api_key.create", "POST", "/v1/api-keys", `{"name":"x"}`, 403, harness.Key(restricted))
	a.want(t, map[string]string{"outcome": "auth-scope", "workspace_id": a.Tenant.WorkspaceID})
	before := len(a.entries(t, ""))
	a.Do(t, "POST", a.Tenant.In("/agents"), `{"name":"x"}`, harness.Key("prl_nobody")).Must(t, 401)
	if after := len(a.entries(t, "")); after != before {
		t.Errorf("a caller without a key left %d entries", after-before)
	}
}

// TestAuditOnce: a replayed answer has no second entry, and parallel changes make one chain.
func TestAuditOnce(t *testing.T) {
	t.Parallel()
	a := &audited{Env: harness.Start(t, harness.Options{WithoutWorker: true})}
	a.step(t, "agent.create", "POST", a.Tenant.In("/agents"), `{"name":"once"}`, 201, withKey("k"))
	before := len(a.entries(t, ""))
	again := a.Do(t, "POST", a.Tenant.In("/agents"), `{"name":"once"}`, withKey("k")).Must(t, 201)
	if again.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("the answer was not replayed")
	}
	if after := len(a.entries(t, "")); after != before {
		t.Errorf("a replayed answer left %d entries", after-before)
	}
	const changes = 50
	var running sync.WaitGroup
	for i := range changes {
		running.Go(func() {
			a.Do(t, "POST", a.Tenant.In("/agents"), fmt.Sprintf(`{"name":"agent %d"}`, i)).Must(t, 201)
		})
	}
	running.Wait()
	if count := a.verified(t, a.Tenant.Admin); count != int64(before)+changes+1 { // the export has one as well
		t.Errorf("the chain has %d entries, want %d", count, before+changes+1)
	}
}

// TestAuditReading: filters, pages, and the walls between workspaces and tenants.
func TestAuditReading(t *testing.T) {
	t.Parallel()
	a := &audited{Env: harness.Start(t, harness.Options{WithoutWorker: true})}
	other := a.NewTenant(t, "")
	spare := a.Do(t, "POST", "/v1/workspaces", `{"name":"spare"}`).Must(t, 201).Text("id")
	var agents []string
	for i := range 5 {
		made := a.Do(t, "POST", a.Tenant.In("/agents"), fmt.Sprintf(`{"name":"a%d"}`, i), harness.Key(a.Tenant.Operator)).Must(t, 201)
		agents = append(agents, made.Text("id"))
	}
	a.Do(t, "POST", "/v1/workspaces/"+spare+"/agents", `{"name":"b"}`).Must(t, 201)
	a.Do(t, "DELETE", a.Tenant.In("/agents/"+agents[0]), "").Must(t, 204)
	middle := fmt.Sprint(harness.Path(a.entries(t, "")[3], "at"))
	operator := fmt.Sprint(harness.Path(a.entries(t, "resource_id="+agents[1])[0], "actor_id"))
	for _, row := range []struct {
		query string
		want  int
	}{
		{"", 8},
		{"workspace_id=" + spare, 2},
		{"workspace_id=" + a.Tenant.WorkspaceID, 6},
		{"action=agent.", 7},
		{"action=agent.delete", 1},
		{"action=gent", 0},
		{"action=%25", 0},
		{"resource_id=" + agents[0], 2},
		{"actor=" + operator, 5},
		{"actor=" + operator + "&resource_id=" + agents[0], 1},
		{"since=" + url.QueryEscape(middle), 4},
		{"until=" + url.QueryEscape(middle), 4},
		{"workspace_id=" + other.WorkspaceID, 0},
	} {
		if got := len(a.entries(t, row.query)); got != row.want {
			t.Errorf("%q finds %d entries, want %d", row.query, got, row.want)
		}
	}
	var numbers []any
	for token, first := "", true; first || token != ""; first = false {
		page := a.Do(t, "GET", "/v1/audit-log?page_size=3&page_token="+token, "").Must(t, 200)
		for _, e := range page.List("entries") {
			numbers = append(numbers, harness.Path(e, "number"))
		}
		token = page.Text("next_page_token")
	}
	if got := fmt.Sprint(numbers); got != "[8 7 6 5 4 3 2 1]" {
		t.Errorf("the pages have %s", got)
	}
	mine := a.NewKey(t, a.Tenant, "operator", spare)
	if got := a.Do(t, "GET", "/v1/workspaces/"+spare+"/audit-log", "", harness.Key(mine)).Must(t, 200).List("entries"); len(got) != 2 {
		t.Errorf("the workspace's log has %d entries, want 2", len(got))
	}
	a.Do(t, "GET", a.Tenant.In("/audit-log"), "", harness.Key(mine)).Must(t, 404)
	a.Do(t, "GET", "/v1/audit-log", "", harness.Key(mine)).Must(t, 403)
	a.Do(t, "GET", "/v1/audit-log/export", "", harness.Key(mine)).Must(t, 403)
	a.Do(t, "GET", "/v1/audit-log/export?after_number=x", "").Must(t, 400)
	a.Do(t, "GET", "/v1/audit-log/export?since=x", "").Must(t, 400)
	if got := a.Do(t, "GET", "/v1/audit-log", "", harness.Key(other.Admin)).Must(t, 200).List("entries"); len(got) != 0 {
		t.Errorf("another tenant sees %d entries", len(got))
	}
	if got := a.verified(t, other.Admin); got != 1 { // that of the export
		t.Errorf("another tenant exports %d entries", got)
	}
	tail := a.Do(t, "GET", "/v1/audit-log/export?after_number=7", "").Must(t, 200)
	if !bytes.Contains(tail.Body, []byte(`"number":8`)) || bytes.Contains(tail.Body, []byte(`"number":7`)) {
		t.Errorf("the end of the log is %s", tail.Body)
	}
}
