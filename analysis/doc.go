// Package analysis examines sessions that have ended, and announces their ends.
//
// The agent's model answers two questions about a session, each in a task of its own: how it went
// ([Judging], when the agent's configuration enables analysis), and what is worth remembering of
// its user ([Learning], when the agent has memory). Package sessions calls the service in the
// transaction that closes a session:
//
//	closed ── nothing to examine ─────────────────────────────► post_call_transcription
//	   └──► pending ──► done | failed | none, for each kind ──────────────┘
//
// The event is appended in the transaction in which the last kind leaves pending. Its id is made
// from the session's, so it is appended once. A worker tries an analysis up to three times; Sweep
// fails what is still pending after [Deadline], whatever happened to the workers, and announces the
// end without it.
//
// The transcript is data for the model: it is fenced, and the answer is checked against the agent's
// criteria and types before it is stored.
//
// Event: post_call_transcription; _session.analysis_wanted starts the tasks. Table:
// session_analyses.
//
// The package does not decide when a session ends (package sessions) and does not store memories
// (package memory).
package analysis
