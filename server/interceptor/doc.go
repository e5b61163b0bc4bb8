// Package interceptor is the one chain that every API request passes, whatever its protocol:
//
//	request id → recover, log → trace → authenticate, rate-limit → validate → handler
//
// The first three and the gate (authenticate, rate-limit) are HTTP middleware, so that a request
// without a key is refused before its body is read; validation and the conversion of errors are
// Connect interceptors. The REST facade passes its requests through the same gate before it
// decodes them, and marks them as admitted for its call of the Connect handler in memory.
//
// UnknownKeys bounds the queries that keys which do not exist can cause.
//
// Once replays answers by Idempotency-Key; it belongs to the facade alone, after the gate. Pages
// authenticates the page tokens of every list. WithMessageLimit bounds RPC messages, Compressor
// compresses the facade's answers.
//
// Which scope and rate a method needs is stated in the protos (parlance.v1.policy).
package interceptor
