package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parlance.dev/parlance/tools/openapi"
)

var (
	slug       = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	argument   = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	holes      = regexp.MustCompile(`\{([^{}]*)\}`)
	headerText = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
)

// checkOperation checks the rules of the API and of the vendors of models, and that a document
// cannot inject placeholders.
func checkOperation(t *testing.T, o openapi.Operation) {
	t.Helper()
	if !slug.MatchString(o.Slug) || slices.Contains(reserved, o.Slug) {
		t.Errorf("slug %q", o.Slug)
	}
	if (o.Tool == nil) == (o.Why == "") {
		t.Errorf("%s: tool %v and why %q", o.Slug, o.Tool, o.Why)
	}
	if o.Tool == nil {
		return
	}
	tool := o.Tool
	if n := utf8.RuneCountInString(tool.Description); n < 1 || n > 1024 {
		t.Errorf("%s: a description of %d characters", o.Slug, n)
	}
	if !strings.HasPrefix(tool.URL, "https://api.example.org/") || strings.Contains(tool.URL, "{{") {
		t.Errorf("%s: URL %q", o.Slug, tool.URL)
	}
	var found []string
	for _, hole := range holes.FindAllStringSubmatch(tool.URL, -1) {
		if !slices.Contains(found, hole[1]) {
			found = append(found, hole[1])
		}
	}
	properties, _ := tool.InputSchema["properties"].(map[string]any)
	for _, name := range slices.Concat(tool.PathParams, tool.QueryParams) {
		if properties[name] == nil {
			t.Errorf("%s: %q is no argument", o.Slug, name)
		}
	}
	slices.Sort(found)
	if got := slices.Sorted(slices.Values(tool.PathParams)); !slices.Equal(got, found) {
		t.Errorf("%s: path_params %q, placeholders %q", o.Slug, got, found)
	}
	for name := range properties {
		if !argument.MatchString(name) {
			t.Errorf("%s: an argument is called %q", o.Slug, name)
		}
	}
	for name, value := range tool.Headers {
		variable := strings.HasPrefix(value, "{{secret__") && tool.DynamicVariables && slices.Contains(tool.Variables, strings.Trim(value, "{}"))
		if !headerText.MatchString(value) || strings.Contains(value, "{{") && !variable {
			t.Errorf("%s: header %s: %q", o.Slug, name, value)
		}
	}
	checkSchema(t, o.Slug, tool.InputSchema)
}

