// Package callbacks plans calls to users: once, by a schedule, or in a batch.
//
//	a model (schedule_callback), an operator ──► Create ──┐
//	schedules ── Sweep, each due run once ────────────────┤
//	batches ── CreateBatch ───────────────────────────────▼
//	                                          scheduled ──► dialing ──► in_progress ──► completed
//	                                              ▲            │
//	                                              └─ missed ───┴──► no_answer, failed
//	                                          canceled: from any of them
//
// A callback that is due becomes a task (Due), which dials it (Dial): one transaction takes it and
// writes a call down, package telephony places that, and tells how it ended (OnEnd). A missed call
// is tried again, three times in all.
//
// # When a user may be called
//
// The agent's settings say it: countries, consent, quiet hours, the least time between two calls of
// a user. They are checked when a call is planned, so that whoever plans it is told, and again when
// it is due: it waits then.
//
// # Schedules
//
// A schedule keeps its next run. A run that is due becomes one callback, whoever sweeps: a unique
// index on schedule and run decides. One that nobody swept within an hour is skipped, and a failed
// callback says so. A run that waits for the least time since the user's last call ends in the same
// way when it could be dialed only at the next run or later.
//
// Tables: callbacks, callback_schedules, callback_batches, call_consents. Events: none.
package callbacks
