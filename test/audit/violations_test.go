package audit_test

import (
	"testing"

	"parlance.dev/parlance/test/audit"
)

// rowViolations are made in the database.
var rowViolations = []violation{
	{invariant: "the outbox is empty", sql: `UPDATE events SET relayed_at = NULL WHERE event_id = 'evt_1'`},
	{invariant: "public events have places in the feed, each its own", sql: `UPDATE events SET position = 1`},
	{invariant: "public events have places in the feed, each its own", sql: `UPDATE events SET position = NULL WHERE event_id = 'evt_1'`},
	{invariant: "deliveries agree with their attempts", sql: `UPDATE webhook_attempts SET attempt = 3 WHERE attempt = 2`},
	{invariant: "deliveries agree with their attempts", sql: `DELETE FROM webhook_attempts WHERE attempt = 1`},
	{invariant: "no attempt is left open", sql: `UPDATE webhook_attempts SET status = 'pending' WHERE attempt = 1`},
	{invariant: "deliveries end as their attempts did", sql: `UPDATE webhook_deliveries SET status = 'failed'`},
	{invariant: "what is pending is due", sql: `UPDATE webhook_deliveries SET status = 'pending'`},
	{invariant: "nothing is sent again after a success", sql: `UPDATE webhook_attempts SET status = 'succeeded'`},
	{invariant: "sources have come to an end", sql: `UPDATE sources SET status = 'processing', heartbeat_at = now()`},
	{invariant: "good sources do not fail", sql: `UPDATE sources SET status = 'failed'`},
	{invariant: "a source has one set of chunks, without a gap", sql: `DELETE FROM chunks WHERE index = 0`},
	{invariant: "a source has one set of chunks, without a gap", sql: `UPDATE chunks SET index = 2 WHERE index = 1`},
	{invariant: "a source has one set of chunks, without a gap", sql: `UPDATE chunks SET model = 'n' WHERE index = 1`},
	{invariant: "a ready source has been announced, once", sql: `DELETE FROM events WHERE event_id = 'evt_1'`},
	{invariant: "a ready source has been announced, once", sql: `UPDATE events SET type = 'kb.source_ingested', subject = 'src_1'`},
	{invariant: "storage is counted right", sql: `UPDATE workspaces SET kb_used_bytes = 5`},
	{invariant: "what is stored is not held for any more", sql: `INSERT INTO upload_holds VALUES ('ws_1/a', 'ten_1', 'ws_1', 1, now())`},
	{invariant: "sessions are in states they can be in", sql: `UPDATE sessions SET end_reason = ''`},
	{invariant: "sessions are in states they can be in", sql: `UPDATE sessions SET started_at = created_at - interval '1 s'`},
	{
		invariant: "no session is owned by the dead",
		sql:       `UPDATE sessions SET running_turn_id = 'turn_1', running_until = now() - interval '1 min'`,
	},
	{
		invariant: "closed sessions have no socket",
		sql:       `INSERT INTO session_connections VALUES ('ses_1', 'chat', 'ten_1', 1, 'n', now(), now())`,
	},
	{invariant: "turns are counted right and stand in order", sql: `UPDATE sessions SET turn_count = 3`},
	{invariant: "turns are counted right and stand in order", sql: `UPDATE turns SET index = 2 WHERE index = 1`},
	{invariant: "tokens are counted right", sql: `UPDATE sessions SET input_tokens = 4`},
	{
		invariant: "tokens are counted right",
		sql: `INSERT INTO session_analyses (session_id, tenant_id, workspace_id, status, due_at, deadline_at,
			input_tokens, created_at, ended_at) VALUES ('ses_1', 'ten_1', 'ws_1', 'done', now(), now(), 1, now(), now())`,
	},
	{
		invariant: "no analysis waits beyond its time",
		sql: `INSERT INTO session_analyses (session_id, tenant_id, workspace_id, status, due_at, deadline_at, created_at)
			VALUES ('ses_1', 'ten_1', 'ws_1', 'pending', now(), now() - interval '1 min', now())`,
	},
	{invariant: "turns are finished where nobody runs them", sql: `UPDATE turns SET status = 'in_progress'`},
	{invariant: "a finished turn has a receipt that nobody has changed", sql: `UPDATE turns SET receipt = NULL`},
	{invariant: "a finished turn has a receipt that nobody has changed", sql: `UPDATE turns SET receipt = '{ }'`},
	{invariant: "a conversation's end is announced once, after its last turn", sql: `DELETE FROM events WHERE event_id = 'evt_2'`},
	{
		invariant: "a conversation's end is announced once, after its last turn",
		sql:       `UPDATE events SET type = 'post_call_transcription', subject = 'ses_1'`,
	},
	{
		invariant: "a conversation's end is announced once, after its last turn",
		sql:       `UPDATE events SET created_at = created_at - interval '1 min'`,
	},
	{invariant: "tool calls are counted right", sql: `UPDATE tool_call_counts SET calls = 0`},
	{invariant: "traces belong to calls of their turn", sql: `UPDATE tool_calls SET id = 'call_9'`},
	{invariant: "an agent is its newest version, and none is missing", sql: `UPDATE agents SET version = 2`},
	{invariant: "an agent is its newest version, and none is missing", sql: `UPDATE agents SET config = '{}'`},
	{invariant: "every id that a row names exists", sql: `DELETE FROM tools`},
	{invariant: "every id that a row names exists", sql: `DELETE FROM sessions`},
	{invariant: "the buried are gone", sql: `INSERT INTO tombstones VALUES ('ten_1', 'src_1', now())`},
	{invariant: "no request with a key is left without an answer", sql: `UPDATE idempotency_keys SET answer = NULL, lease_until = now()`},
	{invariant: "a tool is not called more often than its cap", sql: `UPDATE tool_call_counts SET calls = 3`},
	{
		invariant: "every event has its delivery to every endpoint that was for it",
		sql:       `DELETE FROM webhook_attempts; DELETE FROM webhook_deliveries WHERE event_id = 'evt_2'`,
	},
	{
		invariant: "nothing is there that nobody asked for",
		sql:       `INSERT INTO agents SELECT 'agt_2', tenant_id, workspace_id, 'stranger', 1, config, now(), now() FROM agents`,
	},
	{
		invariant: "nothing is there twice",
		sql:       `INSERT INTO agents SELECT 'agt_2', tenant_id, workspace_id, name, 1, config, now(), now() FROM agents`,
	},
	{invariant: "every answered write is there", sql: `DELETE FROM sources`},
	{invariant: "every answered write is there", sql: `DELETE FROM turns WHERE index = 1`},
	{invariant: "it is as the last answer said", sql: `UPDATE turns SET agent_text = 'no' WHERE index = 1`},
	{invariant: "it is as the last answer said", sql: `UPDATE sessions SET end_reason = 'other'`},
	{invariant: "what was answered as deleted is gone and buried", sql: `DELETE FROM tombstones`},
	{
		invariant: "what was answered as deleted is gone and buried",
		sql:       `INSERT INTO agents SELECT 'agt_0', tenant_id, workspace_id, 'agent_0', 1, config, now(), now() FROM agents`,
	},
	{invariant: "what a socket acknowledged is in a turn, once", sql: `UPDATE turns SET messages = '[]'`},
}