// checkSchema compiles a schema as the server does.
func checkSchema(t *testing.T, name string, schema map[string]any) {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 64<<10 {
		t.Errorf("%s: a schema of %d bytes", name, len(raw))
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("parlance:///x", document); err != nil {
		t.Fatal(err)
	}
	if _, err := compiler.Compile("parlance:///x"); err != nil {
		t.Errorf("%s: %v in %s", name, err, raw)
	}
}

// deep is a document whose schemas refer to each other endlessly.
func deep(width int) string {
	schemas := []string{}
	for i := range 60 {
		members := []string{}
		for j := range width {
			members = append(members, fmt.Sprintf(`"m%d": {"$ref": "#/components/schemas/S%d"}`, j, (i*7+j*11+1)%60))
		}
		schemas = append(schemas,
			fmt.Sprintf(`"S%d": {"type": "object", "description": "Schema %d.", "properties": {"id": {"type": "string"}, %s}}`,
				i, i, strings.Join(members, ",")))
	}
	return `{"openapi": "3.1.0", "servers": [{"url": "https://api.example.org/v1"}], "paths": {"/a": {"post": {
		"operationId": "a",
		"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
	}}}, "components": {"schemas": {` + strings.Join(schemas, ",") + `}}}`
}

// Schemas that repeat themselves are described to the depth that fits, and a note says so.
func TestDeepSchemas(t *testing.T) {
	t.Parallel()
	for _, width := range []int{2, 8, 40} {
		operation := one(t, plan(t, read(t, deep(width), ""), openapi.Options{}), "a")
		checkOperation(t, operation)
		if operation.Tool == nil {
			t.Fatalf("width %d: %s", width, operation.Why)
		}
		if !strings.Contains(strings.Join(operation.Notes, "\n"), "deep; what lies below is any value") {
			t.Errorf("width %d: notes %q", width, operation.Notes)
		}
		if got := len(operation.Tool.InputSchema["properties"].(map[string]any)); got != width+1 {
			t.Errorf("width %d: %d arguments, want all at the top", width, got)
		}
	}
	if operation := one(t, plan(t, read(t, deep(900), ""), openapi.Options{}), "a"); !strings.Contains(operation.Why,
		"cannot be described in 32 KiB") {
		t.Errorf("width 900: %q", operation.Why)
	}
}

// The work for a whole document is limited, although each of its operations is within its own
// limit.
func TestEndlessDocument(t *testing.T) {
	t.Parallel()
	var paths strings.Builder
	for i := range 500 {
		fmt.Fprintf(&paths,
			`"/a%d": {"post": {"operationId": "a%d", "requestBody": {"content": {"application/json":
				{"schema": {"allOf": [{"$ref": "#/x/0"}, {"$ref": "#/x/0"}]}}}}}},`, i, i)
	}
	var parts []string
	for i := range 40 {
		parts = append(parts, fmt.Sprintf(`{"allOf": [{"$ref": "#/x/%d"}, {"$ref": "#/x/%d"}], "required": ["gone"]}`, i+1, i+1))
	}
	doc := read(t,
		`{"openapi": "3.0.0", "servers": [{"url": "https://api.example.org"}], "paths": {`+
			strings.TrimSuffix(paths.String(), ",")+`}, "x": [`+strings.Join(parts, ",")+`, {}]}`, "")
	operations := plan(t, doc, openapi.Options{})
	if why := operations[len(operations)-1].Why; !strings.Contains(why, "the document repeats itself too often") {
		t.Errorf("the last operation: %q", why)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	raw := `{"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "2ndThing", "parameters": [
		{"name": "X-Team", "in": "header", "required": true, "schema": {"type": "string"}}]}}}}`
	doc := read(t, raw, "")
	got := one(t, plan(t, doc, openapi.Options{}), "2ndThing")
	if got.Tool != nil || !strings.Contains(got.Why, "give --server") || got.Slug != "op_2nd_thing" {
		t.Errorf("without options: %s, %q", got.Slug, got.Why)
	}
	got = one(t, plan(t, doc, openapi.Options{Server: "https://api.example.org/x/"}), "2ndThing")
	if got.Tool != nil || !strings.Contains(got.Why, `give --header "X-Team: …"`) {
		t.Errorf("without the header: %q", got.Why)
	}
	got = one(t, plan(t, doc, openapi.Options{
		Server: "https://api.example.org/x/", Prefix: "shop",
		Headers: map[string]string{"x-team": "{{system__agent_id}}"},
	}), "2ndThing")
	if got.Tool == nil || got.Tool.Slug != "shop_op_2nd_thing" || got.Tool.URL != "https://api.example.org/x/a" ||
		!got.Tool.DynamicVariables || len(got.Notes) > 0 {
		t.Errorf("with options: %+v %q %q", got.Tool, got.Why, got.Notes)
	}
	for _, o := range []openapi.Options{
		{Prefix: "Shop"},
		{Prefix: strings.Repeat("x", 31)},
		{Server: "ftp://x"},
		{Server: "https://a@b"},
		{Server: "https://b?x"},
		{Server: "https://{{secret__x}}.example.org"},
	} {
		if _, err := doc.Plan(t.Context(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// Names that are too long are cut, and stay distinct.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("very", 30)
	doc := read(t, `{"openapi": "3.0.0", "servers": [{"url": "https://api.example.org"}], "paths": {"/a": {
		"get": {"operationId": "`+long+`A"}, "put": {"operationId": "`+long+`B"},
		"post": {"operationId": "日本語"}, "patch": {"operationId": "get-HTTPStatus of v2Users"}}}}`, "")
	var slugs []string
	for _, operation := range plan(t, doc, openapi.Options{Prefix: "p"}) {
		checkOperation(t, operation)
		slugs = append(slugs, operation.Slug)
	}
	want := []string{("p_" + long)[:64], "p_post_a", ("p_" + long)[:62] + "_2", "p_get_http_status_of_v2_users"}
	if !slices.Equal(slugs, want) {
		t.Errorf("got %q, want %q", slugs, want)
	}
}
