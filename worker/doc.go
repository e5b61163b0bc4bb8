// Package worker is what happens outside a request. A process may run any number of workers
// and any number of processes may run one; what is done and what is due is decided in Postgres.
//
//	events ──relay──► public:   deliveries (webhooks.FanOut), then tasks
//	                  internal: tasks, or a bell for a lane
//	due work ──lanes, tenants in turn──► tasks, a small window of them
//	deliveries ──while there are places──► task.Handlers, in this process, without the queue
//	tasks ──queue──► task.Handlers ──► nouns
//
// The relay wakes on NOTIFY and looks each second. Public events need Postgres only, so their
// deliveries are made while Redis is away; internal ones wait for it. A lane looks each second,
// and when a task has ended, for what has no task: what did not fit into the window, retries,
// what Redis lost, what a killed worker left. Tasks have deterministic ids and handlers that
// claim in Postgres, so a second relay, lane or worker is harmless.
//
// Deliveries are begun where they were found, so that an event is on its way as soon as its commit
// was announced, also while Redis is away; what this process has no place for takes the queue.
//
// As long as nothing waits in Postgres the relay fills the window itself. A lane lets no tenant
// have more than its share of this process's workers while there are others (platform/fair).
package worker
