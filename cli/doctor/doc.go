// Package doctor looks at everything a deployment needs and says what to do about what it finds.
//
// An [Area] is a part of the deployment: the settings, Postgres, the way from the public URL to a
// server. Areas are looked at side by side, each within a time of its own, and each gives
// [Finding]s in the order in which they were made. A finding that is not OK holds one line of
// advice. Nothing is changed, but for a blob, a key in Redis and a notification that are taken
// back or forgotten, and no finding holds a secret.
//
// What the way through the proxies does to a request is seen by the server at its end: doctor
// leaves a nonce in Redis, and the server tells its bearer what arrived (see package probe).
package doctor