// seenViolations are made in what customers and endpoints saw, or in the bucket.
var seenViolations = []violation{
	{invariant: "customers saw nothing contradictory", change: func(_ *testing.T, e *audit.Evidence) { e.Journal.Complain("two answers") }},
	{invariant: "nothing is there twice", change: func(_ *testing.T, e *audit.Evidence) { // refused, and yet done
		e.Journal.Note(audit.Entry{Noun: audit.Tool, Verb: audit.Create, Mark: "tool_2", Status: 409, Requests: 2, Keyed: true})
		e.Journal.Note(audit.Entry{Noun: audit.Agent, Verb: audit.Create, Mark: "agent_1", Status: 409, Requests: 2, Keyed: true})
		*e = reversed(*e)
	}},
	{invariant: "endpoints receive what they can believe, and the bytes that are stored", change: func(_ *testing.T,
		e *audit.Evidence,
	) {
		e.Received[0].Body = []byte("other")
	}},
	{invariant: "endpoints receive what they can believe, and the bytes that are stored", change: func(_ *testing.T,
		e *audit.Evidence,
	) {
		e.Received[0].Err = errSignature{}
	}},
	{invariant: "a success that is recorded was answered so", change: func(_ *testing.T, e *audit.Evidence) { e.Received[1].Status = 500 }},
	{invariant: "a success that was answered is recorded, or its attempt as unknown", change: func(_ *testing.T,
		e *audit.Evidence,
	) {
		e.Received[0].Status = 200
	}},
	{invariant: "an endpoint gets no more requests than there are attempts", change: func(_ *testing.T,
		e *audit.Evidence,
	) {
		e.Received = append(e.Received, e.Received[0])
	}},
	{invariant: "a tool is called only as a turn says, once a call", change: func(_ *testing.T,
		e *audit.Evidence,
	) {
		e.Called[0].IdempotencyKey = "call_8"
	}},
	{invariant: "a tool is called only as a turn says, once a call", change: func(_ *testing.T,
		e *audit.Evidence,
	) {
		e.Called = append(e.Called, e.Called[0])
	}},
	{invariant: "what rows name is in the bucket, with the bytes they say", change: func(t *testing.T,
		e *audit.Evidence,
	) {
		writeBlob(t, *e, "ws_1/a", "tex")
	}},
	{invariant: "what no row names is watched, to be swept", change: func(t *testing.T,
		e *audit.Evidence,
	) {
		writeBlob(t, *e, "ws_1/b", "lost")
	}},
	{invariant: "what no row names is watched, to be swept", sql: `INSERT INTO stray_blobs VALUES ('ws_1/a', now(), false)`},
}

type errSignature struct{}

func (errSignature) Error() string { return "the signature does not match" }

// reversed has the journal's entries the other way round, so that the refusal comes first.
func reversed(e audit.Evidence) audit.Evidence {
	entries := e.Journal.Entries()
	e.Journal = new(audit.Journal)
	for i := range entries {
		e.Journal.Note(entries[len(entries)-1-i])
	}
	return e
}
