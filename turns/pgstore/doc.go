// Package pgstore keeps turns in Postgres: it is the implementation of turns.Store.
//
// A verb that each turn uses is one pipeline, that is one transaction in one round trip, that knows
// every case and changes nothing when the session does not allow it. A diagnosis then reads the
// session and says why, or removes what is in the way and has the pipeline tried again:
//
//	Begin   lock the session, take its lease, store or read the turn, read history and tools
//	Finish  lock the session, write the turn's end, count it in the session, give the lease back
//
// The bound on the server's time in a turn (docs/benchmarks.md) is why these two are pipelines.
// What happens in few turns is a transaction behind them that is safe to repeat: the end of the
// session, results of a client that came in while the turn ran, the failure of a session whose last
// turns failed.
//
// Tables: turns, sessions (the lease, the counters), session_summaries (read only). Events and
// notifications are those of package sessions.
package pgstore
