// Package webhooks notifies customers' systems of events: endpoints, deliveries, and the same
// events as a feed.
//
//	endpoint:  enabled ──10 failures in a row and long without a success, or a 410──► disabled
//	           disabled ──Enable──► enabled ──Update──► paused ──Enable, Update──► enabled
//	delivery:  pending ──2xx──► succeeded
//	           pending ──final answer, or the schedule is used up──► failed ──Redeliver──► pending
//	attempt:   pending ──► succeeded | failed | unknown (the worker died before recording it)
//
// An event goes through these steps, each with one implementation:
//
//	fan out   FanOut, in the relay's transaction: one delivery for each endpoint that wants the event
//	queue     a task in Redis for up to 32 deliveries of one endpoint that FanOut or Due returned
//	claim     claim, in the task: numbers the attempts of what is due and sets a lease, one statement
//	send      send: one signed request
//	record    recorder: writes the results of many tasks in one statement
//
// The delivery row, not Redis, says what has been sent and when the next attempt is due. A repeated
// task claims nothing. Due finds what has no task: retries, what did not fit into Redis, what Redis
// lost. When the lease of a claim expires its worker has died: the attempt becomes unknown and the
// next one carries the same event id. An attempt's row is written when the attempt has ended or
// become unknown; pending rows are those that Redeliver was asked for. What an endpoint has pending
// is held while it is disabled, paused or not subscribed to the event, and continues afterwards.
//
// An endpoint can have limits: one delivery at a time in their order (ordered), requests a second
// and requests at once. Its deliveries are claimed under the lock of its row (see deliverLimited).
// In each process a limiter bounds the batches of every endpoint and has its circuit breaker.
//
// Operators read (Deliveries, Attempt, Health) and send again (Redeliver one delivery, Recover all
// that failed). Feed and Watch read the events themselves, whether endpoints subscribe to them or
// not.
//
// Requests are signed twice: X-Parlance-Signature, and the headers of Standard Webhooks (see
// sign.go).
//
// Sweep deletes old events, deliveries and attempts. webhook_attempts is partitioned for that (see
// docs/decisions/0021).
//
// It has some 5,000 lines because its steps change the same rows, under the same locks and leases.
//
// Tables: webhook_endpoints, webhook_deliveries, webhook_attempts, webhook_flights (requests under
// way to endpoints with limits). Events: webhook.disabled.
package webhooks
