package contract

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parlance.dev/parlance/gen/openapi"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
)

const documentURL = "https://parlance.invalid/openapi.json"

// compiler compiles schemas of the document; it is not for use by several goroutines at once.
var compiler = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON))
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	made := jsonschema.NewCompiler()
	return made, made.AddResource(documentURL, document)
})

var (
	mu       sync.Mutex
	compiled = map[string]*jsonschema.Schema{}
)

// Schema returns the schema at a place of the document: ("components", "schemas", "Tool").
func Schema(place ...string) (*jsonschema.Schema, error) {
	var at strings.Builder
	for _, part := range place {
		at.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part)))
	}
	made, err := compiler()
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	if known := compiled[at.String()]; known != nil {
		return known, nil
	}
	schema, err := made.Compile(documentURL + "#" + at.String())
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", at.String(), err)
	}
	compiled[at.String()] = schema
	return schema, nil
}

// Validate compares JSON with the schema at a place of the document.
func Validate(body []byte, place ...string) error {
	schema, err := Schema(place...)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("reading the JSON: %w", err)
	}
	return schema.Validate(value) //nolint:wrapcheck // it says what is wrong, and where
}

// Answer compares the JSON of a successful answer with the document. Paths that are no routes of
// the document are not compared.
func Answer(method, path string, status int, body []byte) error {
	path, _, _ = strings.Cut(path, "?")
	for _, route := range parlancev1rest.Routes {
		if route.Method == method && route.Status == status && !route.ServerStream && matches(route.Pattern, path) {
			return Validate(body, "paths", route.Pattern, strings.ToLower(method), "responses", strconv.Itoa(status),
				"content", "application/json", "schema")
		}
	}
	return nil
}

func matches(pattern, path string) bool {
	wanted, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(wanted) != len(got) {
		return false
	}
	for i, segment := range wanted {
		if !strings.HasPrefix(segment, "{") && segment != got[i] {
			return false
		}
	}
	return true
}
