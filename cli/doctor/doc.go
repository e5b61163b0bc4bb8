// Package doctor checks everything that a deployment needs, and says what to do about what it
// finds.
//
// An [Area] is a part of the deployment: the settings, Postgres, the way from the public URL to a
// server. Areas are checked in parallel, each within its own time, and each returns its [Finding]s
// in the order of the checks. A finding that is not OK has one line of advice. Nothing is changed
// but a blob, a key in Redis and a notification, which are removed or forgotten. No finding
// contains a secret.
//
// To see how proxies change a request, doctor leaves a nonce in Redis and calls the server with it.
// The server then answers with the request as it arrived (see package probe).
package doctor
