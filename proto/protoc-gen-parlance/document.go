package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The parts of OpenAPI 3.1 that we write, in the order in which they are read best.
type document struct {
	OpenAPI    string                `json:"openapi"`
	Info       info                  `json:"info"`
	Servers    []server              `json:"servers"`
	Tags       []tag                 `json:"tags"`
	Paths      map[string]*pathItem  `json:"paths"`
	Webhooks   map[string]*pathItem  `json:"webhooks,omitempty"`
	Components components            `json:"components"`
	Security   []map[string][]string `json:"security"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type server struct {
	URL string `json:"url"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type components struct {
	SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
	Parameters      map[string]parameter      `json:"parameters"`
	Headers         map[string]header         `json:"headers"`
	Responses       map[string]response       `json:"responses"`
	Examples        map[string]example        `json:"examples"`
	Schemas         map[string]*schema        `json:"schemas"`
}

type securityScheme struct {
	Type        string `json:"type"`
	Scheme      string `json:"scheme"`
	Description string `json:"description"`
}

// pathItem holds operations by verb in lower case.
type pathItem = ordered[*operation]

type operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Tags        []string              `json:"tags"`
	Deprecated  bool                  `json:"deprecated,omitempty"`
	Scope       string                `json:"x-required-scope,omitempty"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	RequestBody *requestBody          `json:"requestBody,omitempty"`
	Responses   map[string]response   `json:"responses"`
	Security    []map[string][]string `json:"security,omitempty"`
}

type parameter struct {
	Ref         string  `json:"$ref,omitempty"`
	Name        string  `json:"name,omitempty"`
	In          string  `json:"in,omitempty"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *schema `json:"schema,omitempty"`
	Example     any     `json:"example,omitempty"`
}

type requestBody struct {
	Required bool                 `json:"required"`
	Content  map[string]mediaType `json:"content"`
}

type mediaType struct {
	Schema   *schema            `json:"schema"`
	Examples map[string]example `json:"examples,omitempty"`
}

// example is a reference to a component, or a value.
type example struct {
	Ref   string `json:"$ref,omitempty"`
	Value any    `json:"value,omitempty"`
}

type response struct {
	Ref         string               `json:"$ref,omitempty"`
	Description string               `json:"description,omitempty"`
	Headers     map[string]header    `json:"headers,omitempty"`
	Content     map[string]mediaType `json:"content,omitempty"`
}

type header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *schema `json:"schema,omitempty"`
}

type schema struct {
	Ref                  string           `json:"$ref,omitempty"`
	AnyOf                []*schema        `json:"anyOf,omitempty"`
	Description          string           `json:"description,omitempty"`
	Deprecated           bool             `json:"deprecated,omitempty"`
	Type                 any              `json:"type,omitempty"` // a string, or a list with "null"
	Format               string           `json:"format,omitempty"`
	ContentEncoding      string           `json:"contentEncoding,omitempty"`
	ContentMediaType     string           `json:"contentMediaType,omitempty"`
	Enum                 []string         `json:"enum,omitempty"`
	Examples             []string         `json:"examples,omitempty"`
	Pattern              string           `json:"pattern,omitempty"`
	MinLength            *json.Number     `json:"minLength,omitempty"`
	MaxLength            *json.Number     `json:"maxLength,omitempty"`
	Minimum              *json.Number     `json:"minimum,omitempty"`
	ExclusiveMinimum     *json.Number     `json:"exclusiveMinimum,omitempty"`
	Maximum              *json.Number     `json:"maximum,omitempty"`
	ExclusiveMaximum     *json.Number     `json:"exclusiveMaximum,omitempty"`
	Items                *schema          `json:"items,omitempty"`
	MinItems             *json.Number     `json:"minItems,omitempty"`
	MaxItems             *json.Number     `json:"maxItems,omitempty"`
	Properties           ordered[*schema] `json:"properties,omitempty"`
	Required             []string         `json:"required,omitempty"`
	AdditionalProperties any              `json:"additionalProperties,omitempty"` // a *schema or a bool
	MaxProperties        *json.Number     `json:"maxProperties,omitempty"`
	// EventData is, for the text of an event stream, the schema of the data of its events.
	EventData *schema `json:"x-event-data,omitempty"`
}

// ordered is a JSON object that keeps the order of its members.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// MarshalJSON writes the members in their order.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := plainJSON(m.name)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s:%s", name, value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// plainJSON is json.Marshal without escapes for HTML.
func plainJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding a part of the document: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
