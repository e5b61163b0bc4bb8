// Package socket is what the clients of services with WebSockets share: the handshake ([Dial]), and
// a connection that is made in the background, sends what is queued, and reads ([Conn]).
//
//	Start ─► dialling ─► open: Send … / ReceiveFunc … ─► ended: Done closed, Err says why
//
// It knows no vendor. Errors have no word of the server, which may repeat keys and requests: what a
// server says is in *apiclient.Refusal, whose Error leaves it out, or is a status of closing.
package socket
