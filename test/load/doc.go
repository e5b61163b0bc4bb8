// Package load is customers who use an installation through its public door, all of it at once,
// and keep an audit.Journal of what they were answered.
//
// They behave as good clients do: what is not answered, or answered with 409 in-flight, 429 or 5xx,
// is asked again under the same Idempotency-Key, with growing pauses, until there is an answer.
// What cannot carry a key (an upload, a streamed turn) is asked once, and what became of it is
// noted as unknown when there is no answer. Sockets that break are opened again.
//
// What each customer does is decided by the seed; how it goes depends on the moment.
package load
