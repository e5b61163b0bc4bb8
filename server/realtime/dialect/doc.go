// Package dialect is the door between a socket (package realtime) and the protocol that is spoken
// on it (packages openai and convai):
//
//	Open ─────────────────► Step   once, before anything else
//	Frame (the client) ───► Step
//	Event (the core) ─────► Step
//	Ping (the socket) ────► Step   every 20 s, for dialects that are a Pinger
//	Wake (the socket) ────► Step   when a pause is over, for dialects that are a Waker
//	Close (the socket) ───► Step   once, before the close frame; for what a protocol says last
//
// A Step is what came of it: frames for the client, commands for the core. A dialect is a state
// machine without input or output and belongs to one goroutine.
//
// It knows no protocol, and no WebSocket.
package dialect
