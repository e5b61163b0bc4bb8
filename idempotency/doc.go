// Package idempotency remembers the answers of requests that carried Idempotency-Key, so that a
// caller who does not know whether a request arrived can send it again.
//
//	                    ┌── Release: the answer is not kept ───────────────┐
//	(no row) ──Begin──► in flight ──Keep──► answered ──24 h──► (no row) ◄──┘
//	             ▲          │ the lease expired, because its node died, or the outcome
//	             └──────────┘ is unknown: the same request may claim the key again
//
// A key belongs to the API key that sent it, or to the session whose token was shown: two callers
// with the same words never see each other's answers. It belongs to one operation, too: the same
// words for another procedure or another resource are another key, and the same request over REST,
// Connect, gRPC or gRPC-Web is the same request. Only hashes are stored, of key and operation, and
// of the message; the key with another message is refused. Answers are sealed, for some hold
// secrets that are shown once.
//
// # Which answers are kept
//
// Those that a noun decided about this very request: every success, and the refusals 404 and 400
// with a reason of their own, such as webhook-url-not-public (see [Keeps]). Not kept, so that the
// key may be tried again:
//
//   - 400 invalid-request, 413, 415: nothing began; the request can be mended under the same key.
//   - 401, 403, 429: they are about the caller at that moment, not about the request.
//   - 402, 409 of a name that is taken or of a state, such as a source that is not ready, and a
//     host that cannot be resolved: time mends them.
//   - 409 conflict and idempotency-key-in-flight, 499, 5xx: they say "again, later".
//
// Of an upload only success is kept: a refused file was not read to its end. A stream of events
// that ends with an error is judged by that error.
//
// Source: decisions, Addressing and versions. The choice follows Stripe's but for 5xx, which
// Stripe keeps: here they mean that a transaction was rolled back, or that an outside party
// failed.
//
// While the first request runs, a repetition is refused as in flight. That of a streamed turn
// follows the turn instead: it knows the turn's id by the seed.
//
// After 499 and 5xx the key stays with its request, which may be sent again at once: the commit
// may have succeeded although its answer was lost. After the others it is free for any request.
//
// # When a node dies between the work and its answer
//
// The answer is stored after the work, in a transaction of its own. The next repetition, after the
// lease, is done again with the same [Claim.Seed]: what creates something takes its id from there
// (idgen.In), finds it made, and answers with it. A turn that was completed is answered as it was
// recorded; one that was lost with its node is taken again. Changes, deletions, attachments and
// ends have no second effect by themselves. What is left: trying a tool (run), a test event,
// redeliver, rotate and reprocess may happen twice. A lease is 12 s and is prolonged while the
// work runs, so slow work is never done twice.
//
// Table: idempotency_keys. Events: none. The HTTP side is server/interceptor.
package idempotency
