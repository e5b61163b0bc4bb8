package server

import (
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// refusingMux answers what the mux of the Connect handlers would refuse in plain text (an
// unknown procedure, a wrong method, an unknown content type) with a problem, or as gRPC says it
// to a caller who speaks gRPC.
func refusingMux(mux *http.ServeMux, problems problem.Writer) http.Handler {
	grpc := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(err *fault.Error) { problems.Write(w, r, err) }
		if r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			refuse = func(err *fault.Error) {
				_ = grpc.Write(w, r, problem.ToConnect(err)) // the caller is gone: nothing left to tell
			}
		}
		handler, pattern := mux.Handler(r)
		if pattern == "" {
			refuse(noProcedure(r))
			return
		}
		handler.ServeHTTP(&refusalWriter{ResponseWriter: w, request: r, refuse: refuse}, r)
	})
}

func noProcedure(r *http.Request) *fault.Error {
	return fault.New(fault.RouteNotFound, "No procedure %s.", r.URL.Path)
}

// refusalWriter replaces the bodyless refusals of connect's handlers by ours.
type refusalWriter struct {
	http.ResponseWriter
	request  *http.Request
	refuse   func(*fault.Error)
	replaced bool
}

// WriteHeader sees a refusal by its status: what the handlers themselves answer has a content type.
func (w *refusalWriter) WriteHeader(status int) {
	if refusal := w.refusal(status); refusal != nil {
		w.replaced = true
		w.refuse(refusal)
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// refusal is what to say in place of a status without a body of its own; nil: nothing.
func (w *refusalWriter) refusal(status int) *fault.Error {
	contentType := w.Header().Get("Content-Type")
	if contentType != "" && !strings.HasPrefix(contentType, "text/plain") {
		return nil
	}
	switch status {
	case http.StatusNotFound:
		return noProcedure(w.request)
	case http.StatusMethodNotAllowed:
		return fault.New(fault.MethodNotAllowedReason, "%s is not a method of this procedure; use %s.", w.request.Method, w.Header().Get("Allow"))
	case http.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedEncoding, "Send one of %s.", w.Header().Get("Accept-Post"))
	}
	return nil
}

func (w *refusalWriter) Write(p []byte) (int, error) {
	if w.replaced {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *refusalWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is here because connect asks for http.Flusher itself.
func (w *refusalWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot flush has nothing to flush
}
