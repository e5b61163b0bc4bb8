package interceptor

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

type (
	baseURLKey struct{}
	clientKey  struct{}
)

// baseURL is the URL by which a caller knows the service. configured says that it was not the
// request that named it.
type baseURL struct {
	url        string
	configured bool
}

// BaseURL is the URL by which the caller of the request knows the service, without a trailing
// slash: scheme, host and perhaps a path prefix. It is empty outside a request.
func BaseURL(ctx context.Context) string {
	base, _ := ctx.Value(baseURLKey{}).(baseURL)
	return base.url
}

// HasPublicURL reports whether BaseURL is configured, and not said by the request.
func HasPublicURL(ctx context.Context) bool {
	base, _ := ctx.Value(baseURLKey{}).(baseURL)
	return base.configured
}

// ClientAddress is the address that the request came from: the other end of the connection, or the
// nearest hop before the trusted proxies. It is not valid outside a request, on a Unix socket, and
// behind a proxy that does not name its client.
func ClientAddress(ctx context.Context) netip.Addr {
	address, _ := ctx.Value(clientKey{}).(netip.Addr)
	return address
}

// CallerConfig says which URL callers use, and which proxies are trusted to name a caller.
type CallerConfig struct {
	// PublicURL is the URL that callers use, a path prefix included. When it is empty, each request
	// or a trusted proxy names it.
	PublicURL string
	Proxies   Proxies
}

// WithCaller finds the caller and the URL that it used, for BaseURL and ClientAddress. With a
// PublicURL no header changes the URL. The path prefix of PublicURL is removed from requests whose
// proxy has left it on.
func WithCaller(next http.Handler, config CallerConfig) http.Handler {
	public := strings.TrimRight(config.PublicURL, "/")
	prefix := ""
	if u, err := url.Parse(public); err == nil {
		prefix = u.EscapedPath()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := config.Proxies.ask(r)
		base := baseURL{url: public, configured: public != ""}
		if !base.configured {
			base.url = baseOf(r, from)
		}
		ctx := context.WithValue(r.Context(), baseURLKey{}, base)
		r = r.WithContext(context.WithValue(ctx, clientKey{}, from.client))
		next.ServeHTTP(w, withoutPrefix(r, prefix))
	})
}

// baseOf returns the scheme and host that a trusted proxy was called by, or else those that the
// request itself was sent to.
func baseOf(r *http.Request, from caller) string {
	scheme, host := from.scheme, from.host
	if scheme == "" && r.TLS != nil {
		scheme = "https"
	}
	if scheme == "" {
		scheme = "http"
	}
	if host == "" {
		host = hostOf(r)
	}
	return scheme + "://" + host
}

// hostOf returns the host that the request was sent to. HTTP allows an empty Host header: hostOf
// then returns the address that the request came in on. It returns "" for a host that cannot stand
// in a URL.
func hostOf(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if host := validHost(r.Host); host != "" || !ok {
		return host
	}
	if local.Network() == "unix" {
		return "localhost"
	}
	return local.String()
}

// withoutPrefix returns r with the prefix removed from its path, if it is there.
func withoutPrefix(r *http.Request, prefix string) *http.Request {
	escaped, found := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if prefix == "" || !found || escaped != "" && escaped[0] != '/' {
		return r
	}
	if escaped == "" {
		escaped = "/"
	}
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return r
	}
	inner := new(http.Request)
	*inner = *r
	inner.URL = new(url.URL)
	*inner.URL = *r.URL
	inner.URL.Path, inner.URL.RawPath = path, escaped
	return inner
}
