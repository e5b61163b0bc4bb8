package wire

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/gobwas/ws"
)

// Accept answers a request that [IsUpgrade] and takes its connection over. protocols are the
// sub-protocols that may be chosen: the first that the client offers is. An error means that the
// connection cannot be had, and that nothing can be answered any more.
func Accept(w http.ResponseWriter, r *http.Request, protocols []string, limits Limits) (*Conn, error) {
	// What the library looks at, as IsUpgrade has seen it: it reads the first line of a header that is a
	// list, and refuses offers that are no tokens, as some that carry a session's token are.
	offer := &http.Request{Method: r.Method, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, Host: r.Host, Header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key"))},
	}}
	header := w.Header().Clone()
	chosen := choose(r, protocols)
	if chosen != "" {
		header.Set("Sec-WebSocket-Protocol", chosen)
	}
	conn, buffered, _, err := ws.HTTPUpgrader{Header: header, Timeout: limits.WriteWithin}.Upgrade(offer, w)
	if err != nil {
		if conn != nil {
			_ = conn.Close() // nothing was promised
		}
		return nil, fmt.Errorf("taking the connection over: %w", err)
	}
	unwatch(conn)
	c := &Conn{conn: conn, limits: limits, protocol: chosen, stall: stall{close: conn.Close}}
	if n := buffered.Reader.Buffered(); n > 0 { // a client that did not wait for the answer
		early, _ := buffered.Reader.Peek(n) // they are there
		c.buffer = append(make([]byte, 0, max(bufferBytes, n)), early...)
	}
	return c, nil
}

// unwatch has the server leave slow readers to us: a deadline a connection would be thousands of timers that never fire.
func unwatch(conn net.Conn) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	if watched, ok := conn.(interface{ Unwatch() }); ok {
		watched.Unwatch()
	}
}

func choose(r *http.Request, protocols []string) string {
	for _, offered := range Offered(r) {
		if slices.Contains(protocols, offered) {
			return offered
		}
	}
	return ""
}

// Offered are the sub-protocols of a request, in its order.
func Offered(r *http.Request) []string { return listed(r.Header.Values("Sec-WebSocket-Protocol")) }

// listed are the members of a header that is a comma-separated list.
func listed(values []string) []string {
	var all []string
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(one))
		}
	}
	return all
}

// IsUpgrade says whether the request is a handshake.
func IsUpgrade(r *http.Request) bool {
	if r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		return false // what comes behind the headers are frames
	}
	has := func(header, token string) bool {
		return slices.ContainsFunc(listed(r.Header.Values(header)), func(one string) bool { return strings.EqualFold(one, token) })
	}
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1) && has("Connection", "upgrade") && has("Upgrade", "websocket") &&
		r.Header.Get("Sec-WebSocket-Version") == "13" && validKey(r.Header.Values("Sec-WebSocket-Key"))
}

// validKey says whether there is one key of 16 bytes.
func validKey(keys []string) bool {
	if len(keys) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0]))
	return err == nil && len(key) == 16
}
