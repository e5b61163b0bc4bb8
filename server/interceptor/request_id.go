package interceptor

import (
	"context"
	"net/http"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/telemetry"
)

// RequestIDHeader carries the id of a request, both ways.
const RequestIDHeader = "X-Request-Id"

// maxRequestIDBytes bounds a caller's id.
const maxRequestIDBytes = 128

type requestIDKey struct{}

// RequestID is the id of the request that ctx belongs to; empty outside one.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// WithRequestID gives each request an id, the caller's own when it is a sane token, and says it
// in the answer's X-Request-Id. A request that has one already keeps it.
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := RequestID(r.Context())
		if id == "" {
			if id = r.Header.Get(RequestIDHeader); !saneToken(id) {
				id = idgen.New(idgen.Request)
			}
			ctx := telemetry.OpenScope(context.WithValue(r.Context(), requestIDKey{}, id))
			telemetry.Note(ctx, telemetry.KeyRequestID, id)
			r = r.WithContext(ctx)
		}
		w.Header().Set(RequestIDHeader, id)
		next.ServeHTTP(w, r)
	})
}

// saneToken says whether a caller's id can go into logs and headers as it is.
func saneToken(id string) bool {
	if id == "" || len(id) > maxRequestIDBytes {
		return false
	}
	for _, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' && c != ':' {
			return false
		}
	}
	return true
}
