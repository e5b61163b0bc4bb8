// Package fair shares scarce resources between tenants, so that a tenant with much work does not
// make the others wait for all of it. It has two parts:
//
//	work in one process (a call of a model, of a tool, a task):  [Gate]
//	work that waits in Postgres (deliveries, sources, events):   [Ask] and [RoundRobinSQL]
//
// Both serve tenants in round robin: each tenant that waits gets one piece of work, then each its
// next. A tenant with new work waits for one round and not for the backlog of the others. A tenant
// that is alone gets everything.
//
// A Gate is a semaphore with a number of slots. While another tenant was seen in the last hour, no
// tenant holds more than a share of them ([Config].SharePercent), because work that runs cannot be
// taken back and the next tenant to come must find a free slot. Without a free slot work waits in
// its tenant's queue, and the queues are served in round robin. The number of waiters is bounded:
// when there are too many, the last waiter of the longest queue is refused with 503 unavailable.
//
// A backlog in Postgres is not copied into Redis, whose lists serve first come, first served.
// Package worker keeps a small window of tasks there and asks a noun for as much work as fits; the
// noun selects it with RoundRobinSQL, from the tenant after the one that was served last.
//
// The package knows no queues: names, sizes and shares come from app and worker. Processes share
// nothing but Postgres: a share is one of a process's slots.
package fair
