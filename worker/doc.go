// Package worker is what happens outside a request. A process may run any number of workers
// and any number of processes may run one; what is done and what is due is decided in Postgres.
//
//	events ──relay──► public:   deliveries (webhooks.FanOut), then tasks
//	                  internal: tasks
//	due work ──sweep, each second──► tasks
//	tasks ──queue──► task.Handlers ──► nouns
//
// The relay wakes on NOTIFY and looks each second. Public events need Postgres only, so their
// deliveries are made while Redis is away; internal ones wait for it. The sweep finds what has
// no task: retries, what Redis lost, what a killed worker left. Tasks have deterministic ids
// and handlers that claim in Postgres, so a second relay, sweep or worker is harmless.
package worker
