package interceptor

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/problem"
)

// Logger logs and measures each HTTP request, and turns a panic into an internal error.
type Logger struct {
	Log     *slog.Logger
	Metrics *telemetry.Metrics
	Now     func() time.Time
	Problem problem.Writer
}

// statusWriter remembers what was answered. Unwrap lets http.ResponseController reach Flush and Hijack.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += n
	return n, err
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is here because connect asks for http.Flusher itself.
func (w *statusWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot flush has nothing to flush
}

// Wrap is the middleware. route names a request's pattern for the metrics; never its path.
func (l *Logger) Wrap(next http.Handler, route func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := l.Now()
		recorded := &statusWriter{ResponseWriter: w}
		defer func() {
			if cause := recover(); cause != nil {
				l.answerPanic(recorded, r, cause)
			}
			l.record(r, route(r), recorded, l.Now().Sub(started))
		}()
		next.ServeHTTP(recorded, r)
	})
}

func (l *Logger) answerPanic(w *statusWriter, r *http.Request, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is thrown, by contract of net/http
		panic(cause)
	}
	l.Log.ErrorContext(r.Context(), "handler panicked", telemetry.KeyRequestID, RequestID(r.Context()),
		telemetry.KeyError, cause, telemetry.KeyStack, string(debug.Stack()))
	if w.status == 0 {
		l.Problem.Write(w, r, fault.New(fault.InternalError, "Internal error."))
	}
}

func (l *Logger) record(r *http.Request, route string, w *statusWriter, took time.Duration) {
	status := w.status
	if status == 0 {
		status = http.StatusOK
	}
	l.Metrics.ObserveHTTP(telemetry.HTTPRequest{Method: r.Method, Route: route, Status: status, Duration: took})
	client := "" // a Unix socket's peer has no address
	if address := ClientAddress(r.Context()); address.IsValid() {
		client = address.String()
	}
	level := slog.LevelInfo
	if quiet(r.URL.Path) {
		level = slog.LevelDebug
	}
	// The path, never the query: signed URLs hold tokens.
	l.Log.Log(r.Context(), level, "request", telemetry.KeyRequestID, RequestID(r.Context()), telemetry.KeyMethod, r.Method,
		telemetry.KeyRoute, route, "path", r.URL.Path, telemetry.KeyStatus, status, telemetry.KeySizeBytes, w.bytes,
		telemetry.KeyDurationMS, took.Milliseconds(), telemetry.KeyClient, client)
}

// quiet are the paths that probes ask every few seconds.
func quiet(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/metrics"
}
