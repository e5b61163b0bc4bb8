// Package worker does what happens outside a request. A process may run any number of workers and
// any number of processes may run one; Postgres decides what was done and what is due.
//
//	events ──relay──► public:   deliveries (webhooks.FanOut), then tasks
//	                  internal: a task, or a signal to a dispatcher
//	due work ──dispatcher, tenants in round robin──► tasks, a small window of them
//	tasks ──queue──► task handlers ──► nouns
//
// The relay runs on NOTIFY and each second. It needs Postgres only for public events, so their
// deliveries are made while Redis is away; tasks and internal events wait for Redis. A dispatcher
// runs each second, and when a task of a backlog has ended. It finds due work without a task: what
// did not fit into the window, retries, what Redis lost, what a killed worker left. Handlers claim
// their work in Postgres, so that a second relay, dispatcher or worker is harmless.
//
// While nothing waits in Postgres the relay makes the tasks of new deliveries itself. A dispatcher
// gives no tenant more than its share of this process's workers while there are others
// (platform/fair).
//
// Periodic work is of two kinds:
//
//   - Sweeps every five minutes (old events, answers, traces and recordings, blobs without a
//     source) are periodic tasks of asynq's scheduler, because one run in the whole installation is
//     enough and they may wait while Redis is away.
//   - Everything else runs on a ticker in each process: the relay and the dispatchers, because they
//     wake early and refill Redis; sessions, memories and model changes, because users notice when
//     they wait for Redis; indexes of searches and reports of usage to the payment provider,
//     because they take longer than a task may; and the figures, because each process reports its
//     own.
package worker
