package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// call is what the Connect handler is sent for a REST request.
type call struct {
	contentType string
	payload     []byte
}

// prepare makes the call for a request. Checked JSON is passed on unchanged where it means the
// same, and the answer is then the JSON that the caller gets: both are read and written once, as
// in Connect JSON. Everything else is sent as a binary message. Its errors are faults.
func prepare(w http.ResponseWriter, r *http.Request, m *match) (call, error) {
	body, err := readBody(w, r, m.route)
	if err != nil {
		return call{}, err
	}
	if passable(r, m, body) {
		sent, err := checkJSON(body, m.route.Request.ProtoReflect().Descriptor(), "")
		if err != nil {
			return call{}, err
		}
		if !slices.ContainsFunc(m.names, func(name string) bool { return slices.Contains(sent.keys, name) }) {
			return call{jsonType, withVariables(body, m)}, nil
		}
	}
	request, err := decode(r, m, body)
	if err != nil {
		return call{}, err
	}
	payload, err := proto.Marshal(request)
	return call{protoType, payload}, err
}

// passable reports whether the body is the whole request, path variables of type text aside.
func passable(r *http.Request, m *match, body []byte) bool {
	if m.route.Body != "*" || len(body) == 0 || r.URL.RawQuery != "" {
		return false
	}
	fields := m.route.Request.ProtoReflect().Descriptor().Fields()
	if fields.ByName(maskField) != nil {
		return false
	}
	for i, name := range m.names {
		field := fields.ByName(protoreflect.Name(name))
		if field == nil || field.Kind() != protoreflect.StringKind || checkString(m.values[i]) != nil {
			return false
		}
	}
	return true
}

// withVariables adds the path variables before the members of an object.
func withVariables(body []byte, m *match) []byte {
	if len(m.names) == 0 {
		return body
	}
	rest := body[bytes.IndexByte(body, '{')+1:]
	out := make([]byte, 0, len(body)+64*len(m.names))
	out = append(out, '{')
	for i, name := range m.names {
		value, _ := json.Marshal(m.values[i]) // every string can be encoded
		out = append(out, '"')
		out = append(out, name...) // names of the contract have letters and underscores only
		out = append(out, '"', ':')
		out = append(out, value...)
		out = append(out, ',')
	}
	if first := bytes.TrimLeft(rest, " \t\r\n"); len(first) > 0 && first[0] == '}' {
		out = out[:len(out)-1]
	}
	return append(out, rest...)
}

// textIn returns the string member of a well-formed object by its name; "" if it has none.
func textIn(body []byte, name string) string {
	walk := tokens{text: body}
	walk.next() // the opening
	depth := 0
	for depth > 0 || walk.more() {
		token := walk.next()
		if depth == 0 {
			if token == name {
				text, _ := walk.next().(string)
				return text
			}
			token = walk.next() // the member's value
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return ""
}
