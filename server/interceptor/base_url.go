package interceptor

import (
	"context"
	"net"
	"net/http"
)

type baseURLKey struct{}

// BaseURL is the scheme and host by which the caller of the request knows us, without a slash at
// the end; empty outside a request.
func BaseURL(ctx context.Context) string {
	base, _ := ctx.Value(baseURLKey{}).(string)
	return base
}

// WithBaseURL tells handlers by which URL we are known: public when the operator set it, else
// what the request itself was sent to.
func WithBaseURL(next http.Handler, public string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := public
		if base == "" {
			scheme := "http://"
			if r.TLS != nil {
				scheme = "https://"
			}
			base = scheme + hostOf(r)
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), baseURLKey{}, base)))
	})
}

// hostOf is where the request was sent to; the address it came in on when its Host header is
// empty, as HTTP allows.
func hostOf(r *http.Request) string {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && r.Host == "" {
		return local.String()
	}
	return r.Host
}
