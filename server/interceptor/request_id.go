package interceptor

import (
	"context"
	"net/http"
	"regexp"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/telemetry"
)

// RequestIDHeader carries the id of a request, in requests and answers.
const RequestIDHeader = "X-Request-Id"

// callersID matches a caller's id that can go into logs and headers as it is.
var callersID = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,128}$`)

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
			if id = r.Header.Get(RequestIDHeader); !callersID.MatchString(id) {
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
