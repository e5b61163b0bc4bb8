// Package conversation is sessions: who may talk to an agent, the turns that were taken, and
// the core that takes them.
//
//	           first connection or turn            end, end_call, hang_up, no_turns,
//	                                               idle_timeout, max_duration, disconnected
//	pending ──────────────────────────► in_progress ──────────────────────────► completed
//	   │                                     │
//	   │ expired; ended by the API           └── ended by the API as failed; internal_error ──► failed
//	   └──────────────────────────────────────────────────────────────────────────► failed
//
// A turn is written down before it is answered and is finished in one transaction:
//
//	in_progress ──► completed | cancelled (keeps what was sent) | failed
//
// # Who holds what
//
// The rows of Postgres are the session. A turn runs wherever it was asked for, by the holder
// of the session's turn lease (running_turn_id, running_until), so the turns of one session are
// strictly serial on any number of nodes, for sockets and HTTP alike. What is live about a
// session, its sockets and the answer that is going out, belongs to one engine on the node, which takes
// one message at a time (inbox.go); sockets talk to it through a [Live].
//
// A socket that is lost leaves its [Live] behind (away.go), and the answer goes on. A turn whose node is
// lost is wanted again, and an answer that another node gives is watched (lost.go); one without a socket is
// answered again where it is followed (again.go).
//
// # How an end travels
//
// Every end, replacement and cancellation is announced with NOTIFY on [Channel] inside the
// transaction that makes it true, and each node listens (Run). Decisions speak of Redis here;
// NOTIFY is transactional (nobody is told of an end that was rolled back), it needs no second
// write that could be lost between commit and publish, and it works while Redis is away. A node
// that lost its listening connection looks at its sessions itself when it is back, and the
// heartbeats look too.
//
// Closing is one transaction: the row, turns that nobody finished, and post_call_transcription,
// which is therefore appended exactly once, after the last turn. While a turn runs elsewhere an
// end is first written down as wanted (ending_*); the runner records its turn as cancelled and
// closes the session in the same transaction. A runner that does not is overtaken after [EndGrace].
//
// # Calls
//
// Calls of one round run side by side and keep their order. One that is not idempotent outlives a
// cancelled answer (late.go); a client's ends the answer and waits in its turn's row for the result
// (clientcalls.go); one that needs approval asks first, on sockets and over HTTP (approval.go). Every call has a
// result in the transcript, if only "unknown".
//
// # Analysis
//
// When the agent asks for it, closing a session makes it wait for its analysis (analysis.go) instead of
// announcing it; a worker asks the agent's model (analyse.go), and the end is announced in the transaction
// that writes down what it said, or that it failed, or, by the sweep, that it did not come in time.
//
// When the agent has memory, the same task looks for what is to be remembered of the user (learn.go), and the
// prompt of each turn has what is (recall.go).
//
// Events: post_call_transcription. Tables: sessions, session_connections, turns, call_approvals, signing_keys, session_analyses.
//
// It does not parse frames (server/realtime), find passages (knowledge) or call endpoints (tools).
package conversation
