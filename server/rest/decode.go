package rest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/route"
)

const (
	defaultMaxBodyBytes = 1 << 20
	// identity is the Content-Encoding of an uncompressed body.
	identity = "identity"
)

// readRequest makes the request message from path, query string and body. Its errors are faults.
func readRequest(w http.ResponseWriter, r *http.Request, m *match) (proto.Message, error) {
	body, err := readBody(w, r, m.route)
	if err != nil {
		return nil, err
	}
	return decode(r, m, body)
}

// decode makes the request message from path, query string and a body that has been read. Its
// errors are faults.
func decode(r *http.Request, m *match, body []byte) (proto.Message, error) {
	message := m.route.Request.ProtoReflect().New()
	keys, err := fillBody(message, m, body)
	if err != nil {
		return nil, err
	}
	if err := fillPath(message, m, keys); err != nil {
		return nil, err
	}
	if err := fillQuery(message, m, r.URL.RawQuery); err != nil {
		return nil, err
	}
	if m.route.ServerStream {
		fillLastEvent(message, r)
	}
	return message.Interface(), nil
}

// fillLastEvent reads the header that clients send when they resume an event stream, unless the
// request has the field itself.
func fillLastEvent(message protoreflect.Message, r *http.Request) {
	field := message.Descriptor().Fields().ByName(route.LastEventField)
	if id := r.Header.Get(lastEventHeader); id != "" && field != nil && !message.Has(field) && utf8.ValidString(id) {
		message.Set(field, protoreflect.ValueOfString(id))
	}
}

// readBody returns at most the route's limit of JSON text, nil for an empty body. The limit counts
// the decompressed size of a gzip body.
func readBody(w http.ResponseWriter, r *http.Request, to *route.Route) ([]byte, error) {
	limit := to.MaxBodyBytes
	if limit == 0 {
		limit = defaultMaxBodyBytes
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	if err := checkMediaType(w, r); err != nil && r.ContentLength > 0 {
		return nil, err // before the body is read
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, unread(r, err, limit)
	}
	if len(body) == 0 {
		return nil, nil
	}
	if err := checkMediaType(w, r); err != nil {
		return nil, err
	}
	if r.Header.Get("Content-Encoding") == "" || strings.EqualFold(r.Header.Get("Content-Encoding"), identity) {
		return body, nil
	}
	return gunzip(body, limit)
}

func tooLarge(limit int64) error {
	return fault.New(fault.BodyTooLarge, "The body is over the limit of %d bytes of this route.", limit)
}

// unread returns the error for a body that could not be read to its end.
func unread(r *http.Request, err error, limit int64) error {
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge(limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) { // the connection's context ends with it
		return fault.Wrap(err, fault.InvalidRequest, "The body stood still for too long before its end.")
	}
	if ended := r.Context().Err(); errors.Is(ended, context.Canceled) {
		return fault.From(ended)
	}
	return fault.Wrap(err, fault.InvalidRequest, "The body ended before its stated length.")
}

// gunzip reads no further than the limit: a small body may decompress to gigabytes.
func gunzip(body []byte, limit int64) ([]byte, error) {
	malformed := func(err error) error {
		return fault.Wrap(err, fault.InvalidRequest, "The body is not gzip, as its Content-Encoding says.")
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, malformed(err)
	}
	plain, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, malformed(err)
	}
	if int64(len(plain)) > limit {
		return nil, tooLarge(limit)
	}
	return plain, nil
}

// checkMediaType accepts application/json in UTF-8, and no type at all, which suits curl; plain or
// compressed with gzip.
func checkMediaType(w http.ResponseWriter, r *http.Request) error {
	encoding := strings.Join(r.Header.Values("Content-Encoding"), ", ")
	if encoding != "" && !strings.EqualFold(encoding, identity) && !strings.EqualFold(encoding, "gzip") &&
		!strings.EqualFold(encoding, "x-gzip") {
		w.Header().Set("Accept-Encoding", "gzip") // of requests: RFC 9110, 12.5.3
		return fault.New(fault.UnsupportedEncoding, "The Content-Encoding %q is not understood; send the body as it is, or in gzip.", encoding)
	}
	declared := r.Header.Get("Content-Type")
	if declared == "" {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(declared)
	if err != nil || mediaType != "application/json" {
		return fault.New(fault.UnsupportedEncoding, "The Content-Type %q is not understood; send application/json.", declared)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.UnsupportedEncoding, "The charset %q is not understood; send UTF-8.", charset)
	}
	return nil
}

