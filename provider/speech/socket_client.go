package speech

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"
)

// SocketClient makes the client that adapters with WebSockets take. dial decides which hosts may be
// reached; that of a publicnet.Guard's Dialer lets through public ones only. roots nil means the
// system's.
//
// The clients of package publicnet cannot be used for sockets: they close every connection whose
// server switches to another protocol.
func SocketClient(dial func(ctx context.Context, network, address string) (net.Conn, error), roots *x509.CertPool) *http.Client {
	const (
		tlsTimeout     = 5 * time.Second
		maxHeaderBytes = 64 << 10
	)
	return &http.Client{Transport: &http.Transport{
		Proxy:                  nil, // a proxy would dial in our stead, unchecked
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}}
}
