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

// BaseURL is the URL by which the caller of the request knows us, without a slash at the end:
// scheme, host and perhaps a path prefix; empty outside a request.
func BaseURL(ctx context.Context) string {
	base, _ := ctx.Value(baseURLKey{}).(string)
	return base
}

// ClientAddress is whom the request came from, as far as it is known: the connection's other end,
// or the nearest hop before the proxies that are believed. Not valid outside a request, on a Unix
// socket, and behind a proxy that does not say.
func ClientAddress(ctx context.Context) netip.Addr {
	address, _ := ctx.Value(clientKey{}).(netip.Addr)
	return address
}

// CallerConfig says by what we are known and whose word about callers is taken.
type CallerConfig struct {
	// PublicURL is what callers know us by, a path prefix included; empty: what each request, or a
	// believed proxy, says.
	PublicURL string
	Proxies   Proxies
}

// WithCaller finds out who calls and by which URL, for BaseURL and ClientAddress. With a PublicURL
// no header has a say in the URL. The path prefix of PublicURL is taken off requests whose proxy
// has left it on.
func WithCaller(next http.Handler, config CallerConfig) http.Handler {
	public := strings.TrimRight(config.PublicURL, "/")
	prefix := ""
	if u, err := url.Parse(public); err == nil {
		prefix = u.EscapedPath()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := config.Proxies.ask(r)
		base := public
		if base == "" {
			base = baseOf(r, from)
		}
		ctx := context.WithValue(r.Context(), baseURLKey{}, base)
		r = r.WithContext(context.WithValue(ctx, clientKey{}, from.client))
		next.ServeHTTP(w, withoutPrefix(r, prefix))
	})
}

// baseOf is what a believed proxy says it was called by, and else what the request itself was sent
// to.
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

// hostOf is where the request was sent to; the address it came in on when its Host header is
// empty, as HTTP allows, or nothing that can stand in a URL.
func hostOf(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if host := saneHost(r.Host); host != "" || !ok {
		return host
	}
	if local.Network() == "unix" {
		return "localhost"
	}
	return local.String()
}

// withoutPrefix is r with the prefix taken off its path, when it is there.
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
