package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/tools/modeltext"
)

// Bounds of a schema and of arguments. They are far above what a model can handle, and small enough
// to be checked quickly.
const (
	// MaxBytes bounds a schema, and a JSON object that an operator writes.
	MaxBytes          = 64 << 10
	maxArgumentsBytes = 256 << 10
	// maxCachedWeight bounds the cache. A compiled schema takes about a hundred bytes of memory for
	// each unit of weight at worst.
	maxCachedWeight = 2 << 20
	maxViolations   = 20
	// maxViolationBytes bounds a message, which repeats the value that failed.
	maxViolationBytes = 512
)

// documentURL identifies a schema while it is compiled. It looks like no file, so that messages
// name none.
const documentURL = "parlance:///input_schema"

// drafts are the values of $schema that are honoured; a schema without one is read as 2020-12.
// Draft-07 is what zod-to-json-schema and many MCP servers write.
var drafts = []string{
	"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema",
}

// KnowsDraft says whether a value of $schema is honoured.
func KnowsDraft(uri string) bool { return slices.Contains(drafts, strings.TrimSuffix(uri, "#")) }

// formats are the values of the keyword format that are enforced, in every draft.
var formats = []string{"date", "date-time", "email", "uri", "uuid"}

// Default is the schema of a tool that declares none. Source: decisions, Tools.
var Default = json.RawMessage(`{"type": "object"}`)

// Cache compiles schemas and keeps them by content. The zero value is empty. Safe for concurrent
// use.
type Cache struct {
	mu       sync.Mutex
	compiled map[[sha256.Size]byte]compiled
	weight   int
}

// compiled is a compiled schema and its document.
type compiled struct {
	*jsonschema.Schema
	document any
	patterns patterns
	// weight is the size of the document plus that of its patterns.
	weight int
}

// get returns a compiled schema.
func (c *Cache) get(raw json.RawMessage) (compiled, error) {
	key := sha256.Sum256(raw)
	c.mu.Lock()
	known, ok := c.compiled[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	made, err := compile(raw)
	if err != nil {
		return compiled{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.compiled[key]; ok { // another call was faster
		return made, nil
	}
	if c.compiled == nil || c.weight+made.weight > maxCachedWeight {
		// Emptying the cache is rare, and simpler than keeping an order of use.
		c.compiled, c.weight = map[[sha256.Size]byte]compiled{}, 0
	}
	c.compiled[key] = made
	c.weight += made.weight
	return made, nil
}

// noLoader refuses every $ref outside the schema: nothing is fetched or read for a tenant.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s lies outside the schema; references must begin with #", url)
}

func compile(raw json.RawMessage) (compiled, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return compiled{}, fmt.Errorf("not JSON: %w", err)
	}
	if jsonvalue.DeeperThan(document, jsonvalue.MaxDepth) {
		return compiled{}, fmt.Errorf("it is nested more than %d levels deep", jsonvalue.MaxDepth)
	}
	if err := checkReferences(document); err != nil {
		return compiled{}, err
	}
	dropFormats(document)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	compiler.RegisterFormat(&jsonschema.Format{Name: "email", Validate: validateEmail})
	found := patterns{sizes: map[string]int{}}
	compiler.UseRegexpEngine(found.compileRegexp)
	if err := compiler.AddResource(documentURL, document); err != nil {
		return compiled{}, err
	}
	made, err := compiler.Compile(documentURL)
	return compiled{Schema: made, document: document, patterns: found, weight: len(raw) + found.total}, err
}

// libraryEmail is the library's own check of the format email.
var libraryEmail = sync.OnceValue(func() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(documentURL, map[string]any{"format": "email"}); err != nil {
		panic(err) // the schema is constant
	}
	return compiler.MustCompile(documentURL)
})

// validateEmail is the check of the library, which accepts an address with nothing before its @.
func validateEmail(value any) error {
	if text, isText := value.(string); isText && strings.HasPrefix(text, "@") {
		return errors.New("nothing stands before the @")
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](libraryEmail().Validate(value))
	if !ok {
		return nil
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	if failed, isFormat := invalid.ErrorKind.(*kind.Format); isFormat {
		return failed.Err
	}
	return invalid
}

// dropFormats deletes the formats that are not enforced. The library would enforce more of them in
// draft-07 than in later drafts, and would compile patterns of the model for the format regex.
func dropFormats(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			dropFormats(item)
		}
	case map[string]any:
		if format, isText := node["format"].(string); isText && !slices.Contains(formats, format) {
			delete(node, "format")
		}
		for _, member := range node {
			dropFormats(member)
		}
	}
}

