// Package journal keeps turns on this node's disk while Postgres is away, and replays them when it
// is back. A Journal is a decorator of a turns.Store and the turns.Database of the service; nothing
// else knows that there is one.
//
//	online ──Postgres does not answer──► offline ──all is replayed, no offline turn runs──► online
//
// A session that is live on this node goes on offline: its turns are answered from the session
// cache (configuration, earlier turns, tools, variables, provider), without passages and without
// tools whose number of calls is bounded; the model is told. Each record says how something stands
// (a running turn, a turn's end, a socket that has left, an end that was asked for, results of
// calls, the trace of a call), not what to do: it may be replayed twice, and is in Postgres once.
// turns.losses keeps out a turn that another node has taken up.
//
// A turn gets its row in the transaction that also appends turn.persistence_failed, once a turn.
// While a node still has records of a session it says so in the session's row (spill_until): nobody
// closes the session or takes a turn of it meanwhile, and an end is only written down until the
// last record is replayed. A session that was closed before the node could say so gets its turns
// all the same. A record that can never be written (another node answered the turn) is put aside, and
// nothing waits for it. What is here of a session that was deleted is deleted too, also from the
// records aside.
//
// Files on disk are those of platform/wal; the layout of a record is recordVersion's.
package journal
