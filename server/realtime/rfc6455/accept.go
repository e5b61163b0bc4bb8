package rfc6455

import (
	"crypto/sha1" //nolint:gosec // the protocol's own
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Limits bound a connection. All must be set.
type Limits struct {
	// MaxMessageBytes is the most a message may have.
	MaxMessageBytes int
	// ReadWithin is how long a message may take from its first byte to its last.
	ReadWithin time.Duration
	// WriteWithin is how long one call of Write or Close may take.
	WriteWithin time.Duration
}

// guid is what a handshake adds to the client's key. Source: RFC 6455, 1.3.
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// Accept answers a request that [IsUpgrade] and takes its connection over. protocols are the
// sub-protocols that may be chosen: the first that the client offers is. An error means that the
// connection cannot be had, and that nothing can be answered any more.
func Accept(w http.ResponseWriter, r *http.Request, protocols []string, limits Limits) (*Conn, error) {
	sum := sha1.Sum([]byte(strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key")) + guid)) //nolint:gosec // the protocol's own
	chosen := choose(r, protocols)
	w.Header().Set("Upgrade", "websocket")
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(sum[:]))
	if chosen != "" {
		w.Header().Set("Sec-WebSocket-Protocol", chosen)
	}
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, buffered, err := http.NewResponseController(w).Hijack() // and sends the answer
	if err != nil {
		return nil, fmt.Errorf("taking the connection over: %w", err)
	}
	_ = conn.SetDeadline(time.Time{}) // net/http's; the first read tells whether it is still there
	c := &Conn{conn: conn, limits: limits, protocol: chosen}
	if n := buffered.Reader.Buffered(); n > 0 { // a client that did not wait for the answer
		early, _ := buffered.Reader.Peek(n) // they are there
		c.buffer = append(make([]byte, 0, max(bufferBytes, n)), early...)
	}
	return c, nil
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

// Protocol is the sub-protocol that was chosen; empty: none.
func (c *Conn) Protocol() string { return c.protocol }
