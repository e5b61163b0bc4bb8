package insights_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/workspaces"
)

// work makes work of every kind and state. ?0 is the tenant, ?1 the workspace, ?2 the present time.
var work = []string{
	`INSERT INTO events (tenant_id, event_id, workspace_id, type, body, created_at, relayed_at)
VALUES (?0, 'e1' || ?0, ?1, 'usage.threshold', '', ?2::timestamptz - interval '9 minutes', NULL),
       (?0, 'e2' || ?0, ?1, '_source.queued', '', ?2::timestamptz - interval '8 minutes', NULL),
       (?0, 'e3' || ?0, ?1, '_source.queued', '', ?2::timestamptz - interval '10 minutes', ?2)`,
	`INSERT INTO sources (id, tenant_id, workspace_id, name, kind, media_type, size_bytes, sha256, blob_key, status, error_code, due_at,
    created_at, updated_at)
SELECT 'src_' || n || ?0, ?0, ?1, 'n', 'inline', 'text/plain', 1, '', '', s.status, s.code, ?2::timestamptz - s.age, ?2,
    ?2::timestamptz - s.age
FROM (VALUES (1, 'queued', '', interval '7 minutes'), (2, 'queued', 'retrying', interval '-1 minute'),
    (3, 'processing', '', interval '1 hour'), (4, 'ready', '', interval '1 hour'),
    (5, 'failed', 'internal', interval '6 days'), (6, 'failed', 'internal', interval '8 days'))
    AS s (n, status, code, age)`,
	`INSERT INTO webhook_endpoints (id, tenant_id, workspace_id, url, events, status, secret, secret_hint, created_at, updated_at)
VALUES ('we_' || ?0, ?0, ?1, 'https://x', '{}', 'enabled', '', '', ?2, ?2)`,
	`INSERT INTO webhook_deliveries (tenant_id, workspace_id, endpoint_id, event_id, event_type, test_body, event_seq, status, attempt,
    next_at, lease_until, created_at)
SELECT ?0, ?1, 'we_' || ?0, 'd' || s.n, 't', CASE WHEN s.n = 8 THEN ''::bytea END,
    CASE WHEN s.n <> 8 THEN (SELECT min(seq) FROM events WHERE tenant_id = ?0) END,
    s.status, s.attempt, ?2::timestamptz + s.next, ?2::timestamptz + s.lease, ?2::timestamptz - s.age
FROM (VALUES (1, 'pending', 0, interval '0', NULL::interval, interval '6 minutes'),
    (2, 'pending', 0, interval '0', NULL, interval '5 minutes'), (3, 'pending', 1, interval '0', interval '30 seconds', interval '1 hour'),
    (4, 'pending', 3, interval '1 hour', NULL, interval '1 hour'),
    (5, 'pending', 1, NULL, NULL, interval '1 hour'), (6, 'failed', 11, NULL, NULL, interval '6 days'),
    (7, 'failed', 11, NULL, NULL, interval '8 days'), (8, 'failed', 1, NULL, NULL, interval '1 hour'),
    (9, 'succeeded', 1, NULL, NULL, interval '1 hour')) AS s (n, status, attempt, next, lease, age)`,
	`INSERT INTO callbacks (id, tenant_id, workspace_id, agent_id, user_id, phone_number, timezone, status, created_by, attempts, at, due_at,
    ended_at, created_at, updated_at)
SELECT 'cb_' || s.n || ?0, ?0, ?1, 'a', 'u', '+1', 'UTC', s.status, 'operator', s.attempts, ?2::timestamptz + s.at, ?2::timestamptz + s.at,
    ?2::timestamptz - s.ended, ?2, ?2
FROM (VALUES (1, 'scheduled', 0, interval '-4 minutes', NULL::interval), (2, 'scheduled', 0, interval '1 day', NULL),
    (3, 'scheduled', 1, interval '30 minutes', NULL), (4, 'dialing', 1, interval '-1 minute', NULL),
    (5, 'failed', 3, interval '-9 days', interval '6 days'), (6, 'no_answer', 3, interval '-9 days', interval '6 days'),
    (7, 'failed', 3, interval '-9 days', interval '8 days'), (8, 'completed', 1, interval '-9 days', interval '1 day'))
    AS s (n, status, attempts, at, ended)`,
	`INSERT INTO phone_calls (id, tenant_id, workspace_id, agent_id, user_id, direction, from_number, to_number, status, callback_id, carrier,
    check_at, created_at, ended_at)
VALUES ('call_1' || ?0, ?0, ?1, 'a', 'u', 'outbound', '', '', 'dialing', 'cb_4' || ?0, 'c', ?2, ?2, NULL),
       ('call_2' || ?0, ?0, ?1, 'a', 'u', 'outbound', '', '', 'completed', 'cb_8' || ?0, 'c', ?2, ?2, ?2),
       ('call_3' || ?0, ?0, ?1, 'a', 'u', 'inbound', '', '', 'in_progress', '', 'c', ?2, ?2, NULL)`,
	`INSERT INTO privacy_requests (id, tenant_id, workspace_id, user_id, user_hash, kind, status, requested_by, counts, attempts, due_at,
    created_at, finished_at)
SELECT 'dsr_' || s.n || ?0, ?0, ?1, 'u', '', 'export', s.status, '', '{}', s.attempts, ?2, ?2::timestamptz - interval '3 minutes',
    ?2::timestamptz - s.finished
FROM (VALUES (1, 'queued', 0, NULL::interval), (2, 'queued', 1, NULL), (3, 'processing', 1, NULL), (4, 'failed', 5, interval '6 days'),
    (5, 'failed', 5, interval '8 days'), (6, 'ready', 1, interval '1 day')) AS s (n, status, attempts, finished)`,
	`INSERT INTO sessions (id, tenant_id, workspace_id, agent_id, agent_version, user_id, modality, status, config, overrides,
    voice_stack_override, dynamic_variables, variables_hash, token_expires_at, max_duration_seconds, idle_timeout_seconds, created_at,
    last_activity_at)
SELECT 'ses_' || n || ?0, ?0, ?1, 'a', 1, 'u', 'text', 'pending', '{}', '{}', '{}', '{}', '', ?2, 3600, 60, ?2, ?2
FROM generate_series(1, 6) AS n`,
	`INSERT INTO session_analyses (session_id, tenant_id, workspace_id, status, attempts, error, due_at, deadline_at, created_at, ended_at)
SELECT 'ses_' || s.n || ?0, ?0, ?1, s.status, s.attempts, s.error, ?2, ?2, ?2::timestamptz - interval '2 minutes', ?2::timestamptz - s.ended
FROM (VALUES (1, 'pending', 0, '', NULL::interval), (2, 'pending', 1, '', NULL), (3, 'pending', 1, 'no', NULL),
    (4, 'failed', 2, 'no', interval '6 days'), (5, 'failed', 2, 'no', interval '8 days'), (6, 'done', 1, '', interval '1 day'))
    AS s (n, status, attempts, error, ended)`,
}

