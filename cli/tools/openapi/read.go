package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxValues bounds the values of a document, what YAML's aliases repeat counted each time.
const maxValues = 4 << 20

// Document is an OpenAPI document, for one goroutine. Its values are those of encoding/json.
type Document struct {
	Title, Version string
	// OpenAPI is the version of the format, "3.0.3".
	OpenAPI string

	root map[string]any
	// old is OpenAPI 3.0, whose schemas are a dialect of their own.
	old bool
	// base is what relative addresses begin at; nil: there is nothing.
	base *url.URL
	// found are references that were followed before.
	found map[string]any
}

// Read reads a document. The errors are for people.
func Read(source Source) (*Document, error) {
	value, err := decode(source.Raw)
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("this is no OpenAPI document: it is not an object")
	}
	if version, ok := root["swagger"]; ok {
		return nil, fmt.Errorf("this is Swagger %v, which is not read: convert it to OpenAPI 3 first, for example with `npx swagger2openapi`", version)
	}
	d := &Document{root: root, base: source.URL, found: map[string]any{}}
	if number, isNumber := root["openapi"].(float64); isNumber { // openapi: 3.1 without quotes
		d.OpenAPI = strconv.FormatFloat(number, 'f', -1, 64)
	} else {
		d.OpenAPI = text(root["openapi"])
	}
	switch {
	case d.OpenAPI == "":
		return nil, errors.New(`this is no OpenAPI document: it has no member "openapi"`)
	case d.OpenAPI != "3" && !strings.HasPrefix(d.OpenAPI, "3."):
		return nil, fmt.Errorf("this is OpenAPI %s; 3.0 and 3.1 are read", oneLine(d.OpenAPI, 20))
	}
	d.old = strings.HasPrefix(d.OpenAPI, "3.0")
	info := object(root["info"])
	d.Title, d.Version = oneLine(text(info["title"]), 100), oneLine(text(info["version"]), 30)
	if _, ok := root["paths"].(map[string]any); !ok {
		return nil, errors.New("the document has no paths, so there is nothing to make tools of")
	}
	return d, nil
}

// decode reads JSON, or YAML.
func decode(raw []byte) (any, error) {
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
	return decodeYAML(raw) // {a: b} too
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
		return nil, fmt.Errorf("the document is not JSON: line %d: %w", 1+bytes.Count(raw[:min(int(wrong.Offset), len(raw))], []byte("\n")), wrong)
	}
	return nil, fmt.Errorf("the document is not JSON: %w", err)
}

// plain gives numbers and texts the form that they have in a Document.
func plain(value any) any {
	switch value := value.(type) {
	case json.Number:
		return number(value.String())
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

// number is a float64; one that fits into none stays text, and is dropped where a number is wanted.
func number(literal string) any {
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return literal
	}
	return value
}

func decodeYAML(raw []byte) (any, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(raw, &node); err != nil {
		return nil, fmt.Errorf("the document is neither JSON nor YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	reader := yamlReader{anchors: map[*yaml.Node]anchor{}, open: map[*yaml.Node]bool{}, left: maxValues}
	return reader.value(&node)
}

// yamlReader makes the values of encoding/json of YAML. What aliases repeat counts each time.
type yamlReader struct {
	anchors map[*yaml.Node]anchor
	open    map[*yaml.Node]bool
	left    int
}

// anchor is a value that aliases share, with how many values it has.
type anchor struct {
	value any
	size  int
}

var errTooMany = fmt.Errorf("the document has more than %d values", maxValues)

func (r *yamlReader) value(node *yaml.Node) (any, error) {
	if r.left--; r.left < 0 {
		return nil, errTooMany
	}
	switch node.Kind {
	case yaml.DocumentNode:
		if len(node.Content) == 0 {
			return nil, nil
		}
		return r.value(node.Content[0])
	case yaml.AliasNode:
		if shared, ok := r.anchors[node.Alias]; ok {
			if r.left -= shared.size; r.left < 0 {
				return nil, errTooMany
			}
			return shared.value, nil
		}
		if r.open[node.Alias] {
			return nil, fmt.Errorf("line %d: the alias %s stands within what it stands for", node.Line, oneLine(node.Value, 40))
		}
		return r.value(node.Alias)
	case yaml.SequenceNode, yaml.MappingNode:
		r.open[node] = true
		defer delete(r.open, node)
		before := r.left
		value, err := r.collection(node)
		if node.Anchor != "" && err == nil {
			r.anchors[node] = anchor{value, before - r.left}
		}
		return value, err
	}
	value := scalar(node)
	if node.Anchor != "" {
		r.anchors[node] = anchor{value: value}
	}
	return value, nil
}

func (r *yamlReader) collection(node *yaml.Node) (any, error) {
	if node.Kind == yaml.SequenceNode {
		list := make([]any, len(node.Content))
		for i, item := range node.Content {
			var err error
			if list[i], err = r.value(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	members := make(map[string]any, len(node.Content)/2)
	var merged []any
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, member := node.Content[i], node.Content[i+1]
		value, err := r.value(member)
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: the name of a member must be text", key.Line)
		}
		members[strings.ReplaceAll(key.Value, "\x00", "")] = value // 200: is "200":
	}
	for _, value := range merged { // what stands in the mapping itself wins, then the first
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, one := range list {
			for name, member := range object(one) {
				if _, there := members[name]; !there {
					members[name] = member
				}
			}
		}
	}
	return members, nil
}

// scalar reads a scalar by its tag; what JSON has no form for, such as a date, stays text.
func scalar(node *yaml.Node) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var value bool
		if node.Decode(&value) == nil {
			return value
		}
	case "!!int", "!!float":
		var value float64
		if node.Decode(&value) == nil && !math.IsInf(value, 0) && !math.IsNaN(value) {
			return value
		}
	}
	return strings.ReplaceAll(node.Value, "\x00", "")
}

// object is a value as an object; nil, which can be read, when it is none.
func object(value any) map[string]any {
	members, _ := value.(map[string]any)
	return members
}

// list is a value as a list; nil when it is none.
func list(value any) []any {
	items, _ := value.([]any)
	return items
}

// text is a value as text; empty when it is none.
func text(value any) string {
	words, _ := value.(string)
	return words
}
