package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// handbook is what the recorded agent knows.
const handbook = "# Handbook\n\n## Refunds\n\nA refund is paid within fourteen days after the parcel has come back.\n"

// empty are the tables that a quiet installation has no rows in: each with its reason.
var empty = map[string]string{
	"session_connections":   "the sockets that are open now",
	"stray_blobs":           "files that wait for their deletion",
	"deleted_calls":         "calls that are being hung up",
	"source_pages":          "pages read by OCR of sources that are at work now",
	"staged_vectors":        "vectors of sources that are at work now",
	"next_vectors":          "vectors of a model that does not answer yet",
	"source_reembeddings":   "sources that another model is embedding now",
	"vector_indexes":        "for workspaces of a million chunks",
	"upload_holds":          "the uploads that are under way now",
	"memory_embeddings_due": "memories that wait for their vector",
	"webhook_flights":       "deliveries that are under way now",
	"event_feed_floors":     "what retention has deleted",
	"billing_meters":        "usage that is reported to Stripe",
	"billing_meter_events":  "usage that waits for Stripe",
	"billing_meter_runs":    "reports of usage to Stripe",
	"bun_migration_locks":   "not used: an advisory lock takes its place",
}

// recordVersion fills a new installation and writes down what it is and says.
func recordVersion(t *testing.T, version string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(testdata, "master.key")); errors.Is(err, os.ErrNotExist) {
		if err := errors.Join(os.MkdirAll(testdata, 0o755), seal.NewMasterKeyFile(filepath.Join(testdata,
			"master.key"))); err != nil {
			t.Fatal(err)
		}
	}
	hook := receiver.New(t)
	e := harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_MASTER_KEY_FILE": masterKey(t), "PARLANCE_EGRESS_CA_FILE": hook.CAFile(t),
	}})
	r := recorder{t: t, Env: e, is: Recording{
		Version: version, Key: e.Tenant.Admin, WorkspaceID: e.Tenant.WorkspaceID,
		ToolSecret: "Bearer recorded-secret", Answers: map[string]json.RawMessage{},
	}}
	r.fill(hook)
	r.ask()
	for table, rows := range e.Counts(t) {
		if _, known := empty[table]; rows == 0 && !known {
			t.Errorf("the table %s is empty: let fill make a row, or say in empty why there is none", table)
		}
	}
	if t.Failed() {
		return
	}
	r.write(version)
}

// recorder fills an installation through its API.
type recorder struct {
	*harness.Env
	t  *testing.T
	is Recording
	// paths are what is asked at the end.
	paths []string
}

// made makes something and notes its path; the answer is its resource.
func (r *recorder) made(path string, body any) harness.Response {
	r.t.Helper()
	answer := r.Do(r.t, http.MethodPost, path, body, harness.Header("Idempotency-Key", fmt.Sprintf("recorded-%d", len(r.paths))))
	if answer.Status >= http.StatusMultipleChoices {
		r.t.Fatalf("POST %s answered %d %s", path, answer.Status, answer.Body)
	}
	r.paths = append(r.paths, path)
	if id := answer.Text("id"); id != "" {
		r.paths = append(r.paths, path+"/"+id)
	}
	return answer
}

