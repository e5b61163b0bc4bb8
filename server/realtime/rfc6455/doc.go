// Package rfc6455 is the server's side of a WebSocket (RFC 6455, version 13), made for thousands of
// quiet connections: one that waits costs a goroutine in Read and half a KiB of buffer, and frames that
// wait together are written with one system call.
//
//	conn, err := rfc6455.Accept(w, r, []string{"realtime"}, limits)   the handshake
//	go: for { message, err := conn.Read() … }                         *CloseError, *TooLargeError, …
//	conn.Write(frames) …                                              text messages
//	conn.Close(code, reason)                                          the close frame, and the connection
//
// Read answers pings and close frames itself. It bounds a message's bytes, the time one takes
// from its first byte to its last, and, by a [Meter], how many frames and bytes come.
//
// It does not compress, and negotiates no extensions. What sockets say is package realtime's.
package rfc6455
