package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/tools/openapi"
)

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ raw, says string }{
		"Empty":      {" \n", "the document is empty"},
		"Page":       {"<!doctype html><title>API</title>", "this is a web page"},
		"Bytes":      {"\xff\xfe{", "not UTF-8"},
		"JSON":       {"{\"openapi\": \"3.0.0\",\n\"paths\": }", "not JSON: line 2"},
		"YAML":       {"openapi: 3.0.0\npaths: [\n", "neither JSON nor YAML"},
		"Behind":     {`{"openapi":"3.0.0"} {}`, "behind its end"},
		"List":       {"- openapi", "not an object"},
		"Swagger":    {`{"swagger": "2.0", "paths": {}}`, "this is Swagger 2.0"},
		"Else":       {`name: my-compose`, `no member "openapi"`},
		"Future":     {`openapi: 4.0.0`, "this is OpenAPI 4.0.0"},
		"Next":       {`{"openapi": "3.3.0", "paths": {}}`, "this is OpenAPI 3.3.0; 3.0, 3.1 and 3.2 are read"},
		"NoPaths":    {`{"openapi": "3.1.0", "webhooks": {}}`, "has no paths"},
		"SelfAlias":  {"openapi: 3.0.0\npaths: &a\n  /x: *a\n", "contains itself"},
		"LaughAlias": {laughs(), "excessive aliasing"},
		"KeyIsList":  {"openapi: 3.0.0\npaths:\n  ? [a, b]\n  : x\n", "invalid map key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openapi.Read(openapi.Source{Raw: []byte(row.raw)})
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v, want %q", err, row.says)
			}
		})
	}
}

// laughs is a small text that is large once its aliases are expanded.
func laughs() string {
	text := "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text + "paths: {}\n"
}

// A number that does not fit into a float64, and a text that Postgres does not store.
func TestReadOddValues(t *testing.T) {
	t.Parallel()
	doc := read(t, `{"openapi": "3.1.0", "paths": {"/a": {"get": {
		"operationId": "a", "servers": [{"url": "https://a.example.org"}], "description": "A\u0000B",
		"parameters": [{"name": "n", "in": "query", "schema": {"type": "number", "minimum": 1e999, "default": "x\u0000y"}}]}}}}`, "")
	tool := one(t, plan(t, doc, openapi.Options{}), "a").Tool
	if tool.Description != "AB" {
		t.Errorf("description %q", tool.Description)
	}
	schema := tool.InputSchema["properties"].(map[string]any)["n"].(map[string]any)
	if _, ok := schema["minimum"]; ok || schema["default"] != "xy" {
		t.Errorf("schema %v", schema)
	}
}

const little = `{"openapi": "3.0.0", "info": {"title": "Little"}, "paths": {"/a": {"get": {"operationId": "a"}}}}`

func FuzzRead(f *testing.F) {
	for _, name := range []string{"shop.yaml", "payments.json"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(little))
	f.Add([]byte("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/paths/~1a'}]}}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := openapi.Read(openapi.Source{Raw: raw})
		if err != nil {
			return
		}
		operations, err := doc.Plan(t.Context(), openapi.Options{Reserved: reserved, Server: "https://api.example.org"})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, operation := range operations {
			checkOperation(t, operation)
			if seen[operation.Slug] {
				t.Errorf("two operations are called %s", operation.Slug)
			}
			seen[operation.Slug] = true
		}
	})
}
