package server

import (
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// refusingMux replaces the plain-text refusals of the mux of the Connect handlers (an unknown
// procedure, a wrong method, an unknown content type) by a problem, or by a gRPC error for a gRPC
// caller.
func refusingMux(mux *http.ServeMux, problems problem.Writer) http.Handler {
	grpc := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(err *fault.Error) { problems.Write(w, r, err) }
		if r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			refuse = func(err *fault.Error) {
				_ = grpc.Write(w, r, problem.ToConnect(err)) // the caller has hung up
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

// refusalWriter replaces the refusals without a body that connect's handlers write.
type refusalWriter struct {
	http.ResponseWriter
	request  *http.Request
	refuse   func(*fault.Error)
	replaced bool
}

// WriteHeader recognises a refusal by its status; the other answers of the handlers have a content
// type.
func (w *refusalWriter) WriteHeader(status int) {
	if refusal := w.refusal(status); refusal != nil {
		w.replaced = true
		w.refuse(refusal)
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// refusal returns the error to write for a status without a body of its own, or nil.
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

// Flush exists because connect asks the writer for http.Flusher.
func (w *refusalWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot flush has nothing to flush
}
