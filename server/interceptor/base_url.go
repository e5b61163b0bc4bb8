package interceptor

import (
	"context"
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
			base = scheme + r.Host
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), baseURLKey{}, base)))
	})
}
