// Package webhooks tells customers' systems what happened: endpoints, deliveries, and the same
// events as a feed.
//
//	endpoint:  enabled ──10 failures in a row and long without a success, or a 410──► disabled
//	           disabled ──Enable──► enabled
//	delivery:  pending ──2xx──► succeeded
//	           pending ──final answer, or the schedule is used up──► failed ──Redeliver──► pending
//	attempt:   pending ──► succeeded | failed | unknown (we died before writing the answer down)
//
// The relay calls FanOut in its transaction: one delivery an event and endpoint that wants it, and the
// first attempts that this process makes at once are claimed there (see begin and docs/decisions/0024).
// Tasks call Deliver, which claims in the database and sends what it got; a repeated task claims
// nothing. The delivery row, not Redis, says what has been sent and when the next attempt is
// due; Due finds what has no task, tenants and endpoints in turn. A claim has a lease: when its holder dies, the attempt
// becomes unknown and the next one carries the same event id. An attempt's row is written when it has ended,
// or become unknown; pending ones are those that Redeliver was asked for. What an endpoint has pending is
// held while it is disabled or not subscribed to the event, and goes on afterwards.
//
// An endpoint can have limits: one delivery at a time in their order (ordered), requests a second
// and at once. What it gets is decided under its lock, in turns (see drain); one task then does the
// work of all that it has.
//
// An operator looks (Deliveries, Attempt, Health) and sends again (Redeliver one, Recover what was
// given up). Feed and Watch read the events themselves, whoever subscribes to them.
//
// Requests are signed twice: X-Parlance-Signature, and Standard Webhooks' headers (see sign).
//
// Sweep removes events, deliveries and attempts past their time; attempts lie in parts for that (see
// docs/decisions/0021).
//
// Tables: webhook_endpoints, webhook_deliveries, webhook_attempts, webhook_flights. Events: webhook.disabled.
package webhooks
