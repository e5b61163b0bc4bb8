package rest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/server/problem"
)

// defaultKeepAlive is under the 20 to 60 s after which proxies close a silent stream.
const defaultKeepAlive = 15 * time.Second

// Config is what New needs.
type Config struct {
	// Routes is the generated table.
	Routes []route.Route
	// RPC answers the procedures: the mux of the Connect handlers, interceptors included.
	RPC http.Handler
	// Manual holds the handlers of the table's manual routes by procedure. They find the path
	// variables with Request.PathValue. A route without one answers not-implemented.
	Manual map[string]http.Handler
	// PublicURL returns the scheme and host that callers use, without a trailing slash; nil makes
	// Location and problem types paths.
	PublicURL func(*http.Request) string
	// Admit, when set, is asked about every routed request before its body is read. It returns the
	// context to continue with, or a fault, and may set headers of the answer. The inner call has
	// that context, so the gate before RPC can see that the request has passed.
	Admit func(ctx context.Context, procedure string, request, answer http.Header) (context.Context, error)
	// Once, when set, is called after Admit for a request with Idempotency-Key whose verb changes
	// something and whose answer is one message. The body has been read, within the route's limit;
	// next reads it again and answers.
	Once func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler)
	// OnceEvents is Once for an answer that is a stream of events.
	OnceEvents func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler)
	// KeepAlive is the pause between the comments of a silent event stream; 0 means 15 s.
	KeepAlive time.Duration
}

type facade struct {
	config  Config
	router  router
	problem problem.Writer
}

// New makes the facade over the routes. It answers every other path with route-not-found, so it
// must be the last handler.
func New(config Config) http.Handler {
	config.KeepAlive = cmp.Or(config.KeepAlive, defaultKeepAlive)
	return &facade{
		config:  config,
		router:  newRouter(config.Routes),
		problem: problem.Writer{PublicURL: config.PublicURL},
	}
}

// ServeHTTP routes the request. w's header may already have X-Request-Id. It leaves the route in
// r.Pattern ("GET /v1/…/{id}"), for the logs and metrics of outer handlers.
func (f *facade) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, allowed := f.router.match(r.Method, r.URL.EscapedPath())
	if found == nil {
		f.refuse(w, r, allowed)
		return
	}
	r.Pattern = found.route.Method + " " + found.route.Pattern
	if found.route.EventProcedure != "" && wantsEvents(r) {
		found.route = eventRoute(found.route)
	}
	if f.config.Admit != nil {
		ctx, err := f.config.Admit(r.Context(), found.route.Procedure, r.Header, w.Header())
		if err != nil {
			f.problem.Write(w, r, err)
			return
		}
		r = r.WithContext(ctx)
	}
	switch {
	case found.route.Manual:
		f.manual(w, r, found)
	case found.route.ServerStream && f.config.OnceEvents != nil && once(r, found):
		f.once(w, r, found, f.config.OnceEvents, f.stream)
	case found.route.ServerStream:
		f.stream(w, r, found)
	case f.config.Once != nil && once(r, found):
		f.once(w, r, found, f.config.Once, f.unary)
	default:
		f.unary(w, r, found)
	}
}

// once reports whether a request has a key and a verb that may change something. A request that
// resumes an event stream changes nothing.
func once(r *http.Request, m *match) bool {
	if m.route.ServerStream && r.Header.Get(lastEventHeader) != "" &&
		m.route.Request.ProtoReflect().Descriptor().Fields().ByName(lastEventField) != nil {
		return false
	}
	return m.route.Method != http.MethodGet && len(r.Header.Values(idempotencyHeader)) > 0
}

// once answers through Config.Once or OnceEvents. A body that cannot be read is refused before it.
func (f *facade) once(
	w http.ResponseWriter, r *http.Request, m *match,
	through func(http.ResponseWriter, *http.Request, []byte, http.Handler), answer func(http.ResponseWriter, *http.Request, *match),
) {
	body, err := readBody(w, r, m.route)
	if err != nil {
		f.problem.Write(w, r, err)
		return
	}
	r = withBody(r, body)
	through(w, r, body, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, m) }))
}

// withBody is the request with a body that has been read, as it is now.
func withBody(r *http.Request, body []byte) *http.Request {
	again := r.Clone(r.Context())
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	again.Header.Del("Content-Encoding")
	return again
}

func (f *facade) refuse(w http.ResponseWriter, r *http.Request, allowed []string) {
	if len(allowed) == 0 {
		f.problem.Write(w, r, fault.New(fault.RouteNotFound, "No route %s.", r.URL.EscapedPath()))
		return
	}
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	f.problem.Write(w, r, fault.New(fault.MethodNotAllowedReason, "%s is not a method of this route; use %s.", r.Method, list))
}

func (f *facade) manual(w http.ResponseWriter, r *http.Request, m *match) {
	handler := f.config.Manual[m.route.Procedure]
	if handler == nil {
		f.problem.Write(w, r, fault.New(fault.NotImplemented, "%s %s is not built yet.", m.route.Method, m.route.Pattern))
		return
	}
	for i, name := range m.names {
		r.SetPathValue(name, m.values[i])
	}
	handler.ServeHTTP(w, r)
}

// wantsEvents reports whether Accept takes text/event-stream.
func wantsEvents(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Accept"), func(line string) bool {
		for part := range strings.SplitSeq(line, ",") {
			mediaType, params, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(mediaType), eventStreamType) && !refused(params) {
				return true
			}
		}
		return false
	})
}

// refused reports whether the parameters of a media type in Accept give it the weight 0. Source:
// RFC 9110, 12.4.2.
func refused(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, weight, _ := strings.Cut(strings.TrimSpace(param), "=")
		if value, err := strconv.ParseFloat(strings.TrimSpace(weight), 64); strings.EqualFold(strings.TrimSpace(name),
			"q") && err == nil && value == 0 {
			return true
		}
	}
	return false
}

// eventRoute is the route with its streaming twin in place of the unary procedure.
func eventRoute(r *route.Route) *route.Route {
	twin := *r
	twin.Procedure, twin.Request, twin.Response = r.EventProcedure, r.EventRequest, r.EventResponse
	twin.ServerStream = true
	return &twin
}
