package rest

import (
	"cmp"
	"context"
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
	if err := f.answer(w, r, found); err != nil {
		f.problem.Write(w, r, err)
	}
}

// answer admits a request and answers it in the way of its route.
func (f *facade) answer(w http.ResponseWriter, r *http.Request, m *match) error {
	if f.config.Admit != nil {
		ctx, err := f.config.Admit(r.Context(), m.route.Procedure, r.Header, w.Header())
		if err != nil {
			return err
		}
		r = r.WithContext(ctx)
	}
	switch {
	case m.route.Manual:
		return f.manual(w, r, m)
	case m.route.ServerStream:
		return f.stream(w, r, m)
	}
	return f.unary(w, r, m)
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

func (f *facade) manual(w http.ResponseWriter, r *http.Request, m *match) error {
	handler := f.config.Manual[m.route.Procedure]
	if handler == nil {
		return fault.New(fault.NotImplemented, "%s %s is not built yet.", m.route.Method, m.route.Pattern)
	}
	for i, name := range m.names {
		r.SetPathValue(name, m.values[i])
	}
	handler.ServeHTTP(w, r)
	return nil
}

// publicURL returns the scheme and host that the caller uses, "" without Config.PublicURL.
func (f *facade) publicURL(r *http.Request) string {
	if f.config.PublicURL == nil {
		return ""
	}
	return f.config.PublicURL(r)
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
