// Package insights counts what happened in a tenant, and what waits. It reads the tables of other
// packages and writes nothing.
//
//	Activity  what happened, by hour or day
//	Backlog   the tenant's work that waits, runs, or was given up
//	Queues    the queues in Redis, which all tenants share, and their workers
//
// What is metered (turns, tokens, cost, minutes of voice, calls of tools, deliveries) is read from
// the rows that package usage sums, so that it agrees with the bill. Everything else is counted
// from the rows themselves: what was deleted since is not counted.
//
// Tables: none of its own. Events: none.
package insights
