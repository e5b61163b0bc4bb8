package publicnet

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/redact"
)

const (
	tlsTimeout          = 5 * time.Second
	idleTimeout         = 90 * time.Second
	defaultIdlePerHost  = 16
	maxHeaderBytes      = 64 << 10
	continueWaitTimeout = time.Second
)

// ClientOptions configures a client; the zero value is a client without a deadline of its own.
type ClientOptions struct {
	// Timeout bounds a whole exchange, body included; 0 leaves it to the request's context,
	// as streams need it.
	Timeout time.Duration
	// HeaderTimeout bounds the wait for the beginning of an answer; 0 leaves it to Timeout.
	HeaderTimeout time.Duration
	// MaxIdlePerHost is how many idle connections to one host are kept; 0 means 16, less none.
	MaxIdlePerHost int
	// WriteBufferBytes is what a request is gathered in on its way to an HTTP/1 connection; 0 means
	// 4 KiB. One that is larger takes a write more.
	WriteBufferBytes int
}

// Client makes requests to what tenants name. It reaches public addresses only, uses no
// proxy, returns redirects as answers, refuses URLs with a user name, keeps no cookies, and
// speaks HTTP/2 where the server does. A request that the server says it has not processed is sent
// three times at most; a POST or PATCH that a server may have received is not sent again, whatever
// its headers. Make one for each purpose and keep it: it is a pool.
func (g *Guard) Client(options ClientOptions) *http.Client {
	transport := g.transport(options)
	transport.DialContext = boundDials(g.Dialer().DialContext)
	return client(guarded{transport}, options)
}

// OperatorClient makes requests to hosts that the operator named, dialled as given, private
// or loopback too, and to no other host and port. Each base is a URL; its port is that of the
// scheme when it has none. Otherwise it is like Client. Do not hand it a tenant's URL.
func (g *Guard) OperatorClient(bases []string, options ClientOptions) (*http.Client, error) {
	dial, err := g.OperatorDial(bases)
	if err != nil {
		return nil, err
	}
	transport := g.transport(options)
	transport.DialContext = boundDials(dial)
	return client(guarded{transport}, options), nil
}

// OperatorDial is the dial function of an OperatorClient, for clients of WebSockets: it connects to
// the hosts and ports of the bases and to no other. Errors of the function: ErrNotPublic wrapped.
func (g *Guard) OperatorDial(bases []string) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	targets := make([]string, 0, len(bases))
	for _, base := range bases {
		target, err := hostPort(base)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	dialer := &net.Dialer{Timeout: connectTimeout, Resolver: g.resolver}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err != nil || !slices.Contains(targets, net.JoinHostPort(canonicalHost(host), port)) {
			return nil, fmt.Errorf("%w: %s is not among the operator's hosts", ErrNotPublic, address)
		}
		return dialer.DialContext(ctx, network, address)
	}, nil
}

// SameOrigin says whether two URLs lead to the same server: the same scheme, host and port, however
// they are spelt. Only the URLs' beginnings are read, which may have placeholders behind them. What
// is not a URL is the same as its equal only.
func SameOrigin(a, b string) bool {
	if a == b {
		return true
	}
	one, err := origin(a)
	if err != nil {
		return false
	}
	other, err := origin(b)
	return err == nil && one == other
}

// origin is the scheme and the address that is dialled for a URL.
func origin(raw string) (string, error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	scheme = strings.ToLower(scheme)
	address, err := hostPort(scheme + "://" + rest)
	return scheme + "://" + address, err
}

// hostPort is the address that is dialled for a URL.
func hostPort(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrURL, err)
	}
	if err := checkForm(u); err != nil {
		return "", fmt.Errorf("%s: %w", redact.URLs(u.String()), err)
	}
	return net.JoinHostPort(canonicalHost(u.Hostname()), cmp.Or(u.Port(), schemePorts[u.Scheme])), nil
}

// schemePorts are the ports of URLs that name none.
var schemePorts = map[string]string{"http": "80", "https": "443"}

// Host is the host of a URL in its one spelling: lower-case ASCII without the final dot, and with
// its port unless that is the scheme's.
func Host(u *url.URL) string {
	host, port := canonicalHost(u.Hostname()), u.Port()
	if port != "" && port != schemePorts[u.Scheme] {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func (g *Guard) transport(options ClientOptions) *http.Transport {
	idle := options.MaxIdlePerHost
	if idle == 0 {
		idle = defaultIdlePerHost
	}
	return &http.Transport{
		Proxy:                  nil, // a proxy would dial in our stead, unchecked
		TLSClientConfig:        &tls.Config{RootCAs: g.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsTimeout,
		ForceAttemptHTTP2:      true, // not automatic beside our own dialer and TLS settings
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        idleTimeout,
		ResponseHeaderTimeout:  options.HeaderTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ExpectContinueTimeout:  continueWaitTimeout,
		WriteBufferSize:        options.WriteBufferBytes,
	}
}

func client(transport http.RoundTripper, options ClientOptions) *http.Client {
	return &http.Client{
		Transport: transport,
		Timeout:   options.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// guarded refuses malformed URLs before anything is sent, and bounds how often it is. A connection
// that the server takes for another protocol is closed: net/http would read on from it without an
// end, whatever the request's context says.
type guarded struct{ *http.Transport }

// RoundTrip is http.RoundTripper's.
func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := checkForm(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // RoundTrip must close it, also on errors
		}
		return nil, err
	}
	response, err := g.Transport.RoundTrip(bounded(r))
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close() // nothing is read from it
		response.Body = http.NoBody
	}
	return response, err
}
