// Package turns takes turns: it stores what the user said, has the model answer, runs the tools
// that the model calls, and stores what was said.
//
//	accept ──► begin ──► prompt ──► model ──► finish
//	                        ▲         │ calls (at most eight rounds)
//	                        └─ tools ◄┘
//
// A turn is stored before it is answered, and finished in one transaction:
//
//	in_progress ──► completed | cancelled (keeps what was sent) | failed
//
// A turn runs on the node where it was asked for, which holds the session's turn lease and renews
// it. Package sessions describes the lease and what becomes of a turn whose node is lost. A turn
// that was asked for over HTTP is followed through its row: the caller may hang up, and any node
// can follow the turn or resume it.
//
// # Calls
//
// The calls of one round run side by side and keep their order. A call that is not idempotent goes
// on when its answer is cancelled, and its result is stored when it comes. A call of the client
// ends the answer and waits in its turn's row for the result. A call that needs approval asks
// first, on sockets and over HTTP. Package guards blocks calls that a document may have dictated.
// Every call has a result in the transcript in the end, which may be "unknown".
//
// # While Postgres is away
//
// A session on a socket continues: its node keeps the turns on disk, in a journal, and writes them
// to Postgres when it is back. The sockets are told with turn.persistence_failed. A node that
// starts on the same disk replays what an earlier process left, before anything declares those
// turns lost. Everything else is refused as unavailable.
//
// A node that is told to stop finishes its turns. Those that are not over when its time is, it
// leaves as if it had been lost: they are resumed elsewhere.
//
// Events: none; package analysis announces the end of a session. Tables: turns, call_approvals and
// the columns of the lease in sessions, all of which belong to package sessions.
//
// The package does not know sockets (package live), find passages (package knowledge) or call
// endpoints (package tools). It has some 5,000 lines because the steps of a turn are methods of one
// Runner: each reads and changes what the turn has so far.
package turns