// fillBody reads the JSON into the message, or into the field that the route names, and returns
// the keys of the request's fields that the body had. It fills the mask, if there is one.
func fillBody(message protoreflect.Message, m *match, body []byte) (keys []string, err error) {
	if m.route.Body == "" {
		return nil, refuseBody(body)
	}
	if m.route.Body != "*" {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(m.route.Body))
		_, err := unmarshal(body, message.Mutable(field).Message(), m.route.Body)
		return nil, err
	}
	sent, err := unmarshal(accommodate(message.Descriptor().FullName(), body), message, "")
	if err != nil {
		return nil, err
	}
	if mask := message.Descriptor().Fields().ByName(maskField); mask != nil {
		paths := slices.DeleteFunc(sent.paths, func(path string) bool { return slices.Contains(m.names, path) })
		slices.Sort(paths)
		message.Set(mask, protoreflect.ValueOfMessage((&fieldmaskpb.FieldMask{Paths: paths}).ProtoReflect()))
	}
	return sent.keys, nil
}

// refuseBody accepts {} and nothing, which some clients send by habit. Options in the body of a
// GET or DELETE would be ignored silently.
func refuseBody(body []byte) error {
	var members map[string]json.RawMessage
	if len(body) == 0 || (json.Unmarshal(body, &members) == nil && len(members) == 0) {
		return nil
	}
	return fault.New(fault.InvalidRequest, "This route takes no body; send the fields as query parameters.")
}

// unmarshal reads strict JSON; prefix is the path of the message in the request.
func unmarshal(body []byte, into protoreflect.Message, prefix string) (presence, error) {
	if len(body) == 0 {
		return presence{}, nil
	}
	sent, err := checkJSON(body, into.Descriptor(), prefix)
	if err != nil {
		return presence{}, err
	}
	if err := protojson.Unmarshal(sent.body, into.Interface()); err != nil {
		return presence{}, fault.Wrap(err, fault.InvalidRequest, "The body does not fit the request: %s.",
			position.ReplaceAllString(err.Error(), ""))
	}
	return sent, nil
}

// position matches what protojson puts before its messages; its spaces vary from build to build.
var position = regexp.MustCompile(`^proto:\s*(\(line \d+:\d+\):\s*)?`)

// fillPath sets the path variables. The body may name one only with the same value.
func fillPath(message protoreflect.Message, m *match, keys []string) error {
	fields := message.Descriptor().Fields()
	for i, name := range m.names {
		field := fields.ByName(protoreflect.Name(name))
		value, err := scalar(message, field, m.values[i])
		if err != nil {
			// An id of the wrong shape is 404, not 400.
			return fault.New(fault.ResourceNotFound, "No resource with the %s %q.", name, strings.ToValidUTF8(m.values[i], "�"))
		}
		if slices.Contains(keys, name) && message.Has(field) && !message.Get(field).Equal(value) {
			return fault.InvalidField(name, "mismatch", "The body and the path have different values; leave it out of the body.")
		}
		message.Set(field, value)
	}
	return nil
}

// fillQuery sets fields from the query string; a route with the body "*" has no fields for it.
func fillQuery(message protoreflect.Message, m *match, raw string) error {
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fault.Wrap(err, fault.InvalidRequest, "The query string is malformed.")
	}
	var violations []fault.Field
	seen := map[protoreflect.Name]bool{}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		field := queryField(message, m, name)
		if field == nil {
			violations = append(violations, fault.Field{
				Field: strings.ToValidUTF8(name, "�"), Code: "unknown_parameter",
				Message: "This route has no such query parameter" + string(listed(parameters(message, m))),
			})
			continue
		}
		if seen[field.Name()] || (len(query[name]) > 1 && !field.IsList()) {
			violations = append(violations, fault.Field{
				Field: string(field.Name()), Code: "duplicate",
				Message: "The parameter is given more than once.",
			})
			continue
		}
		seen[field.Name()] = true
		if err := setQuery(message, field, query[name]); err != nil {
			violations = append(violations, fault.Field{Field: string(field.Name()), Code: "wrong_type", Message: err.Error()})
		}
	}
	if len(violations) > 0 {
		return fault.InvalidFields(violations...)
	}
	return nil
}

// queryField returns the field that a parameter sets: a scalar, a list of scalars or a timestamp.
func queryField(message protoreflect.Message, m *match, name string) protoreflect.FieldDescriptor {
	if m.route.Body == "*" || !utf8.ValidString(name) {
		return nil
	}
	field := fieldNamed(message.Descriptor(), name)
	if field == nil || field.IsMap() || string(field.Name()) == m.route.Body || slices.Contains(m.names, string(field.Name())) {
		return nil
	}
	if field.Message() != nil && !textual(field.Message()) {
		return nil
	}
	return field
}

// parameters returns the names of the query parameters of a route.
func parameters(message protoreflect.Message, m *match) []string {
	return slices.DeleteFunc(namesOf(message.Descriptor()), func(name string) bool { return queryField(message, m, name) == nil })
}

func setQuery(message protoreflect.Message, field protoreflect.FieldDescriptor, texts []string) error {
	if !field.IsList() {
		value, err := scalar(message, field, texts[0])
		if err != nil {
			return err
		}
		message.Set(field, value)
		return nil
	}
	list := message.Mutable(field).List()
	for _, text := range texts {
		value, err := scalar(message, field, text)
		if err != nil {
			return err
		}
		list.Append(value)
	}
	return nil
}
