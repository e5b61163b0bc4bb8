package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"parlance.dev/parlance/tools/openapi"
)

type members = map[string]any

func schemaRef(i int) members { return members{"$ref": fmt.Sprintf("#/components/schemas/S%d", i)} }

// chains are 60 schemas, each of which holds the next one three times.
func chains() members {
	schemas := members{"S60": members{"type": "object"}, "S61": members{"type": "object"}}
	for i := range 60 {
		schemas[fmt.Sprintf("S%d", i)] = members{
			"allOf":      []any{schemaRef(i + 1), schemaRef(i + 1)},
			"properties": members{fmt.Sprintf("p%d", i): members{"oneOf": []any{schemaRef(i + 1), schemaRef(i + 2)}}},
		}
	}
	return schemas
}

// nets are 400 schemas, each of which refers to eight others.
func nets() members {
	schemas := members{}
	for i := range 410 {
		schemas[fmt.Sprintf("S%d", i)] = members{"type": "object"}
	}
	for i := range 400 {
		properties := members{}
		for k := range 8 {
			properties[fmt.Sprintf("p%d", k)] = schemaRef(i + 1 + k)
		}
		schemas[fmt.Sprintf("S%d", i)] = members{
			"type": "object", "description": strings.Repeat("d", 500), "properties": properties,
			"allOf": []any{schemaRef(i + 1), schemaRef(i + 2)},
		}
	}
	return schemas
}

// heavyDocument has n operations whose bodies are the schemas in turn.
func heavyDocument(t *testing.T, n, different int, schemas members) *openapi.Document {
	t.Helper()
	paths := members{}
	for i := range n {
		paths[fmt.Sprintf("/p%d", i)] = members{"post": members{"operationId": "send", "requestBody": members{
			"content": members{"application/json": members{"schema": schemaRef(i % different)}},
		}}}
	}
	raw, err := json.Marshal(members{
		"openapi": "3.0.3", "servers": []any{members{"url": "https://api.example.org"}}, "paths": paths,
		"components": members{"schemas": schemas},
	})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(raw), "")
}

// TestWorkOfADocument: a small document whose schemas refer to each other again and again takes a
// bounded amount of work, here measured by the memory that is allocated. Not parallel: the memory
// of other tests would count.
func TestWorkOfADocument(t *testing.T) { //nolint:paralleltest // see above
	for name, row := range map[string]struct {
		doc     *openapi.Document
		endless bool
	}{
		"Chains": {heavyDocument(t, 5000, 1, chains()), true},
		"Nets":   {heavyDocument(t, 4000, 300, nets()), true},
		"Names":  {heavyDocument(t, 5000, 1, members{"S0": members{"type": "object"}}), false},
		"LongList": {heavyDocument(t, 2000, 1, members{"S0": members{
			"type": "object", "properties": members{"a": members{}}, "required": strings.Split(strings.Repeat("a ", 20_000), " "),
		}}), true},
		"LongText": {heavyDocument(t, 2000, 1, members{"S0": members{
			"type": "object", "properties": members{"a": members{"description": strings.Repeat("<b>x</b> ", 1000)}},
		}}), false},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // see above
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			operations := plan(t, row.doc, openapi.Options{})
			runtime.ReadMemStats(&after)
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 1024 {
				t.Errorf("%d MiB were allocated", made)
			}
			last := operations[len(operations)-1]
			if why := "took all the work that a document may make"; row.endless != strings.Contains(last.Why, why) {
				t.Errorf("the last operation: %q", last.Why)
			}
		})
	}
}

func TestPlanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	operations, err := heavyDocument(t, 5, 1, chains()).Plan(ctx, openapi.Options{})
	if !errors.Is(err, context.Canceled) || operations != nil {
		t.Errorf("got %d operations, %v", len(operations), err)
	}
}

// A path that leads to itself is listed with the reason.
func TestPathsInACircle(t *testing.T) {
	t.Parallel()
	doc := read(t, `{"openapi": "3.1.0", "servers": [{"url": "https://a.example.org"}], "paths": {
		"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}, "/c": {"$ref": "other.json"}, "/d": {"$ref": "#/paths/~1e"},
		"/e": {"get": {}}}}`, "")
	got := ""
	for _, operation := range plan(t, doc, openapi.Options{}) {
		got += fmt.Sprintf("%s %s: %.40s\n", operation.Method, operation.Path, operation.Why)
	}
	want := ` /a: its reference #/paths/~1b leads in a cir
 /b: its reference #/paths/~1a leads in a cir
 /c: it refers to another document (other.jso
GET /d: ` + `
GET /e: ` + `
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Documents of OpenAPI 3.2 have methods that tools do not have.
func TestOpenAPI32(t *testing.T) {
	t.Parallel()
	doc := read(t, `{"openapi": "3.2.0", "servers": [{"url": "https://a.example.org"}], "paths": {
		"/a": {"get": {}, "query": {}, "additionalOperations": {"COPY": {}, "+": {}}}}}`, "")
	got := ""
	for _, operation := range plan(t, doc, openapi.Options{}) {
		checkSlug(t, operation)
		got += fmt.Sprintf("%s %s: %s\n", operation.Method, operation.Path, operation.Why)
	}
	want := `GET /a: ` + `
QUERY /a: tools have no method QUERY
+ /a: tools have no method +
COPY /a: tools have no method COPY
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func checkSlug(t *testing.T, o openapi.Operation) {
	t.Helper()
	if !slug.MatchString(o.Slug) {
		t.Errorf("%s %s: slug %q", o.Method, o.Path, o.Slug)
	}
}

// An operation has a bounded number of notes, the last of which counts the others.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	var parameters []any
	for i := range 100 {
		parameters = append(parameters, members{"name": fmt.Sprintf("f[%d]", i), "in": "query", "schema": members{"type": "string"}})
	}
	raw, err := json.Marshal(members{"openapi": "3.1.0", "servers": []any{members{"url": "https://a.example.org"}}, "paths": members{
		"/a": members{"get": members{"operationId": "a", "parameters": parameters}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	notes := one(t, plan(t, read(t, string(raw), ""), openapi.Options{}), "a").Notes
	if len(notes) != 21 || notes[20] != "there are 80 more notes of this kind" {
		t.Errorf("%d notes %q", len(notes), notes)
	}
}
