package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"parlance.dev/parlance/fault"
)

// Bounds of a schema and of arguments: far above what a model is told, and small enough to check quickly.
const (
	maxSchemaBytes     = 64 << 10
	maxArgumentsBytes  = 256 << 10
	maxCachedWeight    = 2 << 20 // some hundred times as many bytes of memory at worst
	maxArgumentsErrors = 20
	maxViolationBytes  = 512 // messages repeat the value that failed
	// maxJSONDepth is how deep objects and lists of a schema, of arguments and of hardcoded members may
	// lie in one another: more than anybody writes, and far less than what our database refuses.
	maxJSONDepth = 100
)

// schemaURL names a schema that is being compiled; it is no file name, so that messages name none.
const schemaURL = "parlance:///input_schema"

const draft2020 = "https://json-schema.org/draft/2020-12/schema"

// defaultSchema is that of a tool without one. Source: decisions, Tools.
var defaultSchema = json.RawMessage(`{"type": "object"}`)

// schemas compiles input schemas and keeps them by content. Safe for concurrent use.
type schemas struct {
	mu       sync.Mutex
	compiled map[[sha256.Size]byte]schema
	weight   int
}

// schema is one ready to be used: compiled, and as it was written.
type schema struct {
	*jsonschema.Schema
	document any
	patterns patterns
	// weight is its size as text and that of its patterns.
	weight int
}

// get compiles a schema, once for each content.
func (s *schemas) get(raw json.RawMessage) (schema, error) {
	key := sha256.Sum256(raw)
	s.mu.Lock()
	compiled, ok := s.compiled[key]
	s.mu.Unlock()
	if ok {
		return compiled, nil
	}
	compiled, err := compileSchema(raw)
	if err != nil {
		return schema{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.compiled[key]; ok { // another call was faster
		return compiled, nil
	}
	if s.compiled == nil || s.weight+compiled.weight > maxCachedWeight {
		// Dropping all is rare and costs one compilation each; an order of use would cost a lock on every call.
		s.compiled, s.weight = map[[sha256.Size]byte]schema{}, 0
	}
	s.compiled[key] = compiled
	s.weight += compiled.weight
	return compiled, nil
}

// noLoader refuses every $ref that leaves the schema: nothing is fetched or read for a tenant.
type noLoader struct{}

// Load refuses.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s lies outside the schema; references must begin with #", url)
}

func compileSchema(raw json.RawMessage) (schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return schema{}, fmt.Errorf("not JSON: %w", err)
	}
	if deeper(document, maxJSONDepth) {
		return schema{}, fmt.Errorf("it is nested more than %d levels deep", maxJSONDepth)
	}
	if err := references(document); err != nil {
		return schema{}, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	found := patterns{sizes: map[string]int{}}
	compiler.UseRegexpEngine(found.compile)
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return schema{}, err
	}
	compiled, err := compiler.Compile(schemaURL)
	return schema{Schema: compiled, document: document, patterns: found, weight: len(raw) + found.total}, err
}

// checkSchema refuses what is not a JSON Schema 2020-12 of type object, and returns the names
// of its properties. Errors: Invalid invalid-request on input_schema.
func (s *schemas) checkSchema(raw json.RawMessage) (properties map[string]json.RawMessage, err error) {
	invalid := func(code, format string, args ...any) error {
		return fault.InvalidField("input_schema", code, format, args...)
	}
	if len(raw) > maxSchemaBytes {
		return nil, invalid("max_len", "input_schema can have at most %d bytes as JSON.", maxSchemaBytes)
	}
	if hasNUL(raw) {
		return nil, invalid("nul", "input_schema cannot hold the character U+0000.")
	}
	var shape struct {
		Schema     string                     `json:"$schema"`
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return nil, invalid("json_schema", "input_schema must be a JSON Schema object whose properties are an object.")
	}
	if shape.Schema != "" && strings.TrimSuffix(shape.Schema, "#") != draft2020 {
		return nil, invalid("draft", "input_schema is read as JSON Schema 2020-12; leave $schema out or set it to %s.", draft2020)
	}
	if shape.Type != "object" {
		return nil, invalid("type", `input_schema must have "type": "object".`)
	}
	compiled, err := s.get(raw)
	if err != nil {
		return nil, invalid("json_schema", "input_schema is not a valid JSON Schema: %s", schemaMessage(err))
	}
	if !compiled.affordable(map[string]any{}) {
		return nil, invalid("too_complex", "input_schema repeats itself too often, or refers to itself without end; simplify its references.")
	}
	return shape.Properties, nil
}

