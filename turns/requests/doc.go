// Package requests takes the turns that are asked for by a request over HTTP or gRPC, not over a
// socket: whole (Say), as a stream of events (Stream), and followed by whoever comes back (Follow).
//
//	Say    ──► queue of the session ──► turns.Runner ──► the recorded turn
//	Stream ──► queue of the session ──► turns.Runner ──► broadcast ──► caller and followers
//	                                                         └── no listener: cancelled
//
// A streamed turn belongs to nobody's connection. Its events are kept while it runs. After that,
// and on other nodes, Follow sends what the turn's row says and the caller has not had: the id of
// an event holds how much of the turn the caller has then (see position). The node of a turn is
// told that its row is followed, and tells the followers when it has changed. A turn whose node was
// lost is resumed by the node on which it is followed.
//
// Events: none. Tables: none of its own; it reads turns and sessions.
package requests
