// Package dialect is the interface between a socket (package realtime) and the protocol that is
// spoken on it (packages openai, convai and mediastream):
//
//	Open ─────────────────────► Step   once, first
//	Frame (the client) ───────► Step
//	Event (the conversation) ─► Step
//	Ping (the socket) ────────► Step   every 20 s, for a dialect that is a Pinger
//	PauseEnded (the socket) ──► Step   after a pause, for a dialect that is a PauseListener
//	Close (the socket) ───────► Step   once, before the close frame
//
// A Step is the result of one call: frames for the client, commands for the conversation. A dialect
// is a state machine without input or output of its own, and belongs to one socket at a time.
//
// The package knows no protocol and no WebSocket.
package dialect
