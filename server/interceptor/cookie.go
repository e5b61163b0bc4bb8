package interceptor

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"parlance.dev/parlance/people"
	"parlance.dev/parlance/platform/publicnet"
)

const (
	// CSRFHeader has the CSRF token of a call with the cookie.
	CSRFHeader = "X-Parlance-CSRF"
	// CookieName names the cookie of people who are signed in. Over https it has a prefix that makes
	// browsers refuse it from any other host and over http.
	CookieName = "parlance_console"
)

// cookieTypes are the media types of calls that count with the cookie: those of the Connect
// protocol. HTML forms can send none of them.
var cookieTypes = []string{"application/json", "application/proto", "application/connect+json", "application/connect+proto"}

// IsSecure reports whether the caller of a request reaches the service over https.
func IsSecure(ctx context.Context) bool { return strings.HasPrefix(BaseURL(ctx), "https://") }

// SecureCookieName returns the name that a cookie of the console has for the caller of a request.
func SecureCookieName(ctx context.Context, name string) string {
	if IsSecure(ctx) {
		return "__Host-" + name
	}
	return name
}

type cookieKey struct{}

// WithCookie lets the Connect calls of the console's pages count with the cookie of a person who is
// signed in: see Gate.People. It wraps the procedures only. REST, WebSockets, gRPC and gRPC-Web are
// not for cookies, and a call that is not sent by a page of this very origin is treated as one
// without the cookie.
func WithCookie(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := ConsoleToken(r); token != "" && isConnectCall(r) {
			r = r.WithContext(context.WithValue(r.Context(), cookieKey{}, token))
		}
		next.ServeHTTP(w, r)
	})
}

// cookieOf returns the token that WithCookie found; empty: none counts.
func cookieOf(ctx context.Context) string {
	token, _ := ctx.Value(cookieKey{}).(string)
	return token
}

// ConsoleToken returns the token of the cookie of a request that a page of this origin made: it has
// no Authorization, which would count alone, and the CSRF token. Empty: the cookie does not count.
func ConsoleToken(r *http.Request) string {
	if len(r.Header.Values("Authorization")) > 0 || r.Method != http.MethodPost || !isSameOrigin(r) {
		return ""
	}
	token := CookieToken(r)
	proofs := r.Header.Values(CSRFHeader)
	if len(proofs) != 1 || !people.CheckCSRF(token, proofs[0]) {
		return ""
	}
	return token
}

// CookieToken returns the token of the cookie of a request, whoever made it. It is for answers that
// only pages of this origin can read.
func CookieToken(r *http.Request) string {
	cookies := r.CookiesNamed(SecureCookieName(r.Context(), CookieName))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// isConnectCall reports whether a request is a call of the Connect protocol.
func isConnectCall(r *http.Request) bool {
	types := r.Header.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	media, _, err := mime.ParseMediaType(types[0])
	return err == nil && slices.Contains(cookieTypes, media)
}

// isSameOrigin reports whether a page of the same origin made a request. Browsers say so in
// Sec-Fetch-Site, which pages cannot set; older ones send Origin with every POST.
func isSameOrigin(r *http.Request) bool {
	if sites := r.Header.Values("Sec-Fetch-Site"); len(sites) > 0 {
		return len(sites) == 1 && sites[0] == "same-origin"
	}
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && publicnet.SameOrigin(origins[0], BaseURL(r.Context()))
}