// Check refuses a document that is not a JSON Schema of a known draft and of type object, and
// returns its properties, which are not nil. Errors: Invalid invalid-request on input_schema.
func (c *Cache) Check(raw json.RawMessage) (properties map[string]json.RawMessage, err error) {
	invalid := func(code, format string, args ...any) error {
		return fault.InvalidField("input_schema", code, format, args...)
	}
	if len(raw) > MaxBytes {
		return nil, invalid("max_len", "input_schema can have at most %d bytes as JSON.", MaxBytes)
	}
	if jsonvalue.HasNUL(raw) {
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
	if shape.Schema != "" && !KnowsDraft(shape.Schema) {
		return nil, invalid("draft", "input_schema names a draft that is not known; leave $schema out (2020-12) or set it to one of: %s.",
			strings.Join(drafts, ", "))
	}
	if shape.Type != "object" {
		return nil, invalid("type", `input_schema must have "type": "object".`)
	}
	made, err := c.get(raw)
	if err != nil {
		return nil, invalid("json_schema", "input_schema is not a valid JSON Schema: %s", compileMessage(err))
	}
	if !affordable(made.document, &made.patterns, map[string]any{}) {
		return nil, invalid("too_complex", "input_schema repeats itself too often, or refers to itself without end; simplify its references.")
	}
	if shape.Properties == nil {
		shape.Properties = map[string]json.RawMessage{}
	}
	return shape.Properties, nil
}

// compileMessage is the text of an error of the library, without documentURL.
func compileMessage(err error) string {
	text := err.Error()
	if mismatch, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		text = mismatch.Err.Error()
		if deep, ok := errors.AsType[*jsonschema.ValidationError](mismatch.Err); ok {
			if fields := violations(deep, ""); len(fields) > 0 {
				text = strings.TrimPrefix(fields[0].Field+": "+fields[0].Message, ": ")
			}
		}
	}
	return modeltext.Cut(strings.ReplaceAll(text, documentURL, ""), maxViolationBytes)
}

// DecodeArguments decodes the arguments of a call. Empty JSON means no arguments.
func DecodeArguments(raw json.RawMessage) (map[string]any, []fault.Field) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	if len(raw) > maxArgumentsBytes {
		return nil, []fault.Field{{
			Code: "max_len", Message: fmt.Sprintf("The arguments can have at most %d bytes.", maxArgumentsBytes),
		}}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, []fault.Field{{Code: "json", Message: "The arguments are not valid JSON."}}
	}
	if jsonvalue.DeeperThan(value, jsonvalue.MaxDepth) {
		return nil, []fault.Field{{
			Code: "too_deep", Message: fmt.Sprintf("The arguments are nested more than %d levels deep.", jsonvalue.MaxDepth),
		}}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, []fault.Field{{Code: "type", Message: "The arguments must be a JSON object."}}
	}
	if sentence := jsonvalue.Unkeepable(raw); sentence != "" {
		return nil, []fault.Field{{Code: "unkeepable", Message: sentence}}
	}
	return object, nil
}

// CheckArguments checks arguments against a schema. It returns the violations, whose fields are
// paths within the arguments ("order.id").
func (c *Cache) CheckArguments(raw json.RawMessage, arguments map[string]any) ([]fault.Field, error) {
	made, err := c.get(raw)
	if err != nil {
		return nil, fmt.Errorf("compile input_schema: %w", err)
	}
	if !affordable(made.document, &made.patterns, arguments) {
		return []fault.Field{{
			Code:    "too_complex",
			Message: "The arguments are too long or too deeply nested to be checked against the input_schema.",
		}}, nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](made.Validate(arguments))
	if !ok {
		return nil, nil
	}
	return violations(invalid, ""), nil
}

// violations flattens a validation error into its leaves, at most maxViolations.
func violations(err *jsonschema.ValidationError, under string) []fault.Field {
	var fields []fault.Field
	for _, cause := range err.Causes {
		fields = append(fields, violations(cause, under)...)
	}
	if len(err.Causes) > 0 {
		return fields[:min(len(fields), maxViolations)]
	}
	path := fieldPath(under, err.InstanceLocation)
	switch failed := err.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range failed.Missing {
			fields = append(fields, fault.Field{Field: join(path, name), Code: "required", Message: name + " is required."})
		}
	case *kind.AdditionalProperties:
		for _, name := range failed.Properties {
			fields = append(fields, fault.Field{
				Field: join(path, name), Code: "additional_properties", Message: name + " is not an argument of this tool.",
			})
		}
	default:
		text := violationText(err.ErrorKind)
		fields = append(fields, fault.Field{
			Field: path, Code: keywordCode(err.ErrorKind), Message: modeltext.Cut(text, maxViolationBytes),
		})
	}
	return fields
}

// violationText is the sentence about a violation. The library's own have bounds and arguments as
// doubles, so digits would be lost.
func violationText(failed jsonschema.ErrorKind) string {
	const format = "%s: got %s, want %s"
	switch failed := failed.(type) {
	case *kind.Minimum:
		return fmt.Sprintf(format, "minimum", digits(failed.Got), digits(failed.Want))
	case *kind.Maximum:
		return fmt.Sprintf(format, "maximum", digits(failed.Got), digits(failed.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf(format, "exclusiveMinimum", digits(failed.Got), digits(failed.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf(format, "exclusiveMaximum", digits(failed.Got), digits(failed.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf(format, "multipleOf", digits(failed.Got), digits(failed.Want))
	}
	return failed.LocalizedString(message.NewPrinter(language.English))
}

// maxBits bounds a number that a sentence repeats with all its digits: 200 of them.
const maxBits = 700

// digits writes a number with all its digits, or rounded when they are too many.
func digits(n *big.Rat) string {
	if n.Num().BitLen() > maxBits || n.Denom().BitLen() > maxBits {
		double, _ := n.Float64()
		return strconv.FormatFloat(double, 'g', -1, 64)
	}
	places, _ := n.FloatPrec() // exact, because the number was written in decimal
	return n.FloatString(places)
}

// keywordCode is the schema keyword that failed, in snake_case: min_length for minLength.
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

// fieldPath formats a location like the other errors of the API: "items[2].name".
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