// fill makes one of everything.
func (r *recorder) fill(hook *receiver.Receiver) {
	r.t.Helper()
	in, endpoint := r.Tenant.In, httptool.New(r.t)
	agent := r.made(in("/agents"), map[string]any{"name": "Ada", "instructions": "Answer from the handbook.", "language": "en"})
	r.is.AgentID = agent.Text("id")
	at := in("/agents/" + r.is.AgentID)
	r.Do(r.t, http.MethodPatch, at, map[string]any{"first_message": "Hello {{name}}!"}).Must(r.t, http.StatusOK)
	r.paths = append(r.paths, at+"/versions", at+"/tools", at+"/knowledge-base")

	secret := r.made(in("/webhooks"), map[string]any{
		"url": hook.URL, "events": []string{"post_call_transcription", "kb.source_ingested"}, "description": "recorded",
	}).Text("secret")
	hook.Expect(secret)
	tool := r.made(in("/tools"), map[string]any{
		"slug": "order_status", "description": "Tells where an order is.", "kind": "http", "webhook_url": endpoint.URL + "/orders",
		"auth_header": r.is.ToolSecret, "input_schema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"order": map[string]any{"type": "string"}},
		},
	})
	r.is.ToolID = tool.Text("id")
	r.made(at+"/tools/attach", map[string]any{"tool_id": r.is.ToolID, "max_calls_per_session": 3})
	remote := mcpserver.New(r.t)
	remote.Tool("stock", "Tells how many there are.", `{"type":"object",`+
		`"properties":{"item":{"type":"string"}}}`, mcpserver.Text("Seven."))
	shelves := r.made(in("/tools"), map[string]any{
		"slug": "shelves", "description": "The shop's shelves.",
		"kind": "mcp", "mcp_server_url": remote.URL,
	})
	r.made(at+"/tools/attach", map[string]any{"tool_id": shelves.Text("id")})
	r.made(in("/provider-credentials"), map[string]any{
		"kind": "tts", "provider": "openai", "name": "recorded", "base_url": "https://speech.example/v1", "api_key": "recorded-key",
	})

	source := r.made(in("/knowledge-base/sources/inline"), map[string]any{"name": "handbook.md", "content": handbook})
	r.paths = slices.DeleteFunc(r.paths, func(path string) bool { return strings.Contains(path, "/sources/inline") })
	sources := in("/knowledge-base/sources")
	r.paths = append(r.paths, sources, sources+"/"+source.Text("id"), sources+"/"+source.Text("id")+"/chunks")
	harness.Await(r.t, harness.Patience, "the source is ready", func() bool {
		return r.Do(r.t, http.MethodGet, sources+"/"+source.Text("id"), nil).Text("status") == "ready"
	})
	r.made(at+"/knowledge-base/attach", map[string]any{"source_ids": []string{source.Text("id")}})
	r.made(in("/knowledge-base/evaluations"), map[string]any{
		"agent_id": agent.Text("id"), "name": "recorded",
		"questions": []any{map[string]any{"q": "When is the museum open?", "source_names": []string{"handbook.md"}}},
	})
	r.talk()
	r.made(in("/users/ada/memory"), map[string]any{"text": "Ordered a green lamp.", "tags": []string{"order"}})
	for _, statement := range []string{"My name is Ada.", "My name is Ada Lovelace."} { // the first is history
		r.made(in("/users/ada/memory"), map[string]any{"kind": "statement", "text": statement})
	}
	r.paths = append(r.paths, in("/users"), in("/users/ada"), in("/users/ada/memory?status=superseded"))
	gone := r.Do(r.t, http.MethodPost, in("/agents"), map[string]any{"name": "Gone"}).Must(r.t, http.StatusCreated)
	r.Do(r.t, http.MethodDelete, in("/agents/"+gone.Text("id")), nil).Must(r.t, http.StatusNoContent)
	r.paths = append(r.paths, "/v1/workspaces", in(""), "/v1/api-keys", in("/events"))
	harness.Await(r.t, harness.Patience, "both events have arrived", func() bool { return len(hook.Requests()) >= 2 })
	harness.Await(r.t, harness.Patience, "both deliveries are written down", func() bool {
		return harness.Rows[int](r.t, r.Env, "SELECT count(*) FROM webhook_attempts WHERE status = 'succeeded'")[0] >= 2
	})
}

