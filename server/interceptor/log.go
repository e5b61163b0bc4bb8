package interceptor

import (
	"bufio"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

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
	// Tracer makes a span of each request; nil makes none.
	Tracer trace.TracerProvider
}

// statusWriter records the status and the size of an answer. Unwrap lets http.ResponseController
// reach the rest of the writer.
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

// answered returns the status that the caller got.
func (w *statusWriter) answered() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack exists because the WebSocket library answers on the connection itself.
func (w *statusWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && w.status == 0 {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// Flush exists because connect asks the writer for http.Flusher.
func (w *statusWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot flush has nothing to flush
}

// Wrap is the middleware. route names a request's pattern for the metrics; never its path.
func (l *Logger) Wrap(next http.Handler, route func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := l.Now()
		recorded := &statusWriter{ResponseWriter: w}
		r, span := l.span(r)
		defer func() {
			if cause := recover(); cause != nil {
				l.answerPanic(recorded, r, cause)
			}
			name := route(r)
			l.record(r, name, recorded, l.Now().Sub(started))
			endSpan(span, r, name, recorded.answered())
		}()
		next.ServeHTTP(recorded, r)
	})
}

// span starts the span of a request, in the trace of its caller if it names one. Probes have none.
func (l *Logger) span(r *http.Request) (*http.Request, *telemetry.Span) {
	ctx := r.Context()
	if !isProbe(r.URL.Path) {
		ctx = telemetry.Receive(telemetry.WithTracer(ctx, l.Tracer), r.Header)
	}
	ctx, span := telemetry.Start(ctx, telemetry.ServerIn, r.Method, telemetry.Text("http.request.method", r.Method))
	return r.WithContext(ctx), span
}

// endSpan names the span by the route, as OpenTelemetry's conventions for HTTP ask, never by the
// path.
func endSpan(span *telemetry.Span, r *http.Request, route string, status int) {
	pattern := route[strings.Index(route, " ")+1:] // the mux's begin with their method
	span.Rename(r.Method + " " + pattern)
	span.Set(telemetry.Text("http.route", pattern), telemetry.Number("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.Fail(strconv.Itoa(status))
	}
	span.End(nil)
}

func (l *Logger) answerPanic(w *statusWriter, r *http.Request, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is thrown, by contract of net/http
		panic(cause)
	}
	l.Log.ErrorContext(r.Context(), "handler panicked", telemetry.KeyError, cause, telemetry.KeyStack, string(debug.Stack()))
	if w.status == 0 {
		l.Problem.Write(w, r, fault.New(fault.InternalError, "Internal error."))
	}
}

func (l *Logger) record(r *http.Request, route string, w *statusWriter, elapsed time.Duration) {
	status := w.answered()
	l.Metrics.ObserveHTTP(telemetry.HTTPRequest{Method: r.Method, Route: route, Status: status, Duration: elapsed})
	client := "" // a Unix socket's peer has no address
	if address := ClientAddress(r.Context()); address.IsValid() {
		client = address.String()
	}
	level := slog.LevelInfo
	if isProbe(r.URL.Path) {
		level = slog.LevelDebug
	}
	// The query is left out: signed URLs contain tokens.
	l.Log.Log(r.Context(), level, "request", telemetry.KeyMethod, r.Method,
		telemetry.KeyRoute, route, "path", loggedPath(r.URL.Path), telemetry.KeyStatus,
		status, telemetry.KeySizeBytes, w.bytes,
		telemetry.KeyDurationMS, elapsed.Milliseconds(), telemetry.KeyClient, client)
}

// maxLoggedPath is longer than any path of the API. It keeps a log line that anybody can cause
// short.
const maxLoggedPath = 512

// isProbe reports whether a path is one that probes ask for every few seconds.
func isProbe(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/metrics" || path == "/grpc.health.v1.Health/Check"
}

// withNumbers is the prefix of paths that end in a telephone number.
const withNumbers = "/v1/telephony/simulated/phones/"

// loggedPath is as much of a path as is logged, without telephone numbers.
func loggedPath(path string) string {
	if strings.HasPrefix(path, withNumbers) {
		return withNumbers
	}
	return path[:min(len(path), maxLoggedPath)]
}
