// Package websocket is the server side of a WebSocket (RFC 6455, version 13) over
// github.com/gobwas/ws, which does the protocol: the handshake's answer, frame headers, masks and
// the checks of RFC 6455.
//
//	conn, err := websocket.Accept(w, r, protocol, limits)    the handshake
//	for { message, err := conn.Read() … }                    *CloseError, ErrTooLarge, …
//	conn.Write(messages) …                                   text messages
//	conn.Close(code, reason)                                 the close frame
//
// Read answers pings and close frames. The package bounds what the library leaves open: the bytes
// of a message, the time from its first byte to its last, the time a write may take, and, by a rate
// limit over frames of all kinds, how much a client sends.
//
// It does not compress and negotiates no extensions. Package realtime says what the messages mean,
// and docs/decisions/0039-websocket-library.md why the library is this one.
package websocket
