package websocket

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gobwas/ws"
)

// Accept answers a request that [IsUpgrade] and takes its connection over. protocol is one of
// [OfferedProtocols], or empty. After an error the request cannot be answered any more.
func Accept(w http.ResponseWriter, r *http.Request, protocol string, limits Limits) (*Conn, error) {
	header := w.Header().Clone()
	if protocol != "" {
		header.Set("Sec-WebSocket-Protocol", protocol)
	}
	upgrader := ws.HTTPUpgrader{Header: header, Timeout: limits.WriteTimeout}
	conn, buffered, _, err := upgrader.Upgrade(handshakeOf(r), w)
	if err != nil {
		if conn != nil {
			_ = conn.Close() // the error is returned
		}
		return nil, fmt.Errorf("taking the connection over: %w", err)
	}
	if n := buffered.Reader.Buffered(); n > 0 { // the client did not wait for the answer
		early, _ := buffered.Reader.Peek(n) // the bytes are buffered
		buffered.Reader.Reset(io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn))
	} else {
		buffered.Reader.Reset(conn)
	}
	return &Conn{
		conn: conn, reader: buffered.Reader, writer: buffered.Writer, protocol: protocol, limits: limits,
	}, nil
}

// handshakeOf is the request in the form that the library reads. The library looks only at the
// first line of a list header, and refuses offers of sub-protocols that are no tokens, such as
// those that carry a session's token. [IsUpgrade] has checked the headers that are set here.
func handshakeOf(r *http.Request) *http.Request {
	return &http.Request{
		Method: r.Method, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, Host: r.Host,
		Header: http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
			"Sec-Websocket-Key": {strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key"))},
		},
	}
}

// OfferedProtocols are the sub-protocols that a request offers, in its order.
func OfferedProtocols(r *http.Request) []string {
	return listMembers(r.Header.Values("Sec-WebSocket-Protocol"))
}

// listMembers are the members of a header that is a comma-separated list.
func listMembers(values []string) []string {
	var all []string
	for _, value := range values {
		for member := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(member))
		}
	}
	return all
}

// IsUpgrade reports whether the request is a WebSocket handshake.
func IsUpgrade(r *http.Request) bool {
	if r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		return false // what follows the headers must be frames
	}
	has := func(header, token string) bool {
		return slices.ContainsFunc(listMembers(r.Header.Values(header)), func(member string) bool {
			return strings.EqualFold(member, token)
		})
	}
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1) &&
		has("Connection", "upgrade") && has("Upgrade", "websocket") &&
		r.Header.Get("Sec-WebSocket-Version") == "13" &&
		validKey(r.Header.Values("Sec-WebSocket-Key"))
}

// validKey reports whether there is one key of 16 bytes.
func validKey(keys []string) bool {
	if len(keys) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0]))
	return err == nil && len(key) == 16
}
