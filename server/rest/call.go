package rest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/server/problem"
)

// passedOn are the headers of a REST request that interceptors may look at. The others describe
// the JSON body or the connection and would be wrong for the inner request.
var passedOn = []string{ // in canonical form
	"Authorization", requestIDHeader, idempotencyHeader, "If-Match", "User-Agent",
	"Traceparent", "Tracestate", "Baggage",
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Real-Ip",
}

// unary answers a route whose method has one answer.
func (f *facade) unary(w http.ResponseWriter, r *http.Request, m *match) error {
	request, err := readRequest(w, r, m)
	if err != nil {
		return err
	}
	payload, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	answer := &recorder{header: http.Header{}}
	f.config.RPC.ServeHTTP(answer, innerRequest(w, r, m.route.Procedure, protoType, payload))
	passBack(w.Header(), answer.header)
	if answer.status != http.StatusOK && answer.status != 0 {
		return refusal(answer.status, answer.body.Bytes())
	}
	response := m.route.Response.ProtoReflect().New()
	if err := proto.Unmarshal(answer.body.Bytes(), response.Interface()); err != nil {
		return fmt.Errorf("decoding the response of %s: %w", m.route.Procedure, err)
	}
	return f.succeed(w, r, m, response)
}

// innerRequest makes the Connect request for the REST one, with the same context, caller and
// connection.
func innerRequest(w http.ResponseWriter, r *http.Request, procedure, contentType string, payload []byte) *http.Request {
	inner := &http.Request{
		Method:        http.MethodPost,
		URL:           &url.URL{Path: procedure},
		RequestURI:    procedure,
		Proto:         r.Proto,
		ProtoMajor:    r.ProtoMajor,
		ProtoMinor:    r.ProtoMinor,
		Header:        http.Header{"Content-Type": {contentType}, "Connect-Protocol-Version": {"1"}},
		Body:          io.NopCloser(bytes.NewReader(payload)),
		ContentLength: int64(len(payload)),
		Host:          r.Host,
		RemoteAddr:    r.RemoteAddr,
		TLS:           r.TLS,
	}
	for _, name := range passedOn {
		if values := r.Header[name]; len(values) > 0 {
			inner.Header[name] = values
		}
	}
	if id := w.Header().Get(requestIDHeader); id != "" {
		inner.Header.Set(requestIDHeader, id) // made by an earlier handler
	}
	return inner.WithContext(r.Context())
}

// passBack copies the headers that interceptors set, but not those of the inner protocol.
func passBack(to, from http.Header) {
	for name, values := range from {
		if strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Trailer") ||
			strings.HasPrefix(name, "Connect-") || strings.HasPrefix(name, "Grpc-") ||
			name == "Accept-Encoding" || name == "Vary" || name == "Date" {
			continue
		}
		to[name] = values
	}
}

// recorder keeps an answer of a unary Connect handler.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *recorder) Header() http.Header { return a.header }

// WriteHeader keeps the first status.
func (a *recorder) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps the body.
func (a *recorder) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// refusal returns the error in an answer that is not a success. A mux that does not know the
// procedure answers in plain text: the method is in the contract but not built.
func refusal(status int, body []byte) *fault.Error {
	var wire wireError
	if err := json.Unmarshal(body, &wire); err != nil {
		if status == http.StatusNotFound {
			return fault.New(fault.NotImplemented, "This method is not built yet.")
		}
		return fault.From(fmt.Errorf("the handler answered %d with no Connect error", status))
	}
	return wire.fault()
}

// wireError is the JSON of a Connect error.
type wireError struct {
	Code    connect.Code `json:"code"`
	Message string       `json:"message"`
	Details []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"details"`
}

func (e *wireError) fault() *fault.Error {
	out := connect.NewError(e.Code, errors.New(e.Message))
	for _, detail := range e.Details {
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(detail.Value, "="))
		if err != nil {
			continue
		}
		kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(detail.Type))
		if err != nil {
			continue // not one of ours
		}
		message := kind.New().Interface()
		if err := proto.Unmarshal(raw, message); err != nil {
			continue
		}
		if typed, err := connect.NewErrorDetail(message); err == nil {
			out.AddDetail(typed)
		}
	}
	return problem.FromConnect(out)
}

// succeed writes the response with the route's status, Location and, unless it is 204, body.
func (f *facade) succeed(w http.ResponseWriter, r *http.Request, m *match, response protoreflect.Message) error {
	body, err := stablejson.Marshal(response.Interface())
	if err != nil {
		return err
	}
	if location := f.location(r, m, response); location != "" {
		w.Header().Set("Location", location)
	}
	if m.route.Status == http.StatusNoContent {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store") // answers hold tokens and secrets, and change by themselves
	w.WriteHeader(m.route.Status)
	_, _ = w.Write(body) // the caller has hung up when this fails
	return nil
}

// location fills the template from the path variables, then from the response's string fields. It
// is empty without a template, and when the response has no id: nothing was created then.
func (f *facade) location(r *http.Request, m *match, response protoreflect.Message) string {
	if m.route.Location == "" {
		return ""
	}
	segments := strings.Split(m.route.Location, "/")
	for i, segment := range segments {
		name, isVariable := strings.CutPrefix(segment, "{")
		if !isVariable {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		value := textField(response, name)
		if at := slices.Index(m.names, name); at >= 0 {
			value = m.values[at]
		}
		if value == "" {
			return ""
		}
		segments[i] = url.PathEscape(value)
	}
	return f.publicURL(r) + strings.Join(segments, "/")
}