// TestBacklog counts work of every kind in every state, of one tenant, not longer than a week after
// it was given up.
func TestBacklog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nothing, err := f.Backlog(t.Context(), f.caller)
	if err != nil || len(nothing) != 6 || nothing[0] != (insights.Work{Kind: "events"}) {
		t.Errorf("of nothing: %+v, %v", nothing, err)
	}
	for _, ref := range []workspaces.Ref{f.ref, f.other} {
		for _, statement := range work {
			f.exec(t, ref, statement)
		}
	}
	got, err := f.Backlog(t.Context(), f.caller)
	if err != nil {
		t.Fatal(err)
	}
	ago := func(minutes int) time.Time { return f.now.Add(-time.Duration(minutes) * time.Minute) }
	want := []insights.Work{
		{Kind: "events", Waiting: 2, OldestAt: ago(9)},
		{Kind: "sources", Waiting: 1, Running: 1, Retrying: 1, Failed: 1, OldestAt: ago(7)},
		{Kind: "deliveries", Waiting: 2, Running: 1, Retrying: 1, Failed: 1, OldestAt: ago(6)},
		{Kind: "callbacks", Waiting: 1, Running: 1, Retrying: 1, Failed: 2, OldestAt: ago(4)},
		{Kind: "privacy", Waiting: 1, Running: 1, Retrying: 1, Failed: 1, OldestAt: ago(3)},
		{Kind: "analyses", Waiting: 1, Running: 1, Retrying: 1, Failed: 1, OldestAt: ago(2)},
	}
	for i := range got {
		got[i].OldestAt = got[i].OldestAt.UTC()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.caller.WorkspaceID = f.ref.ID
	_, err = f.Backlog(t.Context(), f.caller)
	refuses(t, err, fault.AuthScope)
}

// TestQueues: the queues are listed by name with what waits in them, for keys of a whole tenant.
// Without Redis the caller is told so, and the backlog is still counted.
func TestQueues(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	task := queue.Task{Type: "count", ID: "count:1", Queue: queue.Deliver}
	if err := queue.NewClient(f.Redis).Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	got, err := f.Queues(f.caller)
	if err != nil {
		t.Fatal(err)
	}
	var names []queue.Name
	for _, q := range got.Queues {
		names = append(names, q.Name)
		if want := map[bool]int{true: 1}[q.Name == queue.Deliver]; q.Pending != want {
			t.Errorf("%s: %d pending, want %d", q.Name, q.Pending, want)
		}
	}
	want := []queue.Name{queue.Analyse, queue.Call, queue.Default, queue.Deliver, queue.Ingest, queue.Privacy, queue.Sweep}
	if diff := cmp.Diff(want, names); diff != "" || len(got.Workers) != 0 {
		t.Errorf("%d workers, queues (-want +got):\n%s", len(got.Workers), diff)
	}
	restricted := f.caller
	restricted.WorkspaceID = f.ref.ID
	_, err = f.Queues(restricted)
	refuses(t, err, fault.AuthScope)
	away, err := redis.Open(redis.Config{URL: "unix://" + t.TempDir() + "/away"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = away.Close() }() // it was never connected
	f.Redis = away
	_, err = f.Queues(f.caller)
	refuses(t, err, fault.ServiceUnavailable)
	if _, err := f.Backlog(t.Context(), f.caller); err != nil {
		t.Errorf("the backlog without Redis: %v", err)
	}
}
