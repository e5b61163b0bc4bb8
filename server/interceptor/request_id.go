package interceptor

import (
	"context"
	"net/http"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/telemetry"
)

// RequestIDHeader carries the id of a request, in requests and answers.
const RequestIDHeader = "X-Request-Id"

// maxRequestIDBytes bounds a caller's id.
const maxRequestIDBytes = 128

type requestIDKey struct{}

// RequestID returns the id of the request that ctx belongs to, "" outside one.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// WithRequestID gives each request an id: the caller's own if it is valid, else a new one. The
// answer has it in X-Request-Id. A request that already has an id keeps it.
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := RequestID(r.Context())
		if id == "" {
			if id = r.Header.Get(RequestIDHeader); !validRequestID(id) {
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

// validRequestID reports whether a caller's id can go into logs and headers as it is.
func validRequestID(id string) bool {
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