// schemaMessage is the library's text without the URL it invents for a nameless schema.
func schemaMessage(err error) string {
	text := err.Error()
	if mismatch, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		text = mismatch.Err.Error()
		if deep, ok := errors.AsType[*jsonschema.ValidationError](mismatch.Err); ok {
			if fields := violations(deep, ""); len(fields) > 0 {
				text = strings.TrimPrefix(fields[0].Field+": "+fields[0].Message, ": ")
			}
		}
	}
	return cutText(strings.ReplaceAll(text, schemaURL, ""), maxViolationBytes)
}

// hasNUL says whether JSON holds U+0000, which jsonb refuses.
func hasNUL(raw json.RawMessage) bool {
	escaped := bytes.ReplaceAll(raw, []byte(`\\`), nil)
	return bytes.Contains(escaped, []byte(`\u0000`)) || bytes.IndexByte(raw, 0) >= 0
}

// decodeArguments reads a call's arguments; nothing at all is no arguments.
func decodeArguments(raw json.RawMessage) (map[string]any, []fault.Field) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	if len(raw) > maxArgumentsBytes {
		return nil, []fault.Field{{Code: "max_len", Message: fmt.Sprintf("The arguments can have at most %d bytes.", maxArgumentsBytes)}}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, []fault.Field{{Code: "json", Message: "The arguments are not valid JSON."}}
	}
	if deeper(value, maxJSONDepth) {
		return nil, []fault.Field{{Code: "too_deep", Message: fmt.Sprintf("The arguments are nested more than %d levels deep.", maxJSONDepth)}}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, []fault.Field{{Code: "type", Message: "The arguments must be a JSON object."}}
	}
	return object, nil
}

// checkArguments holds arguments against a schema; the fields' paths begin at the arguments ("order.id").
func (s *schemas) checkArguments(raw json.RawMessage, arguments map[string]any) ([]fault.Field, error) {
	compiled, err := s.get(raw)
	if err != nil {
		return nil, fmt.Errorf("compile input_schema: %w", err)
	}
	if !compiled.affordable(arguments) {
		return []fault.Field{{Code: "too_complex", Message: "The arguments are too long or too deeply nested to be checked against the input_schema."}}, nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](compiled.Validate(arguments))
	if !ok {
		return nil, nil
	}
	return violations(invalid, ""), nil
}

// violations flattens a validation error into its leaves, at most maxArgumentsErrors.
func violations(err *jsonschema.ValidationError, under string) []fault.Field {
	var fields []fault.Field
	for _, cause := range err.Causes {
		fields = append(fields, violations(cause, under)...)
	}
	if len(err.Causes) > 0 {
		return fields[:min(len(fields), maxArgumentsErrors)]
	}
	path := fieldPath(under, err.InstanceLocation)
	switch failed := err.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range failed.Missing {
			fields = append(fields, fault.Field{Field: join(path, name), Code: "required", Message: name + " is required."})
		}
	case *kind.AdditionalProperties:
		for _, name := range failed.Properties {
			fields = append(fields, fault.Field{Field: join(path, name), Code: "additional_properties", Message: name + " is not an argument of this tool."})
		}
	default:
		text := err.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		fields = append(fields, fault.Field{Field: path, Code: keywordCode(err.ErrorKind), Message: cutText(text, maxViolationBytes)})
	}
	return fields
}

// keywordCode is the schema keyword that failed, in snake_case ("minLength" is "min_length").
func keywordCode(failed jsonschema.ErrorKind) string {
	path := failed.KeywordPath()
	if len(path) == 0 {
		return "invalid"
	}
	var out strings.Builder
	for _, r := range path[len(path)-1] {
		if r >= 'A' && r <= 'Z' {
			out.WriteByte('_')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}

// fieldPath writes a location as the rest of our errors do: "items[2].name".
func fieldPath(under string, location []string) string {
	path := under
	for _, step := range location {
		if index, err := strconv.Atoi(step); err == nil && path != "" && index >= 0 {
			path += "[" + step + "]"
			continue
		}
		path = join(path, step)
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
