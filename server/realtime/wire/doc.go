// Package wire is the server's side of a WebSocket (RFC 6455, version 13), made for thousands of
// quiet connections: one that waits costs a goroutine in Read and half a KiB of buffer, and frames that
// wait together are written with one system call. The protocol itself is gobwas/ws: the handshake,
// headers, masks and what RFC 6455 allows. See docs/decisions/0020-websocket-wire.md.
//
//	conn, err := wire.Accept(w, r, []string{"realtime"}, limits)   the handshake
//	go: for { message, err := conn.Read() … }                      *CloseError, ErrTooLarge, …
//	conn.Write(frames) …                                           text messages
//	conn.Close(code, reason)                                       the close frame, and the connection
//
// Read answers pings and close frames itself. It bounds a message's bytes, the time one takes
// from its first byte to its last, and, by a [Meter], how many frames and bytes come.
//
// It does not compress, and negotiates no extensions. What sockets say is package realtime's.
package wire
