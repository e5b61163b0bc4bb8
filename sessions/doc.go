// Package sessions holds what a session is: who may talk to an agent, when that begins and ends,
// and the record of its turns.
//
//	         first connection or turn            end, end_call, hang_up, no_turns,
//	                                             idle_timeout, max_duration, disconnected
//	pending ────────────────────────► in_progress ──────────────────────────► completed
//	   │                                   │
//	   │ expired; ended by the API         └── ended by the API as failed; internal_error ─► failed
//	   └───────────────────────────────────────────────────────────────────────► failed
//
// A turn is in_progress until it is completed, cancelled (it keeps what was sent) or failed. Its
// end is written with its receipt, in one statement.
//
// # Leases
//
// The rows of Postgres are the session. A node runs a turn while it holds the session's turn lease
// (running_turn_id, running_until), so the turns of a session run one after the other on any number
// of nodes. A node that stops renewing its lease loses the turn:
//
//	running ──lease expired──► to be resumed ──► running (as another response, on the client's node)
//	   │                             │
//	   │ over HTTP                   └── more than two nodes were lost ──► failed
//	   └──► waits for a caller ──► running, where a caller follows the turn or repeats its request
//	                   └── no caller within ten seconds ──► failed
//
// The results of its calls are kept. A call without a result gets the result "unknown", because it
// may have been made. While Postgres is unavailable no node can renew its leases, so an expired
// lease proves nothing, and Sweep does nothing.
//
// # Ends
//
// One transaction closes a session: it writes the session's row and the turns that no node
// finished, deletes the rows of sockets, and calls the functions of OnEnd. While a turn runs,
// an end is first recorded (ending_at, ending_status, ending_reason). The runner records its turn
// as cancelled and closes the session in the same transaction. When it does not, Sweep or the
// caller closes the session after [EndGrace].
//
// Nodes notify each other of ends, replaced sockets and cancelled turns with NOTIFY on
// [NotifyChannel], inside the transaction of the change. The decisions name Redis here. NOTIFY is
// transactional: no node is notified of a change that was rolled back, no second write can be lost
// after the commit, and notices work while Redis is unavailable.
//
// # Order of items
//
// The transcript has all items, in the order of time. The model reads the messages in the order
// that clients chose (Message.After), without removed items, and of truncated items only the part
// that was played (Session.ItemEdits).
//
// Tables: sessions, session_connections, turns, call_approvals. Events: none; package
// analysis announces the end.
//
// The package does not take turns (package turns), talk to sockets (package live) or judge what was
// said (package analysis). It has some 5,000 lines because a session, its turns and their receipts
// are one record: they are locked together, and each refers to the types of the others.
package sessions
