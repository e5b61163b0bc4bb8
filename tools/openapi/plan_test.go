package openapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/tools/openapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// reserved are some names of the service.
var reserved = []string{"end_call", "search_memory"}

func read(t *testing.T, raw, from string) *openapi.Document {
	t.Helper()
	source := openapi.Source{Raw: []byte(raw)}
	if from != "" {
		var err error
		if source.URL, err = url.Parse(from); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := openapi.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func plan(t *testing.T, doc *openapi.Document, o openapi.Options) []openapi.Operation {
	t.Helper()
	if o.Hints == (openapi.Hints{}) {
		o.Hints = openapi.Hints{Server: "--server", Header: "--header", Auth: "--auth-header", Prefix: "--prefix"}
	}
	operations, err := doc.Plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return operations
}

// one is the operation of that id.
func one(t *testing.T, operations []openapi.Operation, id string) openapi.Operation {
	t.Helper()
	for _, operation := range operations {
		if operation.ID == id {
			return operation
		}
	}
	t.Fatalf("no operation %s", id)
	return openapi.Operation{}
}

// TestPlan compares the operations of two documents, which have features of many public ones, with
// golden files.
func TestPlan(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]string{"shop.yaml": "", "payments.json": "https://pay.example.org/docs/openapi.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			operations := plan(t, read(t, string(raw), from), openapi.Options{Reserved: reserved})
			made, err := json.MarshalIndent(operations, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, append(made, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(made)); diff != "" {
				t.Errorf("not what %s says (rewrite it with -update):\n%s", golden, diff)
			}
		})
	}
}

// What cannot be read as an operation is listed with the reason, and takes no name of another.
func TestMalformedOperations(t *testing.T) {
	t.Parallel()
	doc := read(t, `{"openapi": "3.1.0", "servers": [{"url": "https://a.example.org"}], "paths": {
		"/a": {"get": "soon", "post": {"operationId": "get_a"}, "put": null}, "/b": "later", "/c": {"x-note": "none"},
		"b": {"get": {"operationId": "get_a"}}, "x-paths": {"get": {}}}}`, "")
	got := ""
	for _, operation := range plan(t, doc, openapi.Options{}) {
		got += fmt.Sprintf("%s %s %s: %s\n", operation.Method, operation.Path, operation.Slug, operation.Why)
	}
	want := `GET /a get_a: the operation is not an object
POST /a get_a: 
PUT /a put_a: the operation is not an object
 /b : the path is not an object with operations
GET b get_a: its path does not begin with /
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
