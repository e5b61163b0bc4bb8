// Package fair shares what is scarce between tenants, so that one who asks for much does not
// make the others wait for all of it. It has the two halves of that:
//
//	work in one process (a call of a model, of a tool, a task):  [Gate]
//	work that waits in Postgres (deliveries, sources, events):   [Ask] and [RingSQL]
//
// Both go round: each tenant that waits gets one piece of work, then each its next. A tenant that
// comes back after a while waits for one turn of the others, not for their whole backlog; one
// that is alone has everything.
//
// A Gate has so many slots. As long as another tenant has been seen in the last hour, nobody
// holds more than a share of them ([Config].SharePercent), so that the next to come finds one
// free: work cannot be taken back from who has it. Who finds none waits in line; the lines are
// served in turn. How many may wait is bounded: who would be too many is refused with 503
// unavailable, and that is the tenant with the longest line, not the one who came last.
//
// A backlog in Postgres is never handed to Redis as a whole, for Redis's lists are first come,
// first served. package worker keeps a small window in it, and asks a noun for what fits; the
// noun picks by RingSQL, from the tenant after the one that was served last.
//
// It knows no queues: their names, sizes and shares come from app and worker. Nothing here is
// shared between processes but by asking Postgres: a share is one of a process's slots.
package fair
