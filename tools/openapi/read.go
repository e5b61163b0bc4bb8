package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"parlance.dev/parlance/platform/stablejson"
)

// Document is an OpenAPI document. It is not safe for concurrent use. Its values have the types of
// encoding/json; a number whose digits a float64 does not hold is a json.Number.
type Document struct {
	Title, Version string
	// OpenAPI is the version of the format, such as "3.0.3".
	OpenAPI string

	root map[string]any
	// v30 is OpenAPI 3.0, whose schemas are not JSON Schema.
	v30 bool
	// base resolves relative server addresses; nil for files.
	base *url.URL

	// work is what Plan may still do.
	work work
	// descriptions and patterns are those that were read, by the text in the document: schemas that
	// are referred to from many places are read once.
	descriptions map[string]string
	patterns     map[string]int
}

// Source is the text of a document and where it was found.
type Source struct {
	Raw []byte
	// URL is where it was fetched from, after redirects; nil for files.
	URL *url.URL
	// MaxYAMLMarks bounds the characters of YAML that separate values, because each value takes about
	// 300 bytes of memory while the document is read; 0: no bound.
	MaxYAMLMarks int
}

// Read parses a document. Errors are sentences for people.
func Read(source Source) (*Document, error) {
	value, err := decode(source.Raw, source.MaxYAMLMarks)
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("this is no OpenAPI document: it is not an object")
	}
	if version, ok := root["swagger"]; ok {
		return nil, fmt.Errorf("this is Swagger %v, which is not read: convert it to OpenAPI 3 first, for example with `npx "+
			"swagger2openapi`", version)
	}
	d := &Document{root: root, base: source.URL, descriptions: map[string]string{}, patterns: map[string]int{}}
	if number, isNumber := root["openapi"].(float64); isNumber { // openapi: 3.1 without quotes
		d.OpenAPI = strconv.FormatFloat(number, 'f', -1, 64)
	} else {
		d.OpenAPI = text(root["openapi"])
	}
	switch {
	case d.OpenAPI == "":
		return nil, errors.New(`this is no OpenAPI document: it has no member "openapi"`)
	case !versionPattern.MatchString(d.OpenAPI):
		return nil, fmt.Errorf("this is OpenAPI %s; 3.0, 3.1 and 3.2 are read", oneLine(d.OpenAPI, 20))
	}
	d.v30 = strings.HasPrefix(d.OpenAPI, "3.0")
	info := object(root["info"])
	d.Title, d.Version = oneLine(text(info["title"]), 100), oneLine(text(info["version"]), 30)
	if _, ok := root["paths"].(map[string]any); !ok {
		return nil, errors.New("the document has no paths, so there is nothing to make tools of")
	}
	return d, nil
}

// versionPattern matches the versions of OpenAPI that are read.
var versionPattern = regexp.MustCompile(`^3(\.[012](\..*)?)?$`)

// decode parses JSON or YAML.
func decode(raw []byte, maxYAMLMarks int) (any, error) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	switch {
	case len(raw) == 0:
		return nil, errors.New("the document is empty")
	case !utf8.Valid(raw):
		return nil, errors.New("the document is not UTF-8 text")
	case raw[0] == '<':
		return nil, errors.New("this is a web page or XML, not an OpenAPI document: look for its link to an openapi.json or openapi.yaml")
	}
	if inside := bytes.TrimSpace(raw[1:]); raw[0] == '{' && len(inside) > 0 && (inside[0] == '"' || inside[0] == '}') {
		return decodeJSON(raw)
	}
	marks := 0
	for _, mark := range []string{"\n", ",", ":", "-", "[", "{", "?"} {
		marks += bytes.Count(raw, []byte(mark))
	}
	if maxYAMLMarks > 0 && marks > maxYAMLMarks {
		return nil, fmt.Errorf("the document has more YAML than is read here (%d characters that separate values, at most %d): "+
			"convert it to JSON, or take the part you need", marks, maxYAMLMarks)
	}
	return decodeYAML(raw) // also for {a: b}
}

func decodeJSON(raw []byte) (any, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	if err == nil {
		if _, err = decoder.Token(); err == nil {
			return nil, errors.New("the document is not JSON: something stands behind its end")
		}
		if errors.Is(err, io.EOF) {
			return plain(value), nil
		}
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf("the document is not JSON: line %d: %w",
			1+bytes.Count(raw[:min(int(wrong.Offset), len(raw))], []byte("\n")), wrong)
	}
	return nil, fmt.Errorf("the document is not JSON: %w", err)
}

// plain gives the decoded values the types of a Document, and removes NUL from texts.
func plain(value any) any {
	switch value := value.(type) {
	case json.Number:
		return number(value.String())
	case int, int64, uint64, float64:
		return number(fmt.Sprint(value))
	case string:
		return strings.ReplaceAll(value, "\x00", "")
	case []any:
		for i, item := range value {
			value[i] = plain(item)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = plain(member)
		}
	}
	return value
}

// longNumber matches a number whose digits a float64 may not hold. Longer ones, and those with an
// exponent, are read as float64.
var longNumber = regexp.MustCompile(`^-?(0|[1-9]\d{0,99})(\.\d{1,100})?$`)

// isLong reports whether a number must stay as it is written to keep its digits.
func isLong(literal string) bool {
	return longNumber.MatchString(literal) && stablejson.HasLongNumber([]byte(literal))
}

// number returns a float64, or a json.Number when digits would be lost. A number that does not fit
// into a float64 stays text, and is left out where a number is needed.
func number(literal string) any {
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return literal
	}
	if isLong(literal) {
		return json.Number(literal)
	}
	return value
}

// float returns a number of a Document as a float64.
func float(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case json.Number:
		double, err := value.Float64()
		return double, err == nil
	}
	return 0, false
}

func decodeYAML(raw []byte) (any, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(raw, &node); err != nil {
		return nil, yamlError(err)
	}
	untype(&node)
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, yamlError(err)
	}
	return plain(unmark(value)), nil
}

// numberMark begins a long number of a YAML document while it is decoded as text, because yaml has
// no type for it. No other text begins so: untype removes NUL from texts.
const numberMark = "\x00"

// unmark turns marked texts into numbers.
func unmark(value any) any {
	switch value := value.(type) {
	case string:
		if literal, isNumber := strings.CutPrefix(value, numberMark); isNumber {
			return json.Number(literal)
		}
	case []any:
		for i, item := range value {
			value[i] = unmark(item)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = unmark(member)
		}
	}
	return value
}

func yamlError(err error) error {
	return fmt.Errorf("the document is neither JSON nor YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}

// untype turns scalars that JSON has no type for, such as dates, and the names of members into
// text: the 200 in {200: …} is "200". It marks long numbers.
func untype(node *yaml.Node) {
	switch node.ShortTag() {
	case "!!timestamp", "!!binary":
		node.Tag = "!!str"
	case "!!str":
		node.Value = strings.ReplaceAll(node.Value, "\x00", "")
	case "!!int", "!!float":
		if isLong(node.Value) {
			node.Tag, node.Value = "!!str", numberMark+node.Value
		}
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode && child.ShortTag() != "!!merge" {
			child.Tag = "!!str"
		}
		untype(child)
	}
}

// object returns a value as an object, or nil.
func object(value any) map[string]any {
	members, _ := value.(map[string]any)
	return members
}

// list returns a value as a list, or nil.
func list(value any) []any {
	items, _ := value.([]any)
	return items
}

// text returns a value as text, or "".
func text(value any) string {
	words, _ := value.(string)
	return words
}
