package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/tools/openapi"
)

// TestHints: sentences name the options of the API, and those of another caller when it has some.
func TestHints(t *testing.T) {
	t.Parallel()
	raw := `{"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "a", "parameters": [
		{"name": "X-Team", "in": "header", "required": true, "schema": {"type": "string"}}]}}}}`
	for want, o := range map[string]openapi.Options{
		"the document does not say which host it is about: give server":     {},
		"it needs the header X-Team, whose value the document does not say": {Server: "https://api.example.org"},
	} {
		operations, err := read(t, raw, "").Plan(t.Context(), o)
		if err != nil || operations[0].Why != want {
			t.Errorf("got %q (%v), want %q", operations[0].Why, err, want)
		}
	}
}

// TestManyOperations: a document with too many operations is refused, and one whose tools are too
// large together has the first of them.
func TestManyOperations(t *testing.T) {
	t.Parallel()
	document := func(count int, operation string) string {
		var paths []string
		for i := range count {
			paths = append(paths, fmt.Sprintf(`"/%05d": {"post": %s}`, i, operation))
		}
		var properties []string
		for i := range 300 {
			properties = append(properties, fmt.Sprintf(`"p%d": {"type": "string", "description": "%s"}`, i, strings.Repeat("x", 60)))
		}
		return `{"openapi": "3.1.0", "servers": [{"url": "https://api.example.org"}], "paths": {` + strings.Join(paths, ",") +
			`}, "components": {"schemas": {"big": {"type": "object", "properties": {` + strings.Join(properties, ",") + `}}}}}`
	}
	_, err := read(t, document(5001, `{}`), "").Plan(t.Context(), openapi.Options{})
	if err == nil || !strings.Contains(err.Error(), "5000 operations") {
		t.Errorf("too many: %v", err)
	}
	operations := plan(t, read(t, document(1000,
		`{"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/big"}}}}}`), ""), openapi.Options{})
	last := operations[len(operations)-1]
	if operations[0].Tool == nil || last.Tool != nil || !strings.Contains(last.Why, "take the part of the document you need") {
		t.Errorf("too large: the first has %q, the last %q", operations[0].Why, last.Why)
	}
}

// TestCompare: an operation whose name a tool of another kind has can be no tool.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		hints openapi.Hints
		want  string
	}{
		{openapi.Hints{}, "a tool of kind mcp has the name"},
		{openapi.Hints{Prefix: "--prefix"}, "a tool of kind mcp has the name; give --prefix"},
	} {
		operation := openapi.Operation{Tool: &openapi.Tool{Slug: "find"}}
		found, changed := operation.Compare([]openapi.Existing{{ID: "1", Slug: "Find", Kind: "mcp"}}, row.hints)
		if found != nil || changed != nil || operation.Tool != nil || operation.Why != row.want {
			t.Errorf("got %+v %q", found, operation.Why)
		}
	}
}