// talk holds a conversation with a tool call and ends it.
func (r *recorder) talk() {
	r.t.Helper()
	session := r.Do(r.t, http.MethodPost, "/v1/sessions", map[string]any{
		"agent_id": r.is.AgentID, "user_id": "ada", "modality": "text",
		"dynamic_variables": map[string]string{"name": "Ada", "secret__pin": "recorded-pin"},
	}).Must(r.t, http.StatusCreated)
	at := "/v1/sessions/" + session.Text("id")
	for _, text := range []string{
		"How long does a refund take?", `/tool order_status {"order":"17"}`,
		`/tool shelves__stock {"item":"tea"}`,
	} {
		r.Do(r.t, http.MethodPost, at+"/turns", map[string]any{"text": text}).Must(r.t, http.StatusOK)
	}
	r.Do(r.t, http.MethodPost, at+"/end", map[string]any{"status": "completed"}).Must(r.t, http.StatusOK)
	// What a model would have found out, of which there is none here.
	for _, kind := range []string{"analysis", "extraction"} {
		r.Exec(r.t, `INSERT INTO session_analyses (session_id, tenant_id, workspace_id, kind, status, due_at, deadline_at,
			result, created_at, ended_at)
			VALUES ($1, $2, $3, $4, 'done', now(), now(), '{"summary":"Ada asked."}', now(), now())`, session.Text("id"),
			r.Tenant.ID, r.Tenant.WorkspaceID, kind)
	}
	r.Exec(r.t, `INSERT INTO session_summaries (session_id, tenant_id, workspace_id, text, turns, updated_at)
		VALUES ($1, $2, $3, 'Ada asked.', 1, now())`,
		session.Text("id"), r.Tenant.ID, r.Tenant.WorkspaceID)
	// And a call that somebody allowed: no tool here asks.
	r.Exec(r.t, `INSERT INTO call_approvals (id, tenant_id, workspace_id, session_id, turn_id, slug, arguments, status,
		decided_by, created_at, expires_at, decided_at)
		SELECT 'call_recorded', t.tenant_id, t.workspace_id, t.session_id, t.id, 'order_status', '{"order":"17"}', 'approved',
			t.session_id, now(), now() + interval '1 minute', now()
		FROM turns AS t WHERE t.session_id = $1 AND t.index = 1`, session.Text("id"))
	r.paths = append(r.paths, "/v1/sessions", at, at+"/transcript", at+"/tool-calls", at+"/approvals")
}

// ask notes what the API answers to each path.
func (r *recorder) ask() {
	r.t.Helper()
	slices.Sort(r.paths)
	for _, path := range slices.Compact(r.paths) {
		answer := r.Do(r.t, http.MethodGet, path, nil)
		switch answer.Status {
		case http.StatusOK:
			r.is.Answers[path] = answer.Body
		case http.StatusMethodNotAllowed, http.StatusNotFound: // what is made is not always what is read
			r.t.Logf("GET %s answers %d: not recorded", path, answer.Status)
		default:
			r.t.Errorf("GET %s answers %d %s", path, answer.Status, answer.Body)
		}
	}
}

// write dumps the database and puts the recording beside it.
func (r *recorder) write(version string) {
	r.t.Helper()
	found, err := devstack.Inspect(r.t.Context(), devstack.Options{DataDir: r.t.TempDir()})
	if err != nil {
		r.t.Fatal(err)
	}
	dump, err := exec.CommandContext(r.t.Context(), filepath.Join(found.Postgres.BinDir, "pg_dump"),
		"--inserts", "--no-owner", "--no-privileges", libpq(r.t, r.DatabaseURL)).Output()
	if err != nil {
		r.t.Fatalf("pg_dump: %v", err)
	}
	// psql's own commands mean nothing to the server.
	lines := slices.DeleteFunc(strings.SplitAfter(string(dump), "\n"), func(line string) bool { return strings.HasPrefix(line, `\`) })
	encoded, err := json.MarshalIndent(r.is, "", " ")
	if err != nil {
		r.t.Fatal(err)
	}
	blobs := filepath.Join(testdata, version+".blobs")
	err = errors.Join(
		os.WriteFile(filepath.Join(testdata, version+".sql"), []byte(strings.Join(lines, "")), 0o644),
		os.WriteFile(filepath.Join(testdata, version+".json"), append(encoded, '\n'), 0o644),
		os.RemoveAll(blobs),
		os.CopyFS(blobs, os.DirFS(r.BlobDir)),
	)
	if err != nil {
		r.t.Fatal(err)
	}
}

// libpq is a URL without the parameters that only pgx knows.
func libpq(t *testing.T, databaseURL string) string {
	t.Helper()
	parsed, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	query := parsed.Query()
	for name := range query {
		if strings.HasPrefix(name, "pool_") || strings.HasPrefix(name, "default_query_") {
			query.Del(name)
		}
	}
	parsed.RawQuery = query.Encode()
	return parsed.String()
}
