package audit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/test/audit"
	"parlance.dev/parlance/test/pgtest"
)

// world is rows as an installation leaves them: one of everything, in order.
const world = `
INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES ('ten_1', 'a', 'free', now(), now());
INSERT INTO workspaces (id, tenant_id, name, kb_used_bytes, created_at, updated_at) VALUES ('ws_1', 'ten_1', 'w', 4, now(), now());
INSERT INTO agents (id, tenant_id, workspace_id, name, version, config, created_at, updated_at) VALUES ('agt_1', 'ten_1',
	'ws_1', 'agent_1', 1, '{"instructions":"x"}', now(), now());
INSERT INTO agent_versions (agent_id, version, tenant_id, workspace_id, name, config, created_at) VALUES ('agt_1', 1,
	'ten_1', 'ws_1', 'agent_1', '{"instructions":"x"}', now());
INSERT INTO tombstones (tenant_id, id, deleted_at) VALUES ('ten_1', 'agt_0', now());
INSERT INTO sources (id, tenant_id, workspace_id, name, kind, media_type, size_bytes, sha256, blob_key, status, due_at,
	chunk_count, created_at, updated_at)
	VALUES ('src_1', 'ten_1', 'ws_1', 'source_1', 'inline', 'text/markdown', 4, '', 'ws_1/a', 'ready', now(), 2, now(), now());
INSERT INTO chunks (id, tenant_id, workspace_id, source_id, index, content, token_count, heading, page_start, page_end,
	char_start, char_end, model, embedding)
	SELECT 'chk_' || i, 'ten_1', 'ws_1', 'src_1', i, 'c', 1, '', 0, 0, 0, 1, 'm', '[1]' FROM generate_series(0, 1) AS i;
INSERT INTO sessions (id, tenant_id, workspace_id, agent_id, agent_version, user_id, modality, status, end_reason,
	config, overrides, voice_stack_override, dynamic_variables,
		variables_hash, token_expires_at, turn_count, input_tokens, max_duration_seconds, idle_timeout_seconds, created_at,
			started_at, last_activity_at, ended_at)
	VALUES ('ses_1', 'ten_1', 'ws_1', 'agt_1', 1, 'user_1', 'text', 'completed', 'done', '{}', '{}', '{}', '{}', '',
		now() + interval '1 h', 2, 3, 60, 60, now() - interval '9 s', now() - interval '8 s', now(), now());
INSERT INTO turns (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations,
	input_tokens, metrics, started_at, ended_at, receipt, receipt_hash)
	SELECT 'turn_' || i, 'ten_1', 'ws_1', 'ses_1', i, 'word_' || i, 'yes', 'completed',
		json_build_array(json_build_object('role', 'user', 'item_id', 'item_' || i, 'text', 'word_' || i),
			json_build_object('calls', 'call_' || i)), '[]', i + 1, '{}', now() - interval '7 s', now() - interval '6 s', '{}',
			encode(sha256('{}'), 'hex')
	FROM generate_series(0, 1) AS i;
INSERT INTO tools (id, tenant_id, workspace_id, slug, description, kind, config, created_at, updated_at)
	VALUES ('01890000-0000-7000-8000-000000000001', 'ten_1', 'ws_1', 'tool_1', 'd', 'http', '{}', now(), now());
INSERT INTO tool_attachments (agent_id, tool_id, tenant_id, workspace_id, enabled, max_calls_per_session, created_at, updated_at)
	VALUES ('agt_1', '01890000-0000-7000-8000-000000000001', 'ten_1', 'ws_1', true, 2, now(), now());
INSERT INTO tool_call_counts (tenant_id, session_id, tool_id, calls) VALUES ('ten_1', 'ses_1', '01890000-0000-7000-8000-000000000001', 1);
INSERT INTO tool_calls (id, tenant_id, workspace_id, session_id, turn_id, tool_id, slug, input, output, attempts, started_at)
	VALUES ('call_1', 'ten_1', 'ws_1', 'ses_1', 'turn_1', '01890000-0000-7000-8000-000000000001', 'tool_1', '{}', '', 1, now());
INSERT INTO events (tenant_id, event_id, workspace_id, type, subject, body, created_at, relayed_at, position) VALUES
	('ten_1', 'evt_1', 'ws_1', 'kb.source_ingested', 'src_1', 'one', now(), now(), 1), ('ten_1', 'evt_2', 'ws_1',
		'post_call_transcription', 'ses_1', 'two', now(), now(), 2);
INSERT INTO webhook_endpoints (id, tenant_id, workspace_id, url, events, description, status, secret, secret_hint, created_at, updated_at)
	VALUES ('we_1', 'ten_1', 'ws_1', 'https://hook', '{kb.source_ingested,post_call_transcription}', 'endpoint_1',
		'enabled', '', 'abcd', now(), now());
INSERT INTO webhook_deliveries (tenant_id, workspace_id, endpoint_id, event_id, event_type, event_seq, status, attempt, created_at)
	SELECT 'ten_1', 'ws_1', 'we_1', event_id, type, seq, 'succeeded', 2, now() FROM events;
INSERT INTO webhook_attempts (id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, status_code,
	request_headers, response_headers, started_at)
	SELECT 'dlv_' || d.id || n, 'ten_1', 'ws_1', 'we_1', d.id, n, CASE n WHEN 1 THEN 'failed' ELSE 'succeeded' END,
		CASE n WHEN 1 THEN 500 ELSE 200 END, '{}', '{}', now() + n * interval '1 s'
	FROM webhook_deliveries AS d, generate_series(1, 2) AS n;
INSERT INTO idempotency_keys (tenant_id, caller_id, key_hash, fingerprint, claim_id, answer, created_at, expires_at)
	VALUES ('ten_1', 'key_1', sha256('a'), sha256('a'), 'c', 'a', now(), now() + interval '1 d');
`

// evidence is what customers and endpoints of the world saw.
func evidence(t *testing.T) audit.Evidence {
	t.Helper()
	e := audit.Evidence{DatabaseURL: pgtest.New(t).URL, BlobDir: t.TempDir(), Journal: new(audit.Journal), Faithful: []string{"we_1"}}
	exec(t, e, world)
	writeBlob(t, e, "ws_1/a", "text")
	writeBlob(t, e, ".parts/x", "unfinished")
	for _, entry := range []audit.Entry{
		{Noun: audit.Agent, Verb: audit.Create, ID: "agt_1", Mark: "agent_1", Fields: map[string]string{
			"version":      "1",
			"instructions": "x",
		}},
		{Noun: audit.Agent, Verb: audit.Create, ID: "agt_0", Mark: "agent_0"},
		{Noun: audit.Agent, Verb: audit.Delete, ID: "agt_0", Mark: "agent_0"},
		{Noun: audit.Tool, Verb: audit.Create, ID: "01890000-0000-7000-8000-000000000001", Mark: "tool_1"},
		{Noun: audit.Source, Verb: audit.Create, ID: "src_1", Mark: "source_1", Fields: map[string]string{"size_bytes": "4"}},
		{Noun: audit.Session, Verb: audit.Create, ID: "ses_1", Mark: "user_1", Fields: map[string]string{"status": "open"}},
		{
			Noun: audit.Session, Verb: audit.Update, ID: "ses_1", Mark: "user_1",
			Fields: map[string]string{"status": "completed", "end_reason": "done"},
		},
		{Noun: audit.Turn, Verb: audit.Create, ID: "turn_0", Mark: "word_0", Fields: map[string]string{"text": "yes"}},
		{Noun: audit.Turn, Verb: audit.Create, ID: "turn_1", Mark: "word_1", Fields: map[string]string{"text": "yes"}},
		{Noun: audit.Said, Verb: audit.Create, ID: "item_0", Mark: "word_0"},
		{Noun: audit.Endpoint, Verb: audit.Create, ID: "we_1", Mark: "endpoint_1"},
	} {
		entry.Status, entry.Requests, entry.Keyed = 200, 1, true
		e.Journal.Note(entry)
	}
	for _, event := range []struct{ id, body string }{{"evt_1", "one"}, {"evt_2", "two"}} {
		for _, status := range []int{500, 200} {
			e.Received = append(e.Received, audit.Received{
				URL: "https://hook", EventID: event.id,
				Body: []byte(event.body), Status: status,
			})
		}
	}
	e.Called = []audit.Called{{Method: "POST", IdempotencyKey: "call_1", Body: "{}"}}
	return e
}

func exec(t *testing.T, e audit.Evidence, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), e.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // the statements have been answered
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func writeBlob(t *testing.T, e audit.Evidence, key, content string) {
	t.Helper()
	path := filepath.Join(e.BlobDir, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, e audit.Evidence) audit.Report {
	t.Helper()
	report, err := audit.Check(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestInOrder(t *testing.T) {
	t.Parallel()
	e := evidence(t)
	report := check(t, e)
	if len(report.Findings) > 0 {
		t.Errorf("%s", report)
	}
	for name, n := range report.Checked {
		if n == 0 {
			t.Errorf("nothing was looked at for %q", name)
		}
	}
	if left, err := audit.Unsettled(t.Context(), e.DatabaseURL); err != nil || len(left) > 0 {
		t.Errorf("unsettled: %v, %v", left, err)
	}
}

// violation is one thing that is wrong, and what the auditor calls it.
type violation struct {
	invariant string
	sql       string
	change    func(t *testing.T, e *audit.Evidence)
}

func TestViolations(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, v := range slices.Concat(rowViolations, seenViolations) {
		named[v.invariant] = true
		t.Run(strings.ReplaceAll(v.invariant, " ", "_"), func(t *testing.T) {
			t.Parallel()
			e := evidence(t)
			if v.sql != "" {
				exec(t, e, "SET session_replication_role = replica; "+v.sql) // foreign keys would be in the way
			}
			if v.change != nil {
				v.change(t, &e)
			}
			report := check(t, e)
			found := slices.ContainsFunc(report.Findings, func(f string) bool { return strings.HasPrefix(f, v.invariant+": ") })
			if !found {
				t.Errorf("%s%v is not found: %s", v.sql, v.change != nil, report)
			}
		})
	}
	for name := range check(t, evidence(t)).Checked {
		if !named[name] {
			t.Errorf("no violation of %q is planted", name)
		}
	}
}
